// The text of a .sigmf-meta file.
#include "services/signal/sigmf/meta.h"
#include "tests/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tapedeck::fuzz::Require;
  tapedeck::fuzz::Input input(data, size);
  const auto found =
      tapedeck::services::sigmf::ParseSigmfMeta("folder/a.sigmf-meta", std::string(input.Text()));
  if (!found.ok()) return 0;
  Require(found->channels > 0);
  // Only files of the same folder are read.
  const std::string name = found->data_path.substr(found->data_path.rfind('/') + 1);
  Require(found->data_path == "folder/" + name && !name.empty() && name != "." && name != "..");
  return 0;
}
