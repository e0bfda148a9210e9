#include "gpu_worker/pace/clock_error.h"

#include <sys/timex.h>

#include <algorithm>

#include "dataplane/clock.h"

namespace tapedeck::gpu_worker::pace {
namespace {

// The most that the kernel counts: NTP_PHASE_LIMIT.
constexpr int64_t kMostErrorNs = 16 * dataplane::kSecondNs;
// The kernel's MAXFREQ is 500 ppm: one of 2000.
constexpr int64_t kDriftPart = 2000;
// The bound that it tells grew a second ago at most.
constexpr int64_t kGrowsEachNs = dataplane::kSecondNs;

}  // namespace

std::string ClockError::ClockText() const {
  return synchronized ? "system" : "system, unsynchronized";
}

ClockError ErrorOf(const timex& told, int state, int64_t ahead_ns) {
  if (state < 0) return {.synchronized = false, .error_ns = kMostErrorNs};
  const int64_t told_ns =
      std::max<int64_t>({told.maxerror, told.esterror, 0}) * dataplane::kMicrosecondNs;
  const int64_t drift_ns = (std::max<int64_t>(ahead_ns, 0) + kGrowsEachNs) / kDriftPart;
  return {.synchronized = state != TIME_ERROR && (told.status & STA_UNSYNC) == 0,
          .error_ns = std::min(told_ns + drift_ns, kMostErrorNs)};
}

ClockError SystemClockErrorAt(int64_t at_ns) {
  timex told = {};
  const int state = adjtimex(&told);
  return ErrorOf(told, state, at_ns - dataplane::SystemClock().WallNs());
}

}  // namespace tapedeck::gpu_worker::pace
