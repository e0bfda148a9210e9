// How fast a disk takes what is written, or gives what is read. Waits for it.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace tapedeck::storage_node::doctor {

// Bytes per second, of up to 256 MiB in up to 2 s, past the page cache where the file system
// allows. Into a directory a file without a name is written, or where there are none such one with
// a name of its own that goes at once: nothing else is touched, and nothing stays. Of anything else
// the beginning is read. RESOURCE_EXHAUSTED: there is not room enough.
absl::StatusOr<double> MeasureRate(const std::string& member);

}  // namespace tapedeck::storage_node::doctor
