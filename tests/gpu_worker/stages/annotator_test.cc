#include "gpu_worker/job/annotator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/now.h"
#include "services/base/errors.h"
#include "services/model/recording/lost.h"

namespace tapedeck::gpu_worker::job {
namespace {

using services::Annotation;
using testing::HasSubstr;
using testing::SizeIs;

// Takes so many annotations, and refuses the next ones.
class TakingStorage final : public services::RecordingsClient {
 public:
  explicit TakingStorage(size_t most) : most_(most) {}

  absl::StatusOr<services::Recording> GetRecording(const std::string&) override { return Unused(); }
  // Any capture has the samples of [first, end), and is closed.
  absl::StatusOr<services::Timeline> GetTimeline(const std::string&) override {
    return services::Timeline{.state = services::RecordingState::kSealed,
                              .samples = end - first,
                              .captures = {{.sample = 0, .stream_sample = first}}};
  }
  absl::Status AnnotateStream(const std::string& recording, std::span<const Annotation> annotations,
                              services::model::Marked* marked) override {
    for (; marked->done < annotations.size(); ++marked->done) {
      const Annotation& one = annotations[marked->done];
      if (one.sample_start < first) {
        ++marked->left_out;
      } else if (one.sample_start >= end) {
        return services::ArgumentInvalid("sample", "it is in no segment yet");
      } else if (const absl::Status status = Take(recording, one); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }
  absl::Status Take(const std::string& recording, const Annotation& annotation) {
    absl::MutexLock lock(&mutex_);
    EXPECT_EQ(recording, "r");
    if (away_) {
      ++refused_;
      return services::NodeUnreachable("n", "it is away");
    }
    if (taken_.size() == most_) return absl::ResourceExhaustedError("no room");
    taken_.push_back(annotation);
    return absl::OkStatus();
  }

  // The samples of the segments there are.
  std::atomic<uint64_t> first = 0;
  std::atomic<uint64_t> end = UINT64_MAX;

  void SetAway(bool away) {
    absl::MutexLock lock(&mutex_);
    away_ = away;
  }
  void AwaitRefused() const {
    absl::MutexLock lock(&mutex_);
    const auto refused = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return refused_ > 0; };
    EXPECT_TRUE(dataplane::AwaitFor(mutex_, absl::Condition(&refused), absl::Seconds(10)));
  }

  std::vector<Annotation> taken() const {
    absl::MutexLock lock(&mutex_);
    return taken_;
  }
  void AwaitTaken(size_t count) const {
    absl::MutexLock lock(&mutex_);
    const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return taken_.size() >= count;
    };
    EXPECT_TRUE(dataplane::AwaitFor(mutex_, absl::Condition(&enough), absl::Seconds(10)));
  }

 private:
  static absl::Status Unused() { return absl::UnimplementedError("not asked for"); }

  const size_t most_;
  mutable absl::Mutex mutex_;
  std::vector<Annotation> taken_ ABSL_GUARDED_BY(mutex_);
  bool away_ ABSL_GUARDED_BY(mutex_) = false;
  int refused_ ABSL_GUARDED_BY(mutex_) = 0;
};

class AnnotatorTest : public testing::Test {
 protected:
  absl::Status Finish(Annotator& annotator) {
    absl::Notification done;
    absl::Status status;
    annotator.Finish([&](const absl::Status& annotated, uint64_t left_out) {
      status = annotated;
      left_out_ = left_out;
      done.Notify();
    });
    EXPECT_TRUE(dataplane::AwaitFor(done, absl::Seconds(10)));
    return status;
  }
  void Report(uint64_t sample) {
    report_->Annotate({.sample_start = sample, .sample_count = 1, .label = "lost"});
  }

