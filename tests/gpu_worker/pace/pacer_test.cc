// When a sink gets its blocks, on a time of the test's own.
#include "gpu_worker/pace/pacer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/executor/timed_wait.h"
#include "gpu_worker/pace/timer.h"
#include "tests/gpu_worker/pace/blocks.h"
#include "tests/gpu_worker/pace/fake_timer.h"

namespace tapedeck::gpu_worker::pace {
namespace {

using dataplane::kMicrosecondNs;
using dataplane::kMillisecondNs;
using services::model::JitterCount;
using services::model::Timing;
using testing::ElementsAre;
using testing::IsEmpty;

// A block lasts 10 ms.
constexpr double kRate = 1000;

class PacerTest : public testing::Test {
 protected:
  ~PacerTest() override { pacer_.reset(); }

  void Begin(Plan plan) {
    plan.meter = meter_ = std::make_shared<Meter>(plan.samples_per_s, plan.at_ns);
    auto timer = std::make_unique<FakeTimer>();
    timer_ = timer.get();
    pacer_ = Pacer::Create({.plan = plan,
                            .assembler = MakeAssembler(plan, kSink).value(),
                            .timer = std::move(timer),
                            .give = [this](const auto& header, auto) { return Give(header); },
                            .on_sated = [this] { sated_ = true; },
                            .on_end = [this](const absl::Status& status) { End(status); }})
                 .value();
  }

  void Add(int blocks) {
    for (int i = 0; i < blocks; ++i) pacer_->Add(blocks_.Next());
  }

  // Waits until so many were given; when each was.
  std::vector<int64_t> Given(size_t blocks) {
    absl::MutexLock lock(&mutex_);
    const auto there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return given_ns_.size() >= blocks;
    };
    dataplane::AwaitFor(mutex_, absl::Condition(&there), absl::Seconds(20));
    return given_ns_;
  }

  absl::Status Ended() {
    absl::MutexLock lock(&mutex_);
    const auto ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ended_; };
    if (!dataplane::AwaitFor(mutex_, absl::Condition(&ended), absl::Seconds(20))) {
      return absl::DeadlineExceededError("it does not end");
    }
    return end_;
  }

  Timing timing() const { return meter_->timing(); }

  FakeTimer* timer_ = nullptr;
  std::unique_ptr<Pacer> pacer_;
  std::atomic<bool> sated_ = false;
  absl::Status answer_;  // of the sink
  Blocks blocks_;

 private:
  absl::Status Give(const dataplane::BlockHeader& header) {
    absl::MutexLock lock(&mutex_);
    EXPECT_EQ(header.sequence, given_ns_.size());
    given_ns_.push_back(timer_->NowNs());
    return answer_;
  }

  void End(const absl::Status& status) {
    absl::MutexLock lock(&mutex_);
    EXPECT_FALSE(ended_);
    ended_ = true;
    end_ = status;
  }

