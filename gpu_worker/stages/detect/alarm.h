// When the power of a band triggers.
#pragma once

#include <cstdint>
#include <optional>

#include "gpu_worker/stages/detect/parameters.h"

namespace tapedeck::gpu_worker::stages::detect {

// One thread. Powers are linear, those of a stream in order.
class Alarm {
 public:
  explicit Alarm(const Parameters& parameters);

  // Of a transform that begins at `sample`. It triggers if it reaches the threshold while the one
  // before it had not, or was the first that fell below the threshold by the hysteresis, and less
  // than the hold-off ago nothing has.
  bool Look(float power, uint64_t sample);

 private:
  const double threshold_;
  const double release_;
  const uint64_t hold_off_;
  bool above_ = false;
  std::optional<uint64_t> last_;  // that triggered
};

}  // namespace tapedeck::gpu_worker::stages::detect
