// Stamps of all threads of a process, a page at a time.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "dataplane/flight/rings.h"
#include "services/observe/flight/trace.h"

namespace tapedeck::services::flight {

// Where a page goes on, and what it is of. It may come from anybody, by a token.
struct TracePlace {
  uint64_t ring = 0;
  uint64_t at = 0;
  int64_t since_ns = 0;
  int64_t until_ns = INT64_MAX;
};

// Those of `trails` (none: of all) from `*place` on, at most kPageEntries; moves `*place` on.
// False: that was all. Not on an executor: it may read for some milliseconds.
bool ReadRings(const dataplane::flight::Rings& rings, const std::set<uint32_t>& trails,
               TracePlace* place, std::vector<ThreadStamps>* out);

}  // namespace tapedeck::services::flight
