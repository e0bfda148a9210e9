// Many recordings and playbacks of one LUN at once, beside one recording alone; and a recording
// that is followed.
#pragma once

#include "absl/status/statusor.h"
#include "tests/bench/store_run.h"

namespace tapedeck::bench {

struct SharingRun {
  StoreRun store;  // blocks: not used
  uint32_t recordings = 8;
  uint32_t playbacks = 2;
  double seconds = 3;               // of each measurement
  uint64_t follow_bytes = 1 << 30;  // 0: followers read the store
};

// One recording.
struct OneRate {
  double rate = 0;
  double from_memory = 0;  // of the blocks that its follower got
  double cpu_s = 0;        // for each 10^9 bytes recorded, the follower's part included
};

// 10^6 bytes per second.
struct SharingRates {
  OneRate alone;             // the mean of one before `followed` and one after it
  double together = 0;       // all recordings and playbacks
  double recorded = 0;       // of that, the recordings
  double least_to_most = 0;  // of the recordings
  OneRate followed;          // 200 ms behind
  OneRate paced;             // at half the rate of `alone`
  OneRate paced_followed;
};

absl::StatusOr<SharingRates> RunSharing(const SharingRun& run);

}  // namespace tapedeck::bench
