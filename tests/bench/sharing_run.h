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
  double seconds = 3;  // of each measurement
};

// 10^6 bytes per second.
struct SharingRates {
  double alone = 0;          // one recording
  double together = 0;       // all recordings and playbacks
  double recorded = 0;       // of that, the recordings
  double least_to_most = 0;  // of the recordings
  double followed = 0;       // one recording, followed 200 ms behind
  double paced = 0;          // one recording at half the rate of `alone`
  double paced_followed = 0;
};

absl::StatusOr<SharingRates> RunSharing(const SharingRun& run);

}  // namespace tapedeck::bench
