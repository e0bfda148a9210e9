#include "gpu_worker/job/job_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "services/base/errors.h"
#include "services/rpc/convert/codecs.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::gpu_worker::job {
namespace {

using services::Job;
using services::JobState;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class JobHistoryTest : public testing::Test {
 protected:
  std::unique_ptr<JobHistory> Open() {
    return JobHistory::Open(state_, services::convert::JobMessages());
  }

  // A run of the worker that ends in order, with these jobs.
  void Run(PastJobs jobs) {
    const auto history = Open();
    history->Watch([jobs] { return jobs; });
    history->Changed();
  }

  std::string Text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  size_t Files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(state_), {}));
  }

  static Job Ended(uint64_t number) {
    return {.name = "jobs/" + std::to_string(number),
            .state = JobState::kSucceeded,
            .blocks = 7,
            .total_blocks = 7,
            .progress = 1,
            .start_time_ns = 1,
            .end_time_ns = 2,
            .target = "luns/l/channels/c",
            .notes = {services::MakeNote("STOPPED", "a note", {{"seconds", "1.5"}})}};
  }

  storage_node::TempDir dir_;
  const std::string state_ = dir_.Make("state");
  const std::string path_ = state_ + "/jobs";
};

TEST_F(JobHistoryTest, JobsAndNumbersAreThereAgain) {
  Run({.number = 9, .jobs = {Ended(9), Ended(8)}});
  const PastJobs past = Open()->past();
  EXPECT_EQ(past.number, 9u);
  ASSERT_THAT(past.jobs, ElementsAre(Field(&Job::name, "jobs/9"), Field(&Job::name, "jobs/8")));
  EXPECT_EQ(past.jobs[0].target, "luns/l/channels/c");
  EXPECT_EQ(past.jobs[0].total_blocks, 7u);
  EXPECT_EQ(past.jobs[0].notes, Ended(9).notes);
  EXPECT_EQ(Files(), 1u);
}

TEST_F(JobHistoryTest, AJobThatRanIsOneThatBrokeOff) {
  const std::string recording = "luns/l/channels/c/recordings/r";
  Job running = Ended(3);
  running.state = JobState::kRunning;
  running.recording = recording;
  running.blocks = 429;
  running.end_time_ns = 0;
  Run({.number = 3, .jobs = {running}});
  const PastJobs past = Open()->past();
  ASSERT_THAT(past.jobs, SizeIs(1));
  EXPECT_EQ(past.jobs[0].state, JobState::kFailed);
  EXPECT_EQ(past.jobs[0].end_time_ns, 0) << "nobody knows when";
  EXPECT_EQ(past.jobs[0].progress, std::nullopt) << "nor how far";
  const std::string error(past.jobs[0].error.message());
  EXPECT_THAT(error, AllOf(HasSubstr("at least 429 blocks"), HasSubstr("show " + recording)));
  Run(past);
  EXPECT_EQ(Open()->past().jobs[0].error.message(), error) << "it stays as it is";
}

TEST_F(JobHistoryTest, OfAJobThatBrokeOffAtOnceNoRecordingIsKnown) {
  Job starting = Ended(3);
  starting.state = JobState::kStarting;
  starting.blocks = 0;
  starting.end_time_ns = 0;
  Run({.number = 3, .jobs = {starting}});
  EXPECT_THAT(std::string(Open()->past().jobs.at(0).error.message()),
              AllOf(HasSubstr("its recording is not known"), Not(HasSubstr("0 blocks"))));
}

TEST_F(JobHistoryTest, AKilledWorkerLeavesNumbersOutAndGivesNoneAgain) {
  auto history = Open();
  history->Watch([] { return PastJobs{.number = 5}; });
  EXPECT_GE(Open()->past().number, 5 + JobHistory::kAhead) << "the other one has not ended";
  history->Close();
  EXPECT_EQ(Open()->past().number, 5u);
}

TEST_F(JobHistoryTest, TheNewestAreKept) {
  PastJobs many{.number = 1000};
  for (uint64_t i = 1000; i > 0; --i) many.jobs.push_back(Ended(i));
  Run(many);
  const PastJobs past = Open()->past();
  ASSERT_THAT(past.jobs, SizeIs(JobHistory::kKept));
  EXPECT_EQ(past.jobs.front().name, "jobs/1000");
}

// Each byte that is cut off or changed: a list, or kept aside; never a lower number.
TEST_F(JobHistoryTest, WhatCannotBeReadIsKeptAside) {
  Run({.number = 9, .jobs = {Ended(9)}});
  const std::string whole = Text();
  for (size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    std::ofstream(path_, std::ios::trunc) << whole.substr(0, bytes);
    const auto history = Open();
    EXPECT_GT(history->past().number, 1'000'000'000u) << bytes;
    EXPECT_THAT(history->past().jobs, IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
  EXPECT_GE(Files(), 1u);
}

TEST_F(JobHistoryTest, AJobWithANumberThatWasNotGivenIsNotBelieved) {
  Run({.number = 9, .jobs = {Ended(10)}});
  EXPECT_THAT(Open()->past().jobs, IsEmpty());
  Run({.number = 9, .jobs = {Ended(9), Ended(9)}});
  EXPECT_THAT(Open()->past().jobs, IsEmpty());
}

TEST_F(JobHistoryTest, ADirectoryThatCannotBeUsedIsNoReasonNotToStart) {
  std::ofstream(state_ + "/file") << "no directory";
  const auto history = JobHistory::Open(state_ + "/file/below", services::convert::JobMessages());
  history->Watch([] { return PastJobs{.number = 5}; });
  history->Changed();
  history->Close();
  EXPECT_EQ(history->past().number, 0u);
  const auto none = JobHistory::Open("", services::convert::JobMessages());
  none->Watch([] { return PastJobs{.number = 5}; });
  none->Changed();
}

}  // namespace
}  // namespace tapedeck::gpu_worker::job