  uint64_t left_out_ = 0;
  const std::shared_ptr<stages::StageReport> report_ =
      std::make_shared<stages::StageReport>([] { return services::Notes(); });
};

TEST_F(AnnotatorTest, WritesAsSoonAsTheRecordingIsKnown) {
  TakingStorage storage(100);
  const auto annotator = Annotator::Create(report_, storage).value();
  Report(1);
  annotator->SessionRuns("r");
  storage.AwaitTaken(1);
  Report(2);
  storage.AwaitTaken(2);
  annotator->SessionRuns("another");
  Report(3);
  EXPECT_TRUE(Finish(*annotator).ok());
  EXPECT_THAT(storage.taken(), SizeIs(3));
}

TEST_F(AnnotatorTest, SaysWhatIsNotWritten) {
  TakingStorage storage(1);
  const auto annotator = Annotator::Create(report_, storage).value();
  for (const uint64_t sample : {10, 20, 30}) Report(sample);
  annotator->SessionRuns("r");
  const absl::Status status = Finish(*annotator);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("from 20: no room"));
  EXPECT_THAT(storage.taken(), SizeIs(1));
}

TEST_F(AnnotatorTest, WaitsForANodeThatIsAway) {
  TakingStorage storage(100);
  const auto annotator = Annotator::Create(report_, storage).value();
  annotator->SessionRuns("r");
  storage.SetAway(true);
  for (const uint64_t sample : {10, 20, 30}) Report(sample);
  storage.AwaitRefused();
  storage.SetAway(false);
  const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(10);
  while (storage.taken().size() < 3 && dataplane::SteadyTime() < deadline) {
    annotator->SessionRuns("r");  // as a session that runs says again and again
  }
  EXPECT_TRUE(Finish(*annotator).ok());
  EXPECT_EQ(storage.taken()[0].sample_start, 10u);
  EXPECT_THAT(storage.taken(), SizeIs(3));
}

TEST_F(AnnotatorTest, LeavesOutWhatBelongsToASegmentThatIsGone) {
  TakingStorage storage(100);
  storage.first = 40;
  const auto annotator = Annotator::Create(report_, storage).value();
  for (uint64_t sample = 0; sample < 100; sample += 10) Report(sample);
  annotator->SessionRuns("r");
  EXPECT_TRUE(Finish(*annotator).ok());
  EXPECT_EQ(left_out_, 4u);
  ASSERT_THAT(storage.taken(), SizeIs(6));
  EXPECT_EQ(storage.taken().front().sample_start, 40u);
}

TEST_F(AnnotatorTest, WaitsForTheSegmentOfASample) {
  TakingStorage storage(100);
  storage.end = 50;
  const auto annotator = Annotator::Create(report_, storage).value();
  for (uint64_t sample = 0; sample < 100; sample += 10) Report(sample);
  annotator->SessionRuns("r");
  storage.AwaitTaken(5);
  storage.end = 80;
  EXPECT_TRUE(Finish(*annotator).ok());
  EXPECT_THAT(storage.taken(), SizeIs(8));
  EXPECT_EQ(left_out_, 2u) << "the stream has ended before";
}

TEST_F(AnnotatorTest, ANodeThatStaysAwayIsToldOf) {
  TakingStorage storage(100);
  const auto annotator = Annotator::Create(report_, storage).value();
  annotator->SessionRuns("r");
  storage.SetAway(true);
  Report(10);
  EXPECT_EQ(services::ReasonOf(Finish(*annotator))->reason, "NODE_UNREACHABLE");
}

// It goes on sample by sample.
class EndlessStorage final : public services::RecordingsClient {
 public:
  absl::StatusOr<services::Recording> GetRecording(const std::string&) override {
    return absl::UnimplementedError("not asked for");
  }
  absl::StatusOr<services::Timeline> GetTimeline(const std::string&) override {
    return services::Timeline{
        .state = services::RecordingState::kRecording, .samples = UINT64_MAX / 2, .captures = {{}}};
  }
  absl::Status AnnotateStream(const std::string&, std::span<const Annotation>,
                              services::model::Marked* marked) override {
    ++marked->next_sample;
    ++asked;
    return absl::OkStatus();
  }
  void AwaitAsked() const {
    const absl::Time end = dataplane::SteadyTime() + absl::Seconds(10);
    while (asked < 100 && dataplane::SteadyTime() < end) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_GE(asked, 100);
  }

  std::atomic<int> asked = 0;
};

TEST_F(AnnotatorTest, ANodeThatNeverGetsToTheEndKeepsNoJob) {
  for (const auto into : {Annotator::Into::kRecording, Annotator::Into::kCaptures}) {
    EndlessStorage storage;
    auto annotator = Annotator::Create(report_, storage, into).value();
    report_->Annotate({.sample_count = 1 << 30, .label = "lost"});
    if (into == Annotator::Into::kRecording) annotator->SessionRuns("r");
    if (into == Annotator::Into::kCaptures) annotator->HasCaptures({"r"});
    storage.AwaitAsked();
    annotator.reset();  // waits for its thread
    EXPECT_GE(storage.asked, 100);
  }
}

TEST_F(AnnotatorTest, ACaptureHasTheMarksOfItsSamplesAndTheSignalBefore) {
  TakingStorage storage(100);
  storage.first = 40;
  storage.end = 80;
  const auto annotator = Annotator::Create(report_, storage, Annotator::Into::kCaptures).value();
  for (const uint64_t sample : {10, 20, 60, 90}) {
    report_->Mark({.sample_start = sample, .label = "signal", .comment = absl::StrCat(sample)});
  }
  report_->Mark({.sample_start = 30, .sample_count = 15, .label = "lost"});
  annotator->HasCaptures({"r"});
  EXPECT_TRUE(Finish(*annotator).ok());
  EXPECT_THAT(
      storage.taken(),
      testing::ElementsAre(Annotation{.sample_start = 40, .label = "signal", .comment = "20"},
                           Annotation{.sample_start = 60, .label = "signal", .comment = "60"},
                           Annotation{.sample_start = 40, .sample_count = 5, .label = "lost"}));
  EXPECT_EQ(left_out_, 2u) << "the first and the last signal";
}

// Whether the capture has any of them is not known.
TEST_F(AnnotatorTest, LossesToldTogetherSayInACaptureWhereAllLie) {
  TakingStorage storage(100);
  storage.first = 40;
  storage.end = 80;
  const auto annotator = Annotator::Create(report_, storage, Annotator::Into::kCaptures).value();
  report_->Mark({.sample_start = 30,
                 .sample_count = 15,
                 .label = "lost",
                 .comment = services::model::TextOfLost(9, 2)});
  annotator->HasCaptures({"r"});
  EXPECT_TRUE(Finish(*annotator).ok());
  const auto taken = storage.taken();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].sample_count, 5u);
  EXPECT_EQ(taken[0].comment, "9 samples in 2 places of samples 30 to 44 of the stream");
}

TEST_F(AnnotatorTest, WithoutACaptureAllIsLeftOut) {
  TakingStorage storage(1);
  const auto annotator = Annotator::Create(report_, storage, Annotator::Into::kCaptures).value();
  annotator->SessionRuns("");
  for (const uint64_t sample : {1, 2}) Report(sample);
  EXPECT_TRUE(Finish(*annotator).ok());
  EXPECT_EQ(left_out_, 2u);
}

TEST_F(AnnotatorTest, WithoutARecordingNothingCanBeWritten) {
  TakingStorage storage(1);
  const auto annotator = Annotator::Create(report_, storage).value();
  EXPECT_TRUE(Finish(*annotator).ok());
  Report(1);
  EXPECT_FALSE(Finish(*annotator).ok());
  EXPECT_THAT(storage.taken(), SizeIs(0));
}

}  // namespace
}  // namespace tapedeck::gpu_worker::job
