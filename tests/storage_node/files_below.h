// What lies in a directory, to see whether it was touched.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "tests/scratch_file.h"

namespace tapedeck::storage_node {

inline std::string BytesOf(const std::filesystem::path& path) { return ReadFile(path.string()); }

// Of each file a hash of its bytes and when they were written. A lock names the process that has it
// and is left out.
using Files = std::map<std::string, std::pair<size_t, std::filesystem::file_time_type>>;
inline Files FilesBelow(const std::filesystem::path& directory) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file() || entry.path().filename() == "lock") continue;
    files[entry.path()] = {std::hash<std::string>()(BytesOf(entry.path())),
                           entry.last_write_time()};
  }
  return files;
}

}  // namespace tapedeck::storage_node
