#include "gpu_worker/pace/clock_error.h"

#include <sys/timex.h>

#include "dataplane/clock.h"

namespace tapedeck::gpu_worker::pace {
namespace {

// The most that the kernel counts: NTP_PHASE_LIMIT.
constexpr int64_t kMostErrorNs = 16 * dataplane::kSecondNs;

}  // namespace

std::string ClockError::ClockText() const {
  return synchronized ? "system" : "system, unsynchronized";
}

ClockError ErrorOf(const timex& told, int state) {
  if (state < 0) return {.synchronized = false, .error_ns = kMostErrorNs};
  return {.synchronized = state != TIME_ERROR && (told.status & STA_UNSYNC) == 0,
          .error_ns = int64_t{told.maxerror} * dataplane::kMicrosecondNs};
}

ClockError SystemClockError() {
  timex told = {};
  const int state = adjtimex(&told);
  return ErrorOf(told, state);
}

}  // namespace tapedeck::gpu_worker::pace
