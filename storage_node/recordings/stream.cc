#include "storage_node/recordings/stream.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::recordings {
namespace {

std::string LabelOf(const format::Manifest& manifest, const char* key) {
  const auto label = manifest.labels.find(key);
  return label == manifest.labels.end() ? "" : label->second;
}

}  // namespace

uint64_t SegmentNumber(const format::Manifest& manifest) {
  uint64_t number = 0;
  return absl::SimpleAtoi(LabelOf(manifest, "segment"), &number) ? number : 0;
}

absl::StatusOr<std::vector<StreamSegment>> SegmentsOf(Recordings& recordings,
                                                      const catalog::ResourceName& recording,
                                                      const format::Manifest& manifest) {
  std::vector<StreamSegment> segments;
  const std::string stream = LabelOf(manifest, "stream");
  if (stream.empty()) return segments;
  TD_ASSIGN_OR_RETURN(const auto rows, recordings.catalog()->ListRecordings(
                                           {.lun = recording.lun, .channel = recording.channel}));
  for (const catalog::RecordingRow& row : rows) {
    if (LabelOf(row.manifest, "stream") != stream) continue;
    segments.push_back({.number = SegmentNumber(row.manifest), .name = row.name});
  }
  std::ranges::sort(segments, {}, &StreamSegment::number);
  return segments;
}

}  // namespace tapedeck::storage_node::recordings