  std::shared_ptr<Meter> meter_;
  absl::Mutex mutex_;
  std::vector<int64_t> given_ns_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(PacerTest, EachBlockGoesWhenItIsDue) {
  Begin({.samples_per_s = kRate});
  Add(4);
  pacer_->NoMore();
  // Each wakes late by something else; what is due after it does not move.
  EXPECT_EQ(timer_->AwaitSleep(), 10 * kMillisecondNs);
  timer_->GoOnTo(10 * kMillisecondNs + 3 * kMicrosecondNs);
  EXPECT_EQ(timer_->AwaitSleep(), 20 * kMillisecondNs);
  timer_->GoOnTo(20 * kMillisecondNs + 150 * kMicrosecondNs);
  EXPECT_EQ(timer_->AwaitSleep(), 30 * kMillisecondNs);
  timer_->GoOnTo(30 * kMillisecondNs);
  EXPECT_TRUE(Ended().ok());
  EXPECT_THAT(Given(4), ElementsAre(0, 10'003'000, 20'150'000, 30'000'000));
  EXPECT_EQ(timing().underruns, 0u);
  EXPECT_EQ(timing().blocks, 4u);
  EXPECT_EQ(timing().samples, 40u);
  EXPECT_THAT(timing().jitter,
              ElementsAre(JitterCount{2 * kMicrosecondNs, 2}, JitterCount{5 * kMicrosecondNs, 1},
                          JitterCount{200 * kMicrosecondNs, 1}));
  EXPECT_EQ(timing().worst_jitter_ns, 150 * kMicrosecondNs);
  EXPECT_EQ(timing().first_time_ns, FakeTimer::kWallNs);
  EXPECT_EQ(timing().after_at_ns, 0);
}

TEST_F(PacerTest, ABlockThatIsNotThereInTimeIsAnUnderrun) {
  Begin({.samples_per_s = kRate});
  Add(1);
  EXPECT_THAT(Given(1), ElementsAre(0));
  EXPECT_EQ(timer_->AwaitSleep(), INT64_MAX) << "waits for blocks";
  timer_->GoOnTo(12 * kMillisecondNs);  // due at 10
  Add(2);
  EXPECT_EQ(timer_->AwaitSleep(), 20 * kMillisecondNs) << "the next one has its own time";
  EXPECT_THAT(Given(2), ElementsAre(0, 12 * kMillisecondNs));
  EXPECT_EQ(timing().underruns, 1u);
  timer_->GoOnTo(20 * kMillisecondNs);
  EXPECT_EQ(timer_->AwaitSleep(), INT64_MAX);
  pacer_->NoMore();
  EXPECT_TRUE(Ended().ok());
  EXPECT_EQ(timing().underruns, 1u);
  EXPECT_EQ(timing().worst_jitter_ns, 2 * kMillisecondNs);
}

TEST_F(PacerTest, ALateWakeUpIsNoUnderrun) {
  Begin({.samples_per_s = kRate});
  Add(5);
  pacer_->NoMore();
  EXPECT_EQ(timer_->AwaitSleep(), 10 * kMillisecondNs);
  timer_->GoOnTo(35 * kMillisecondNs);
  EXPECT_EQ(timer_->AwaitSleep(), 40 * kMillisecondNs) << "three were due";
  EXPECT_THAT(Given(4), ElementsAre(0, 35'000'000, 35'000'000, 35'000'000));
  timer_->GoOnTo(40 * kMillisecondNs);
  EXPECT_TRUE(Ended().ok());
  EXPECT_EQ(timing().underruns, 0u);
  EXPECT_EQ(timing().worst_jitter_ns, 25 * kMillisecondNs);
}

TEST_F(PacerTest, BeginsOnceThereAreSomeBlocksOrSomeTimeHasPassed) {
  Begin({.samples_per_s = kRate, .prefill = 3});
  Add(2);
  EXPECT_EQ(timer_->AwaitSleep(), 250 * kMillisecondNs);
  EXPECT_THAT(Given(0), IsEmpty());
  Add(1);
  EXPECT_EQ(timer_->AwaitSleep(), 10 * kMillisecondNs);
  EXPECT_THAT(Given(1), ElementsAre(0));
}

TEST_F(PacerTest, ASlowNodeDoesNotKeepItFromBeginning) {
  Begin({.samples_per_s = kRate, .prefill = 3});
  Add(1);
  EXPECT_EQ(timer_->AwaitSleep(), 250 * kMillisecondNs);
  timer_->GoOnTo(250 * kMillisecondNs);
  EXPECT_THAT(Given(1), ElementsAre(250 * kMillisecondNs));
  EXPECT_EQ(timing().underruns, 0u);
}

TEST_F(PacerTest, TheFirstSampleGoesAtItsTime) {
  Begin({.samples_per_s = kRate, .at_ns = FakeTimer::kWallNs + 700 * kMillisecondNs});
  Add(2);
  pacer_->NoMore();
  EXPECT_EQ(timer_->AwaitSleep(), 700 * kMillisecondNs);
  timer_->Step(-50 * kMillisecondNs);  // the clock is set meanwhile
  timer_->GoOnTo(700 * kMillisecondNs);
  EXPECT_EQ(timer_->AwaitSleep(), 750 * kMillisecondNs);
  timer_->GoOnTo(750 * kMillisecondNs + 40 * kMicrosecondNs);
  EXPECT_EQ(timer_->AwaitSleep(), 760 * kMillisecondNs);
  timer_->GoOnTo(760 * kMillisecondNs);
  EXPECT_TRUE(Ended().ok());
  EXPECT_EQ(timing().after_at_ns, 40 * kMicrosecondNs);
  EXPECT_EQ(timing().first_time_ns,
            FakeTimer::kWallNs + 700 * kMillisecondNs + 40 * kMicrosecondNs);
}

TEST_F(PacerTest, TheClockIsLookedAtEverySecond) {
  Begin({.samples_per_s = kRate, .at_ns = FakeTimer::kWallNs + 3600 * dataplane::kSecondNs});
  Add(1);
  pacer_->NoMore();
  EXPECT_EQ(timer_->AwaitSleep(), dataplane::kSecondNs);
  timer_->GoOnTo(dataplane::kSecondNs);
  EXPECT_EQ(timer_->AwaitSleep(), 2 * dataplane::kSecondNs);
  timer_->Step(3598 * dataplane::kSecondNs);
  timer_->GoOnTo(2 * dataplane::kSecondNs);
  EXPECT_TRUE(Ended().ok());
  EXPECT_THAT(Given(1), ElementsAre(2 * dataplane::kSecondNs));
}

TEST_F(PacerTest, AClockThatGoesPastTheTimeByHoursDoesNotHurryIt) {
  Begin({.samples_per_s = kRate, .at_ns = FakeTimer::kWallNs + 2 * dataplane::kSecondNs});
  Add(2);
  pacer_->NoMore();
  EXPECT_EQ(timer_->AwaitSleep(), dataplane::kSecondNs);
  timer_->Step(3600 * dataplane::kSecondNs);
  timer_->GoOnTo(dataplane::kSecondNs);
  EXPECT_EQ(timer_->AwaitSleep(), dataplane::kSecondNs + 10 * kMillisecondNs);
  timer_->GoOnTo(dataplane::kSecondNs + 10 * kMillisecondNs);
  EXPECT_TRUE(Ended().ok());
  EXPECT_EQ(timing().after_at_ns, 3599 * dataplane::kSecondNs);
}

TEST_F(PacerTest, StopsInItsSleep) {
  Begin({.samples_per_s = kRate});
  Add(3);
  EXPECT_EQ(timer_->AwaitSleep(), 10 * kMillisecondNs);
  pacer_->Stop();
  EXPECT_TRUE(Ended().ok());
  EXPECT_THAT(Given(1), ElementsAre(0));
}

TEST_F(PacerTest, StopsAnEndlessLoop) {
  Begin({.range = services::model::SampleRange{.first = 0, .end = 7}, .loop = true});
  Add(1);
  pacer_->NoMore();
  Given(100);
  EXPECT_TRUE(sated_);
  pacer_->Stop();
  EXPECT_TRUE(Ended().ok());
  EXPECT_GE(timing().turns, 100u);
}

TEST_F(PacerTest, WhatTheSinkAnswersEndsIt) {
  answer_ = absl::ResourceExhaustedError("the disk is full");
  Begin({});
  Add(2);
  EXPECT_TRUE(absl::IsResourceExhausted(Ended()));
  EXPECT_EQ(Given(1).size(), 1u);
}

TEST_F(PacerTest, WhatComesAfterAllIsGivenIsDoneAtOnce) {
  Begin({.range = services::model::SampleRange{.first = 0, .end = 7}});
  Add(1);
  EXPECT_TRUE(Ended().ok());
  EXPECT_TRUE(sated_);
  Add(2);
  EXPECT_EQ(blocks_.done, 3);
}

TEST_F(PacerTest, WhatComesAfterAFailureIsDropped) {
  answer_ = absl::ResourceExhaustedError("the disk is full");
  Begin({});
  Add(1);
  EXPECT_FALSE(Ended().ok());
  Add(2);
  EXPECT_EQ(blocks_.done, 0);
}

TEST_F(PacerTest, ARangeThatIsNotThereEndsIt) {
  Begin({.range = services::model::SampleRange{.first = 5, .end = 25}});
  Add(2);
  pacer_->NoMore();
  EXPECT_TRUE(absl::IsInvalidArgument(Ended()));
  EXPECT_FALSE(sated_);
}

TEST(ScheduleTest, NoErrorAddsUp) {
  const Schedule thirds(3, 5);
  EXPECT_EQ(thirds.DueNs(0), 5);
  EXPECT_EQ(thirds.DueNs(1), 333'333'338);
  EXPECT_EQ(thirds.DueNs(3'000'000'000), dataplane::kSecondNs * 1'000'000'000 + 5);
  EXPECT_EQ(Schedule(1e9, 0).DueNs(uint64_t{1} << 60), int64_t{1} << 60);
  EXPECT_GT(Schedule(1e-3, 0).DueNs(uint64_t{1} << 62), int64_t{1} << 61) << "never";
  EXPECT_EQ(Schedule(0, 7).DueNs(1000), 7);
}

TEST(SystemTimerTest, WakesAtItsTimeOrWhenItIsWoken) {
  const auto timer = SystemTimer::Create().value();
  const int64_t due_ns = timer->NowNs() + 300 * kMicrosecondNs;
  while (timer->NowNs() < due_ns) timer->WaitUntil(due_ns);
  timer->WaitUntil(due_ns);  // over: at once
  timer->Wake();
  timer->WaitUntil(INT64_MAX);  // a wake-up from before counts
  EXPECT_LT(timer->NowNs() - due_ns, dataplane::kSecondNs / 2) << "that was the wake-up";
}

}  // namespace
}  // namespace tapedeck::gpu_worker::pace
