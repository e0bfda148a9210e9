#include "tests/gpu_worker/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tapedeck::gpu_worker {

std::string ScratchPath(const std::string& name) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) /
                                       ("tapedeck_gpu_worker." + std::to_string(getpid())) /
                                       test->test_suite_name() / test->name();
  std::filesystem::create_directories(folder);
  return folder / name;
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string ReadFile(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string SharedData(const std::string& name) {
  const char* folder = std::getenv("TAPEDECK_SHARED_DATA");
  const std::filesystem::path path =
      (folder != nullptr
           ? std::filesystem::path(folder)
           : std::filesystem::path(TAPEDECK_SOURCE_DIR).parent_path() / "shared/data") /
      name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace tapedeck::gpu_worker
