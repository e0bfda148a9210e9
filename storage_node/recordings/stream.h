// The segments of one session, as the catalog knows them.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::recordings {

struct StreamSegment {
  uint64_t number = 0;
  catalog::ResourceName name;
};

// Those there are of the stream that `recording` with this manifest is part of, in order; none if
// it is not a segment. Any thread; waits for the catalog.
absl::StatusOr<std::vector<StreamSegment>> SegmentsOf(Recordings& recordings,
                                                      const catalog::ResourceName& recording,
                                                      const format::Manifest& manifest);

}  // namespace tapedeck::storage_node::recordings
