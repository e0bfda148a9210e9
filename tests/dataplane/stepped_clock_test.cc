// Timed waits while the wall clock steps. stepped_clock.sh runs this with libfaketime, whose clock
// the program sees and the kernel does not: Abseil's own waits then end as late as after a step
// back. In a virtual machine it steps the machine's clock.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/executor/timed_wait.h"

namespace tapedeck::dataplane {
namespace {

constexpr absl::Duration kWait = absl::Milliseconds(400);
const absl::Duration kLate = kWait + absl::Seconds(2);

class SteppedClockTest : public testing::TestWithParam<absl::Duration> {
 protected:
  void SetUp() override {
    file_ = std::getenv("FAKETIME_TIMESTAMP_FILE");
    machine_ = std::getenv("TAPEDECK_STEP_MACHINE") != nullptr;
    if (file_ == nullptr && !machine_) GTEST_SKIP() << "stepped_clock.sh runs this";
    const absl::Time before = WallTime();
    Step(GetParam());
    ASSERT_GT(absl::AbsDuration(WallTime() - before), absl::Milliseconds(500))
        << "the clock did not step";
  }
  void TearDown() override { Step(absl::ZeroDuration()); }

  // From the right time.
  void Step(absl::Duration offset) {
    if (machine_) {
      const timespec time = absl::ToTimespec(WallTime() + offset - offset_);
      ASSERT_EQ(clock_settime(CLOCK_REALTIME, &time), 0);
    } else if (file_ != nullptr) {
      std::ofstream(file_) << absl::StrCat(offset < absl::ZeroDuration() ? "" : "+",
                                           absl::ToInt64Seconds(offset))
                           << std::endl;
    }
    offset_ = offset;
  }

  // `wait` begins before a step to the right time, or after it.
  template <typename Wait>
  void EndsInTime(Wait wait) {
    for (const bool during : {false, true}) {
      const absl::Time begun = SteadyTime();
      std::thread waiter(wait);
      if (during) {
        absl::SleepFor(kWait / 2);
        Step(absl::ZeroDuration());
      }
      waiter.join();
      EXPECT_GE(SteadyTime() - begun, kWait);
      EXPECT_LT(SteadyTime() - begun, kLate);
    }
  }

 private:
  const char* file_ = nullptr;
  bool machine_ = false;
  absl::Duration offset_;
};

TEST_P(SteppedClockTest, OurWaitsEndInTime) {
  EndsInTime([] {
    bool never = false;
    absl::Mutex mutex;
    absl::MutexLock lock(&mutex);
    EXPECT_FALSE(AwaitFor(mutex, absl::Condition(&never), kWait));
  });
}

// As gRPC waits, with a time that it makes of the kernel's clock.
TEST_P(SteppedClockTest, WaitsOfOthersEndInTime) {
  EndsInTime([] {
    absl::Mutex mutex;
    absl::CondVar changed;
    absl::MutexLock lock(&mutex);
    const absl::Time deadline = WallTime() + kWait;
    while (WallTime() < deadline) {
      if (changed.WaitWithDeadline(&mutex, deadline)) break;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(By, SteppedClockTest,
                         testing::Values(absl::Seconds(1), -absl::Seconds(1), absl::Hours(1),
                                         -absl::Hours(1), absl::Hours(87'600),
                                         -absl::Hours(87'600)));

}  // namespace
}  // namespace tapedeck::dataplane
