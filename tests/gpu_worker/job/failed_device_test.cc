// A device that fails for good in the middle of a job: that job and all later ones say so, and so
// does whatever tells of the worker. By the bounce over TCP, and with the ring on the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gpu_worker/job/faulty_device.h"
#include "tests/gpu_worker/job/worker_fixture.h"

namespace tapedeck::gpu_worker {
namespace {

using services::JobState;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kBlocks = 100;

TEST(HealthTest, TheFirstFailureIsRememberedAndLoggedOnce) {
  device::Health health("cuda:0 GPU");
  EXPECT_EQ(health.Note(absl::InternalError("else")).message(), "else");
  EXPECT_TRUE(health.Note(absl::OkStatus()).ok());
  EXPECT_TRUE(health.status().ok());
  const auto failure = [](const char* text) { return services::DeviceFailed("", text); };
  testing::internal::CaptureStderr();
  const absl::Status first = health.Note(failure("cudaMalloc: assert"));
  EXPECT_EQ(health.Note(failure("cudaFree: assert")), first);
  EXPECT_EQ(health.Note(absl::StatusOr<int>(failure("cudaFree: assert"))).status(), first);
  EXPECT_EQ(health.status(), first);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, AllOf(HasSubstr("cudaMalloc: assert"), Not(HasSubstr("cudaFree"))));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_EQ(first.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(services::ReasonOf(first)->metadata.at("device"), "cuda:0 GPU");
  EXPECT_EQ(health.Note(absl::InternalError("else")).message(), "else");
}

class FailedDeviceTest : public WorkerFixture, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { StartWorker(ChooseFaultyDevice(faults_), GetParam()); }

  static void ExpectFailure(const absl::Status& error) {
    EXPECT_EQ(ReasonOf(error), "DEVICE_FAILED") << error;
    EXPECT_THAT(std::string(error.message()),
                AllOf(HasSubstr("faulty:0 has failed: cudaEventSynchronize: an illegal memory"),
                      HasSubstr("restart the worker")));
  }

  void ExpectRefusals(const std::string& recording) {
    meanwhile_ = [] { ADD_FAILURE() << "the storage node was asked"; };
    ExpectFailure(Record().status());
    ExpectFailure(Play(recording).status());
    ExpectFailure(worker_->Health());
    EXPECT_THAT(worker_->Describe().memory.at(0).status, HasSubstr("restart the worker"));
    services::doctor::Findings findings;
    worker_->DoctorChecks().at(0).run({}, findings);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, std::string("DEVICE_FAILED"));
    EXPECT_THAT(findings[0].what, HasSubstr("illegal memory"));
  }

  Faults faults_;
};

TEST_P(FailedDeviceTest, ARecordingEndsWithItAndLaterJobsAreRefused) {
  const auto job = Record();
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_GE(AwaitBlocks(*job, 10).blocks, 10u);
  EXPECT_TRUE(worker_->Health().ok());
  faults_.steps = 20;
  const services::Job ended = AwaitEnd(job);
  EXPECT_EQ(ended.state, JobState::kFailed);
  ExpectFailure(ended.error);
  EXPECT_GE(node_->recordings().GetRecording(ended.recording)->blocks, 10u) << "they are kept";
  ExpectRefusals(ended.recording);
  EXPECT_EQ(worker_->ListJobs().size(), 1u);
}

TEST_P(FailedDeviceTest, APlaybackEndsWithIt) {
  const services::Job recorded = AwaitEnd(Record(kBlocks));
  ASSERT_TRUE(recorded.error.ok()) << recorded.error;
  ASSERT_TRUE(AwaitEnd(Play(recorded.recording)).error.ok());
  faults_.steps = 2;  // of which each may have several blocks
  const services::Job ended = AwaitEnd(Play(recorded.recording));
  EXPECT_EQ(ended.state, JobState::kFailed);
  ExpectFailure(ended.error);
  ExpectRefusals(recorded.recording);
}

TEST_P(FailedDeviceTest, AStartDuringWhichItFailsSaysSo) {
  faults_.steps = 0;
  ExpectFailure(Record().status());
  EXPECT_TRUE(worker_->ListJobs().empty());
}

// One that was cancelled has what was asked for, however its device is.
TEST_P(FailedDeviceTest, ACancelledJobIsCancelled) {
  const auto job = Record();
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_GE(AwaitBlocks(*job, 1).blocks, 1u);
  ASSERT_TRUE(worker_->CancelJob(job->name).ok());
  EXPECT_EQ(AwaitEnd(job).state, JobState::kCancelled);
}

TEST_P(FailedDeviceTest, MemoryThatIsRefusedFailsOneJobAlone) {
  faults_.no_memory = true;
  EXPECT_EQ(ReasonOf(Record(kBlocks).status()), "LIMIT_REACHED");
  EXPECT_TRUE(worker_->Health().ok());
  faults_.no_memory = false;
  const services::Job recorded = AwaitEnd(Record(kBlocks));
  EXPECT_TRUE(recorded.error.ok()) << recorded.error;
}

INSTANTIATE_TEST_SUITE_P(Bounce, FailedDeviceTest, testing::Values("tcp"),
                         [](const auto&) { return "Bounce"; });
INSTANTIATE_TEST_SUITE_P(Direct, FailedDeviceTest, testing::Values("inproc"),
                         [](const auto&) { return "Direct"; });

}  // namespace
}  // namespace tapedeck::gpu_worker
