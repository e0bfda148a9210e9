// Keeps a second process away from a directory. flock(2) belongs to the open file, so it also holds
// while the kernel finishes the I/O of a process that died.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "storage_node/disk/fd.h"

namespace tapedeck::storage_node::disk {

// Released with the object. The file stays and tells who held it last.
class FileLock {
 public:
  // Waits up to 250 ms for a holder that is just ending. FAILED_PRECONDITION names the holder's pid
  // and host. Blocking: for start-up and creation only.
  static absl::StatusOr<FileLock> Take(const std::string& path, const std::string& member);

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace tapedeck::storage_node::disk
