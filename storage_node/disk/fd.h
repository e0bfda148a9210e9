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

}  // namespace tapedeck::storage_node::disk
