#include "gpu_worker/job/annotator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"

namespace tapedeck::gpu_worker::job {
namespace {

using services::Annotation;
using testing::HasSubstr;
using testing::SizeIs;

// Takes so many annotations, and refuses the next ones.
class TakingStorage final : public services::StorageClient {
 public:
  explicit TakingStorage(size_t most) : most_(most) {}

  absl::StatusOr<services::Channel> GetChannel(const std::string&) override { return Unused(); }
  absl::StatusOr<services::Recording> GetRecording(const std::string&) override { return Unused(); }
  absl::Status AnnotateRecording(const std::string& recording,
                                 const Annotation& annotation) override {
    absl::MutexLock lock(&mutex_);
    EXPECT_EQ(recording, "r");
    if (taken_.size() == most_) return absl::ResourceExhaustedError("no room");
    taken_.push_back(annotation);
    return absl::OkStatus();
  }
  void Cancel() override {}
  std::unique_ptr<services::session::ControlStream> OpenSession() override { return nullptr; }

  std::vector<Annotation> taken() const {
    absl::MutexLock lock(&mutex_);
    return taken_;
  }
  void AwaitTaken(size_t count) const {
    absl::MutexLock lock(&mutex_);
    const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return taken_.size() >= count;
    };
    EXPECT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(10)));
  }

 private:
  static absl::Status Unused() { return absl::UnimplementedError("not asked for"); }

  const size_t most_;
  mutable absl::Mutex mutex_;
  std::vector<Annotation> taken_ ABSL_GUARDED_BY(mutex_);
};

class AnnotatorTest : public testing::Test {
 protected:
  absl::Status Finish(Annotator& annotator) {
    absl::Notification done;
    absl::Status status;
    annotator.Finish([&](const absl::Status& annotated) {
      status = annotated;
      done.Notify();
    });
    EXPECT_TRUE(done.WaitForNotificationWithTimeout(absl::Seconds(10)));
    return status;
  }
  void Remark(uint64_t sample) {
    remarks_->Annotate({.sample_start = sample, .sample_count = 1, .label = "lost"});
  }

  const std::shared_ptr<stages::Remarks> remarks_ =
      std::make_shared<stages::Remarks>([] { return std::vector<std::string>(); });
};

TEST_F(AnnotatorTest, WritesAsSoonAsTheRecordingIsKnown) {
  TakingStorage storage(100);
  const auto annotator = Annotator::Create(remarks_, storage).value();
  Remark(1);
  annotator->Begin("r");
  storage.AwaitTaken(1);
  Remark(2);
  storage.AwaitTaken(2);
  annotator->Begin("another");
  Remark(3);
  EXPECT_TRUE(Finish(*annotator).ok());
  EXPECT_THAT(storage.taken(), SizeIs(3));
}

TEST_F(AnnotatorTest, SaysWhatIsNotWritten) {
  TakingStorage storage(1);
  const auto annotator = Annotator::Create(remarks_, storage).value();
  for (const uint64_t sample : {10, 20, 30}) Remark(sample);
  annotator->Begin("r");
  const absl::Status status = Finish(*annotator);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("from 20: no room"));
  EXPECT_THAT(storage.taken(), SizeIs(1));
}

TEST_F(AnnotatorTest, WithoutARecordingNothingCanBeWritten) {
  TakingStorage storage(1);
  const auto annotator = Annotator::Create(remarks_, storage).value();
  EXPECT_TRUE(Finish(*annotator).ok());
  Remark(1);
  EXPECT_FALSE(Finish(*annotator).ok());
  EXPECT_THAT(storage.taken(), SizeIs(0));
}

}  // namespace
}  // namespace tapedeck::gpu_worker::job
