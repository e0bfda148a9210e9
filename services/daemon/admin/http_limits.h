// What strangers can make the admin port hold. Nothing identifies its callers, so none of this is
// per caller.
#pragma once

#include <cstddef>

#include "dataplane/clock.h"

namespace tapedeck::services::admin {

// Connections at the same time. Beyond kCrowd the oldest must go for each new one: an honest caller
// has its answer within milliseconds, and who holds connections open keeps nobody out. The rest is
// for those that are told to go.
inline constexpr unsigned kMaxConnections = 64;
inline constexpr unsigned kCrowd = 48;

// After each look at the connections nobody is served for so long: a flood of requests finds a
// processor used for a few per cent, and an honest caller waits for a few milliseconds.
inline constexpr int64_t kBatchNs = 5 * dataplane::kMillisecondNs;

// From the first byte to the last one of the answer, however slowly either comes. A page takes
// milliseconds; Prometheus itself waits 10 s.
inline constexpr int64_t kConnectionLimitNs = 10 * dataplane::kSecondNs;

// For the request line, the headers and the answer's own; what is longer is refused. 4 KiB is what
// browsers and Prometheus stay far below.
inline constexpr size_t kConnectionBytes = 16 << 10;

// The page of metrics is made again when it is older: a flood of requests costs one page in that
// time.
inline constexpr int64_t kPageLifeNs = 100 * dataplane::kMillisecondNs;

}  // namespace tapedeck::services::admin
