// What a worker reports of a stream goes to a storage node in as many calls as the node needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "dataplane/executor/timed_wait.h"
#include "gpu_worker/job/annotator.h"
#include "services/model/recording/lost.h"
#include "services/model/seams/recorder.h"
#include "services/model/seams/scrub.h"
#include "services/rpc/server/handlers/services.h"
#include "services/rpc/server/server.h"
#include "services/rpc/storage_client/dialer.h"

namespace tapedeck::gpu_worker::job {
namespace {

using services::Annotation;
using testing::ElementsAre;

constexpr char kStream[] = "luns/l/channels/c/recordings/20261128-120000-0001";
constexpr uint64_t kSegmentSamples = 100;

// Writes into one segment a call, as where the disk takes a second for each.
class SlowNode final : public services::RecorderControl, public services::ScrubControl {
 public:
  absl::StatusOr<services::model::Marked> AnnotateStream(
      const std::string& recording, std::span<const Annotation> annotations) override {
    EXPECT_EQ(recording, kStream);
    const Annotation& one = annotations.front();
    const uint64_t end = (one.sample_start / kSegmentSamples + 1) * kSegmentSamples;
    absl::MutexLock lock(&mutex_);
    taken_.push_back(services::model::PartOf(one, one.sample_start, end));
    if (one.sample_start + one.sample_count <= end) return services::model::Marked{.done = 1};
    return services::model::Marked{.next_sample = end};
  }
  std::vector<Annotation> taken() const {
    absl::MutexLock lock(&mutex_);
    return taken_;
  }

  absl::StatusOr<std::vector<services::Capture>> TriggerRecording(
      const std::string&, const services::Trigger&) override {
    return Unused();
  }
  absl::Status Annotate(const std::string&, std::span<const Annotation>) override {
    return Unused();
  }
  absl::Status KeepRecording(const std::string&, bool) override { return Unused(); }
  absl::StatusOr<services::Scrub> StartScrub(const services::ScrubStart&) override {
    return Unused();
  }
  absl::StatusOr<services::Scrub> GetScrub(const std::string&) override { return Unused(); }
  absl::StatusOr<services::Scrub> StopScrub(const std::string&) override { return Unused(); }

 private:
  static absl::Status Unused() { return absl::UnimplementedError("not asked for"); }

  mutable absl::Mutex mutex_;
  std::vector<Annotation> taken_ ABSL_GUARDED_BY(mutex_);
};

TEST(AnnotatedStreamTest, GoesOnWhereACallHasStopped) {
  SlowNode node;
  const auto server =
      services::server::Server::Create(services::ReservedPort::Create("127.0.0.1:0").value(),
                                       {services::server::RecorderServiceOver(node, node)})
          .value();
  const auto storage = services::storage_client::MakeStorageDialer()->Dial(
      absl::StrCat("127.0.0.1:", server->port()), {}, "");
  const auto report = std::make_shared<stages::StageReport>([] { return services::Notes(); });
  const std::string text = services::model::TextOfLost(7, 3);
  report->Mark({.sample_start = 20, .label = "signal", .comment = "frequency=1"});
  report->Mark({.sample_start = 50, .sample_count = 300, .label = "lost", .comment = text});
  report->Mark({.sample_start = 360, .label = "signal", .comment = "frequency=2"});

  const auto annotator = Annotator::Create(report, *storage).value();
  annotator->SessionRuns(kStream);
  absl::Notification done;
  annotator->Finish([&](const absl::Status& annotated, uint64_t left_out) {
    EXPECT_TRUE(annotated.ok()) << annotated;
    EXPECT_EQ(left_out, 0u);
    done.Notify();
  });
  ASSERT_TRUE(dataplane::AwaitFor(done, absl::Seconds(10)));

  const auto part = [&](uint64_t first, uint64_t count) {
    return Annotation{.sample_start = first,
                      .sample_count = count,
                      .label = "lost",
                      .comment = "7 samples in 3 places of samples 50 to 349 of the stream"};
  };
  EXPECT_THAT(
      node.taken(),
      ElementsAre(Annotation{.sample_start = 20, .label = "signal", .comment = "frequency=1"},
                  part(50, 50), part(100, 100), part(200, 100), part(300, 50),
                  Annotation{.sample_start = 360, .label = "signal", .comment = "frequency=2"}));
}

}  // namespace
}  // namespace tapedeck::gpu_worker::job
