#include "tests/shared_data.h"

#include <cstdlib>
#include <filesystem>

namespace tapedeck {

std::string TreeFile(const std::string& name) { return TAPEDECK_SOURCE_DIR "/" + name; }

std::string SharedData(const std::string& name) {
  const char* folder = std::getenv("TAPEDECK_SHARED_DATA");
  const std::filesystem::path path =
      (folder != nullptr
           ? std::filesystem::path(folder)
           : std::filesystem::path(TAPEDECK_SOURCE_DIR).parent_path() / "shared/data") /
      name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace tapedeck
