// A worker with two devices out of the CPU's reach, against a real storage node: which of them a
// job takes, and the jobs of all of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "dataplane/deadline.h"
#include "dataplane/now.h"
#include "tests/gpu_worker/device/split_device.h"
#include "tests/gpu_worker/job/worker_fixture.h"

namespace tapedeck::gpu_worker {
namespace {

using services::Job;
using services::JobState;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class SeveralDevicesTest : public WorkerFixture {
 protected:
  void SetUp() override {
    std::vector<pipeline::DeviceChoice> devices;
    for (const char* name : {"gpu:0", "gpu:1"}) {
      devices.push_back(ChooseSplitDevice(-1, name));
      devices_.push_back(static_cast<SplitDevice*>(devices.back().device.get()));
    }
    StartWorker(std::move(devices));
  }

  // The node outlives what it still opens.
  void TearDown() override {
    for (const Job& job : worker_->ListJobs()) {
      Await(job, [](const Job& now) { return now.state != JobState::kStarting; });
    }
    WorkerFixture::TearDown();
  }

  static services::RecordSpec FourBlocks(const std::string& device,
                                         const std::string& request = "") {
    return {.transfer = {.storage = "node:1",
                         .target = kChannel,
                         .device = device,
                         .request_id = request},
            .source = {"synth"},
            .blocks = 4};
  }
  // Makes nothing until it is cancelled.
  static services::RecordSpec Waiting(const std::string& device, const std::string& request = "") {
    services::RecordSpec spec = FourBlocks(device, request);
    spec.at_ns = absl::ToUnixNanos(dataplane::WallTime() + absl::Hours(1));
    return spec;
  }
  std::string DeviceOf(const services::RecordSpec& spec) {
    const auto job = worker_->StartRecord(spec);
    return job.ok() ? job->device : job.status().ToString();
  }
  // Oldest first.
  std::vector<Job> Ended() {
    worker_->Drain(dataplane::Deadline::In(absl::Seconds(60)));
    std::vector<Job> jobs = worker_->ListJobs();
    std::ranges::reverse(jobs);
    return jobs;
  }

  std::vector<SplitDevice*> devices_;
};

TEST_F(SeveralDevicesTest, AllRecordOneEachAndHaveAGroupInCommon) {
  const auto first = worker_->StartRecord(FourBlocks("all"));
  ASSERT_TRUE(first.ok()) << first.status();
  const std::vector<Job> jobs = Ended();
  ASSERT_THAT(jobs, SizeIs(2));
  EXPECT_EQ(first->name, jobs[0].name);
  EXPECT_THAT(first->group, StartsWith("wtest-1-"));
  for (size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(jobs[i].state, JobState::kSucceeded) << jobs[i].error;
    EXPECT_EQ(jobs[i].blocks, 4u);
    EXPECT_EQ(jobs[i].group, first->group);
    EXPECT_EQ(jobs[i].device, absl::StrCat("gpu:", i));
    const auto recording = node_->recordings().GetRecording(jobs[i].recording);
    ASSERT_TRUE(recording.ok()) << recording.status();
    EXPECT_EQ(recording->group.value().id, first->group);
    EXPECT_EQ(recording->origin.device, absl::StrCat("gpu:", i));
  }
  EXPECT_NE(jobs[0].recording, jobs[1].recording);
}

TEST_F(SeveralDevicesTest, GroupsDiffer) {
  const auto first = worker_->StartRecord(Waiting("all"));
  const auto second = worker_->StartRecord(Waiting("all"));
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_NE(first->group, second->group);
  EXPECT_THAT(worker_->ListJobs(), SizeIs(4));
}

TEST_F(SeveralDevicesTest, TheOneWithTheFewestJobsIsTaken) {
  const auto first = worker_->StartRecord(Waiting(""));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->device, "gpu:0");
  EXPECT_THAT(first->group, IsEmpty());
  EXPECT_EQ(DeviceOf(Waiting("")), "gpu:1");
  EXPECT_EQ(DeviceOf(Waiting("")), "gpu:0");
  EXPECT_EQ(DeviceOf(Waiting("gpu:1")), "gpu:1");
  EXPECT_EQ(DeviceOf(Waiting("gpu:1")), "gpu:1");
  EXPECT_EQ(DeviceOf(Waiting("")), "gpu:0");
  // Those that have ended do not count.
  for (const Job& job : worker_->ListJobs()) ASSERT_TRUE(worker_->CancelJob(job.name).ok());
  for (const Job& job : worker_->ListJobs()) AwaitEnd(job);
  EXPECT_EQ(DeviceOf(Waiting("")), "gpu:0");
}

TEST_F(SeveralDevicesTest, AnotherDeviceIsRefusedWithThoseThereAre) {
  const absl::Status refused = worker_->StartRecord(FourBlocks("gpu:2")).status();
  ASSERT_TRUE(services::ReasonOf(refused).has_value()) << refused;
  EXPECT_EQ(services::ReasonOf(refused)->reason, "ARGUMENT_INVALID");
  EXPECT_EQ(services::ReasonOf(refused)->metadata.at("field"), "device");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("\"gpu:2\", only gpu:0, gpu:1"));
  EXPECT_THAT(worker_->ListJobs(), IsEmpty());
}

