// How old a recording is for policies, whatever the machine's clock does.
#include "storage_node/recordings/clock_steps.h"

#include <gtest/gtest.h>

#include "tests/storage_node/settable_clock.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::storage_node {
namespace {

constexpr int64_t kOneMinuteNs = 60 * dataplane::kSecondNs;
constexpr int64_t kOneHourNs = 60 * kOneMinuteNs;

class ClockStepsTest : public testing::Test {
 protected:
  // By the clock, and then by both.
  void Step(int64_t by_ns, int64_t passes_ns = dataplane::kSecondNs) {
    clock_.set_ns += by_ns;
    clock_.passed_ns += passes_ns;
    steps_.Look();
  }
  int64_t AgeFor(int64_t max_age_ns) const { return steps_.Of(max_age_ns).Of(ended_ns_); }

  TempDir dir_;
  SettableClock clock_;
  recordings::ClockSteps steps_{dir_.path(), clock_};
  const int64_t ended_ns_ = clock_.WallNs();
};

TEST_F(ClockStepsTest, OnesThatAreSmallAddUp) {
  for (int i = 0; i < 5; ++i) Step(29 * kOneMinuteNs);
  EXPECT_LT(AgeFor(kOneHourNs), kOneHourNs);
  Step(0, kOneHourNs);
  EXPECT_GT(AgeFor(kOneHourNs), kOneHourNs);
}

TEST_F(ClockStepsTest, SoDoThoseOfSeconds) {
  for (int i = 0; i < 300; ++i) Step(59 * dataplane::kSecondNs);
  EXPECT_LT(AgeFor(kOneHourNs), kOneHourNs);
}

// Five seconds in each half day: no step is ever as large as the age.
TEST_F(ClockStepsTest, AClockThatIsSlewedKeepsNothingForEver) {
  constexpr int64_t kMonthNs = 30 * 24 * kOneHourNs;
  for (int i = 0; i < 5000; ++i) Step(5 * dataplane::kSecondNs, 12 * kOneHourNs);
  EXPECT_GT(AgeFor(kMonthNs), kMonthNs);
}

}  // namespace
}  // namespace tapedeck::storage_node
