// Whether directories that options name can be used; changes nothing. Any thread that may wait for
// a disk.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace tapedeck::services::files {

// One that the program makes where it is missing, and writes into: it can, or could make it.
// FAILED_PRECONDITION says what is in the way.
absl::Status CheckStateDirectory(const std::string& path);

// Where it lies, or will lie once it is made.
std::string StateDirectoryOrParent(const std::string& path);

// One beneath which others have put files: it is there and may be entered. FAILED_PRECONDITION,
// which begins with the option; INVALID_ARGUMENT if it can never hold a file, as of /proc.
absl::Status CheckRootDirectory(const std::string& option, const std::string& path);

}  // namespace tapedeck::services::files
