// Draws what the flight recorders of both nodes hold: a track for each thread with every stamp;
// tracks of each rail, device, member and session with what took time there; counters; and arrows
// that join the stamps of one block over both nodes.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "services/observe/timeline/merge.h"
#include "services/observe/timeline/perfetto_file.h"

namespace tapedeck::services::timeline {

// No stamp takes more bytes of a file than this, with all that is drawn of it: its instant, its end
// of a slice, two counters and its place in a track's description.
inline constexpr uint64_t kMaxStampBytes = 640;

absl::Status Draw(const std::vector<NodeTrace>& nodes, const Merged& merged, PerfettoFile& file);

}  // namespace tapedeck::services::timeline
