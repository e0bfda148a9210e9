#include "storage_node/recordings/stream.h"

#include <algorithm>
#include <string>

#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::recordings {

absl::StatusOr<std::vector<StreamSegment>> SegmentsOf(Recordings& recordings,
                                                      const catalog::ResourceName& recording,
                                                      const format::Manifest& manifest) {
  std::vector<StreamSegment> segments;
  if (manifest.stream.empty()) return segments;
  TD_ASSIGN_OR_RETURN(const auto rows, recordings.catalog()->ListRecordings(
                                           {.lun = recording.lun, .channel = recording.channel}));
  for (const catalog::RecordingRow& row : rows) {
    if (row.manifest.stream != manifest.stream) continue;
    segments.push_back({.number = row.manifest.segment, .name = row.name});
  }
  std::ranges::sort(segments, {}, &StreamSegment::number);
  return segments;
}

}  // namespace tapedeck::storage_node::recordings
