#include "gpu_worker/stages/detect/alarm.h"

#include <cmath>

namespace tapedeck::gpu_worker::stages::detect {
namespace {

double Linear(double decibels) { return std::pow(10, decibels / 10); }

}  // namespace

Alarm::Alarm(const Parameters& parameters)
    : threshold_(Linear(parameters.threshold)),
      release_(Linear(parameters.threshold - parameters.hysteresis)),
      hold_off_(parameters.hold_off) {}

// Where samples are no numbers, neither is the power: that changes nothing.
bool Alarm::Look(float power, uint64_t sample) {
  if (power < release_) above_ = false;
  if (above_ || !(power >= threshold_)) return false;
  above_ = true;
  if (last_.has_value() && sample - *last_ < hold_off_) return false;
  last_ = sample;
  return true;
}

}  // namespace tapedeck::gpu_worker::stages::detect
