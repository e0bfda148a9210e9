// The course of a recording.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "services/model/seams/view.h"
#include "storage_node/view/opened.h"

namespace tapedeck::storage_node::view {

// Reads index entries alone; waits for the disk.
absl::StatusOr<services::Timeline> MakeTimeline(Opened& opened);

// What the first annotation of a signal that has one says; 0: none has.
double FrequencyOf(const std::vector<services::Annotation>& annotations);

// Which frequency holds at a sample of the recording, in Hz; 0: unknown. Reads as MakeTimeline.
absl::StatusOr<double> FrequencyAt(Opened& opened, uint64_t sample);

}  // namespace tapedeck::storage_node::view
