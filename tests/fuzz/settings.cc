// The text of a daemon's configuration file.
#include <tapedeck/v1/config.pb.h>

#include "services/base/config/yaml.h"
#include "tests/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tapedeck::fuzz::Require;
  namespace config = tapedeck::services::config;
  tapedeck::fuzz::Input input(data, size);
  tapedeck::v1::StorageConfig taken;
  const auto places = config::ReadText("deck.yaml", input.Text(), taken);
  if (!places.ok()) {
    Require(places.status().message().find("deck.yaml") == 0);
    return 0;
  }
  const std::string written = config::WriteYaml(taken);
  tapedeck::v1::StorageConfig again;
  Require(config::ReadText("again.yaml", written, again).ok());
  Require(config::WriteYaml(again) == written);
  return 0;
}
