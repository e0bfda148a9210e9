// A rail as somebody types it.
#include "dataplane/transport/rail_spec.h"

#include "tests/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tapedeck::fuzz::Require;
  tapedeck::fuzz::Input input(data, size);
  const auto spec = tapedeck::dataplane::ParseRailSpec(std::string(input.Text()));
  if (!spec.ok()) return 0;
  Require(!spec->name.empty() && spec->name.size() <= 63);
  Require(spec->address.empty() != spec->interface.empty());
  Require(spec->address.size() <= 64 && spec->interface.size() <= 64);
  return 0;
}
