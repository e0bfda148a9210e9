// Files, and whole transfers on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/fd.h"

namespace tapedeck::storage_node::disk {

using dataplane::Fd;

// open(2) with O_CLOEXEC. NOT_FOUND if there is no such file.
absl::StatusOr<Fd> Open(const std::string& path, int flags, const std::string& member);

// Each carries on after short transfers and EINTR; `where` and `member` are for the error text.
// WriteAll: no progress counts as a full disk. ReadSome stops early only at the end of the file and
// returns what it read.
absl::Status WriteAll(const Fd& fd, std::span<const std::byte> bytes, uint64_t offset,
                      const std::string& where, const std::string& member);
absl::StatusOr<size_t> ReadSome(const Fd& fd, std::span<std::byte> into, uint64_t offset,
                                const std::string& where, const std::string& member);

// From the start to the end of a file that is no longer than `most` bytes. DATA_LOSS if it is.
absl::StatusOr<std::string> ReadAll(const Fd& fd, uint64_t most, const std::string& where,
                                    const std::string& member);

// Gives the file room from `offset` on, and makes it that long. OK where the file system has no
// fallocate(2) and finds room at each write. RESOURCE_EXHAUSTED (LUN_FULL); `where` and `member`
// are for the error text.
absl::Status Allocate(const Fd& fd, uint64_t offset, uint64_t bytes, const std::string& where,
                      const std::string& member);

// Opens what lies below a directory, and nothing else: no symbolic link is followed, no ".." and no
// absolute path.

// As openat(2) with O_CLOEXEC and, where a file is made, mode 0640: a descriptor, or one below 0
// and errno. ELOOP or ENOTDIR: a link lies on the way.
Fd OpenBeneath(int directory, const std::string& path, int flags);

// The same without openat2(2), which kernels before 5.6 do not have and containers may forbid: one
// part of the path after the other.
Fd OpenBeneathByParts(int directory, const std::string& path, int flags);

}  // namespace tapedeck::storage_node::disk
