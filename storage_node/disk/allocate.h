// Room in a file system, before it is written to.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "storage_node/disk/fd.h"

namespace tapedeck::storage_node::disk {

// Gives the file room from `offset` on, and makes it that long. OK where the file system has no
// fallocate(2) and finds room at each write. RESOURCE_EXHAUSTED (LUN_FULL); `where` and `member`
// are for the error text.
absl::Status Allocate(const Fd& fd, uint64_t offset, uint64_t bytes, const std::string& where,
                      const std::string& member);

}  // namespace tapedeck::storage_node::disk
