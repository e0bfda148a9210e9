// What a user says of a file, put in the place of what it says itself, or does not. Values.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "services/formats/io/reader.h"

namespace tapedeck::services::formats {

// Sample rate, frequency and start of `options` win, and a note names what the file says instead.
// INVALID_ARGUMENT (FILE_INVALID): the file holds another datatype than `options` tell; `path`
// names it.
absl::Status Tell(const std::string& path, const ReadOptions& options, Content* content);

// "2024-01-02T03:04:05.5Z", of nanoseconds since 1970.
std::string Instant(int64_t ns);

}  // namespace tapedeck::services::formats
