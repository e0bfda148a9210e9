// Parts of a file that is imported. One thread that may wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/files/input_file.h"

namespace tapedeck::services::formats {

// INVALID_ARGUMENT (FILE_INVALID): the file ends before them.
absl::Status ReadExactly(const files::InputFile& file, uint64_t offset, std::span<std::byte> into);

// The same of a few bytes of a header; `what` they are.
absl::StatusOr<std::string> ReadHeader(const files::InputFile& file, uint64_t offset,
                                       uint64_t bytes, const std::string& what);

// INVALID_ARGUMENT (FILE_INVALID): a program has compressed it; its text says which.
absl::Status CheckUnpacked(const files::InputFile& file);

}  // namespace tapedeck::services::formats