TEST_F(SeveralDevicesTest, ARepeatedRequestHasTheSameJobs) {
  const auto first = worker_->StartRecord(Waiting("all", "id"));
  const auto again = worker_->StartRecord(Waiting("all", "id"));
  ASSERT_TRUE(first.ok() && again.ok()) << first.status() << again.status();
  EXPECT_EQ(first->name, again->name);
  EXPECT_EQ(first->group, again->group);
  EXPECT_THAT(worker_->ListJobs(), SizeIs(2));
}

TEST_F(SeveralDevicesTest, WhereOneCannotStartTheOthersAreCancelled) {
  devices_[1]->broken = absl::ResourceExhaustedError("no streams left");
  const absl::Status refused = worker_->StartRecord(Waiting("all", "id")).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), StartsWith("gpu:1: no streams left"));
  ASSERT_THAT(worker_->ListJobs(), SizeIs(1));
  const Job cancelled = AwaitEnd(worker_->ListJobs()[0]);
  EXPECT_EQ(cancelled.state, JobState::kCancelled);
  // It was no job that the request got: the next time it gets two.
  devices_[1]->broken = absl::OkStatus();
  const auto first = worker_->StartRecord(Waiting("all", "id"));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_NE(first->name, cancelled.name);
  EXPECT_THAT(worker_->ListJobs(), SizeIs(3));
}

TEST_F(SeveralDevicesTest, WhatHasFailedIsNotChosen) {
  EXPECT_EQ(DeviceOf(Waiting("gpu:1")), "gpu:1");
  ASSERT_FALSE(devices_[0]->health().Note(services::DeviceFailed("", "an ECC error")).ok());
  EXPECT_EQ(DeviceOf(Waiting("")), "gpu:1") << "where there is more to do";
  EXPECT_EQ(ReasonOf(worker_->StartRecord(Waiting("gpu:0")).status()), "DEVICE_FAILED");
  EXPECT_EQ(ReasonOf(worker_->StartRecord(Waiting("all")).status()), "DEVICE_FAILED");
  EXPECT_TRUE(worker_->Health().ok()) << "it still takes jobs";
  EXPECT_THAT(worker_->Describe().memory[0].status, HasSubstr("an ECC error"));
  EXPECT_EQ(worker_->Describe().memory[1].status, "asked for");
  ASSERT_FALSE(devices_[1]->health().Note(services::DeviceFailed("", "another")).ok());
  EXPECT_EQ(ReasonOf(worker_->Health()), "DEVICE_FAILED");
  EXPECT_EQ(ReasonOf(worker_->StartRecord(Waiting("")).status()), "DEVICE_FAILED");
}

TEST_F(SeveralDevicesTest, APlaybackNamesItsDevice) {
  const auto recorded = worker_->StartRecord(FourBlocks("gpu:0"));
  const std::string recording = AwaitEnd(recorded).recording;
  const auto played = worker_->StartPlayback(
      {.transfer = {.storage = "node:1", .target = recording, .device = "gpu:1"},
       .sink = {"verify"}});
  ASSERT_TRUE(played.ok()) << played.status();
  EXPECT_EQ(played->device, "gpu:1");
  const std::vector<Job> jobs = Ended();
  EXPECT_EQ(jobs.back().state, JobState::kSucceeded) << jobs.back().error;
  EXPECT_EQ(jobs.back().blocks, 4u);
}

TEST_F(SeveralDevicesTest, EachIsDescribedAndExamined) {
  std::vector<std::string> memory;
  for (const auto& kind : worker_->Describe().memory) memory.push_back(kind.device);
  EXPECT_THAT(memory, ElementsAre("gpu:0", "gpu:1", "host"));
  EXPECT_THAT(worker_->Describe().memory[1].rungs, SizeIs(3))
      << "by direction of one rail, and doorbells";
  std::vector<std::string> checks;
  for (const auto& check : worker_->DoctorChecks()) checks.push_back(check.name);
  EXPECT_THAT(checks, ElementsAre("device gpu:0", "device gpu:1"));
  services::telemetry::Page page;
  worker_->AddMetrics(page);
  for (const char* device : {"gpu:0", "gpu:1"}) {
    EXPECT_THAT(page.Text(), HasSubstr(absl::StrCat("tapedeck_device_info{device=\"", device)));
    EXPECT_THAT(page.Text(), HasSubstr(absl::StrCat("tapedeck_ladder_rung_info{device=\"", device,
                                                    "\",rail=\"r0\",direction=\"record\"")));
  }
}

}  // namespace
}  // namespace tapedeck::gpu_worker
