// A directory that goes with the test.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace tapedeck::storage_node {

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tapedeck-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  // A new file inside, of zeros that take no space.
  std::string MakeImage(const std::string& name, uint64_t bytes) const {
    std::string made = path_ + "/" + name;
    std::ofstream(made, std::ios::binary).close();
    std::filesystem::resize_file(made, bytes);
    return made;
  }
  // A new directory inside.
  std::string Make(const std::string& name) const {
    std::string made = path_ + "/" + name;
    std::filesystem::create_directories(made);
    return made;
  }

 private:
  std::string path_;
};

}  // namespace tapedeck::storage_node
