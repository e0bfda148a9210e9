#include "storage_node/disk/allocate.h"

#include <fcntl.h>

#include <cerrno>

#include "storage_node/disk/io_error.h"

namespace tapedeck::storage_node::disk {

absl::Status Allocate(const Fd& fd, uint64_t offset, uint64_t bytes, const std::string& where,
                      const std::string& member) {
  int result;
  do {
    result = fallocate(fd.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0 || errno == EOPNOTSUPP) return absl::OkStatus();
  return IoError("fallocate", where, member, errno);
}

}  // namespace tapedeck::storage_node::disk
