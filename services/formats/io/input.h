// Parts of a file that is imported, and how readers name them. One thread that may wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/base/files/input_file.h"
#include "services/model/recording/recording.h"

namespace tapedeck::services::formats {

// INVALID_ARGUMENT (FILE_INVALID): the file ends before them.
absl::Status ReadExactly(const files::InputFile& file, uint64_t offset, std::span<std::byte> into);

// The same of a few bytes of a header; `what` they are.
absl::StatusOr<std::string> ReadHeader(const files::InputFile& file, uint64_t offset,
                                       uint64_t bytes, const std::string& what);

// INVALID_ARGUMENT (FILE_INVALID): a program has compressed it; its text says which.
absl::Status CheckUnpacked(const files::InputFile& file);

// The annotation that tells a centre frequency in Hz, from the first sample on. None: it is no
// number, or beyond those that a context of VITA 49 has.
std::optional<Annotation> SignalOf(double hertz);

// The first of them, made safe to show, with commas; and how many others there are.
std::string ListOf(const std::vector<std::string>& names, uint64_t others = 0);

}  // namespace tapedeck::services::formats
