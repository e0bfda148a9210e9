#include "tests/lab/clocks/steer.h"

#include <sys/timex.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace tapedeck::lab {
namespace {

constexpr int64_t kStepSecondNs = 1'000'000'000;
constexpr int64_t kUsualTick = 10'000;  // a unit more is 100 ppm
constexpr double kTickPpm = 100;

void Set(timex& wish) {
  if (clock_adjtime(CLOCK_REALTIME, &wish) >= 0) return;
  std::perror("clock_adjtime");
  std::exit(1);
}

void Tell(int64_t most_error_us) {
  timex kept = {};
  kept.modes = ADJ_STATUS | ADJ_MAXERROR | ADJ_ESTERROR;
  kept.maxerror = most_error_us;
  Set(kept);
}

}  // namespace

void Steer(const Steering& steering) {
  const double ticks = std::round(steering.ppm / kTickPpm);
  timex rate = {};
  rate.modes = ADJ_FREQUENCY | ADJ_TICK;
  rate.tick = kUsualTick + static_cast<int64_t>(ticks);
  rate.freq = std::lround((steering.ppm - ticks * kTickPpm) * 65536);
  Set(rate);

  // This tells the kernel by itself that nobody keeps the clock.
  timex step = {};
  step.modes = ADJ_SETOFFSET | ADJ_NANO;
  step.time.tv_sec = steering.step_ns / kStepSecondNs;
  step.time.tv_usec = steering.step_ns % kStepSecondNs;
  if (step.time.tv_usec < 0) {
    step.time.tv_usec += kStepSecondNs;
    --step.time.tv_sec;
  }
  Set(step);

  if (steering.most_error_us.has_value()) Tell(*steering.most_error_us);
}

void Hold(int64_t most_error_us) {
  while (true) {
    Tell(most_error_us);
    usleep(100'000);
  }
}

}  // namespace tapedeck::lab
