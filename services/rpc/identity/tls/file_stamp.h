// By which a change of a file is seen.
#pragma once

#include <cstdint>
#include <string>

namespace tapedeck::services::identity {

// All 0: it is not there.
struct FileStamp {
  uint64_t device = 0, inode = 0, bytes = 0;
  int64_t changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

// May wait for a disk.
FileStamp StampOf(const std::string& path);

}  // namespace tapedeck::services::identity
