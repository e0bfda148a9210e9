// Whole jobs of a worker on every device that this machine has: samples come back bit by bit,
// memory that is refused and jobs that are cancelled or fail leave nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dataplane/now.h"
#include "tests/gpu_worker/device/devices.h"
#include "tests/gpu_worker/job/gpu_faults.h"
#include "tests/gpu_worker/job/worker_fixture.h"
#include "tests/scratch_file.h"

namespace tapedeck::gpu_worker {
namespace {

using services::JobState;

constexpr uint64_t kRoundTripBlocks = 40;

class HostileTest : public WorkerFixture, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    auto device = pipeline::ChooseDevice(GetParam());
    if (!device.ok()) GTEST_SKIP() << device.status().message();
    device_of_worker_ = device->device.get();
    StartWorker(*std::move(device));
  }

  void Forget(const services::Job& job) {
    const absl::Status gone = node_->recordings().DeleteRecording(job.recording);
    EXPECT_TRUE(gone.ok() || ReasonOf(gone) == "RECORDING_NOT_FOUND") << gone;
  }

  device::Device* device_of_worker_ = nullptr;
};

TEST_P(HostileTest, WhatIsRecordedAndPlayedIsTheSameToTheBit) {
  const services::Job synth = AwaitEnd(Record(kRoundTripBlocks));
  ASSERT_TRUE(synth.error.ok()) << synth.error;
  EXPECT_EQ(synth.blocks, kRoundTripBlocks);
  const services::Job verified = AwaitEnd(Play(synth.recording));
  EXPECT_TRUE(verified.error.ok()) << verified.error;
  EXPECT_EQ(verified.blocks, kRoundTripBlocks);

  std::mt19937 random(1);
  std::string bytes(kRoundTripBlocks * kTestBlockBytes + 8008, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  const std::string from = ScratchPath("from"), to = ScratchPath("to");
  std::ofstream(from, std::ios::binary) << bytes;
  const services::Job recorded = AwaitEnd(Record(kRoundTripBlocks + 1, FileSource(from)));
  ASSERT_TRUE(recorded.error.ok()) << recorded.error;
  const services::Job played = AwaitEnd(Play(recorded.recording, FileSink(to, /*replace=*/true)));
  EXPECT_TRUE(played.error.ok()) << played.error;
  EXPECT_TRUE(ReadFile(to) == bytes);
}

// All that the device has, in ever smaller pieces.
TEST_P(HostileTest, MemoryThatTheDeviceRefusesFailsOneJobAlone) {
  if (device_of_worker_->info().works_in_host_memory) {
    GTEST_SKIP() << "the memory of this machine is not taken away; FailedDeviceTest refuses it";
  }
  std::vector<std::unique_ptr<dataplane::Memory>> taken;
  for (size_t bytes = size_t{64} << 30; bytes >= 1 << 20;) {
    auto memory = device_of_worker_->NewDeviceMemory(bytes);
    if (memory.ok()) {
      taken.push_back(*std::move(memory));
    } else {
      EXPECT_EQ(ReasonOf(memory.status()), "LIMIT_REACHED");
      bytes /= 2;
    }
  }
  EXPECT_EQ(ReasonOf(Record(kRoundTripBlocks).status()), "LIMIT_REACHED");
  EXPECT_TRUE(worker_->Health().ok());
  taken.clear();
  const services::Job recorded = AwaitEnd(Record(kRoundTripBlocks));
  EXPECT_TRUE(recorded.error.ok()) << recorded.error;
}

// What a process holds that a job may have left.
struct Held {
  size_t threads = 0;
  size_t descriptors = 0;
  size_t locked_kib = 0;
  size_t pinned_kib = 0;

  bool operator==(const Held&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Held& held) {
    return out << held.threads << " threads, " << held.descriptors << " descriptors, "
               << held.locked_kib << " KiB locked, " << held.pinned_kib << " KiB pinned";
  }
};

Held HeldNow() {
  Held held;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    const std::pair<std::string, std::string> field = absl::StrSplit(line, absl::MaxSplits(':', 1));
    const std::string number(absl::StripSuffix(absl::StripAsciiWhitespace(field.second), " kB"));
    const std::pair<const char*, size_t*> wanted[] = {
        {"Threads", &held.threads}, {"VmLck", &held.locked_kib}, {"VmPin", &held.pinned_kib}};
    for (const auto& [name, into] : wanted) {
      EXPECT_TRUE(field.first != name || absl::SimpleAtoi(number, into)) << line;
    }
  }
  for ([[maybe_unused]] const auto& fd : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++held.descriptors;
  }
  return held;
}

class LeftoverTest : public HostileTest {
 protected:
  void Whole() {
    const services::Job job = AwaitEnd(Record(4));
    ASSERT_TRUE(job.error.ok()) << job.error;
    const services::Job played = AwaitEnd(Play(job.recording));
    EXPECT_TRUE(played.error.ok()) << played.error;
    Forget(job);
  }

  // In full swing, with blocks on the device.
  void Cancelled() {
    const auto job = Record();
    ASSERT_TRUE(job.ok()) << job.status();
    ASSERT_GE(AwaitBlocks(*job, 1).blocks, 1u);
    ASSERT_TRUE(worker_->CancelJob(job->name).ok());
    const services::Job ended = AwaitEnd(job);
    EXPECT_EQ(ended.state, JobState::kCancelled);
    EXPECT_EQ(ReasonOf(ended.error), "JOB_CANCELLED");
    Forget(ended);
  }

  void Failed() {
    const services::Job job =
        AwaitEnd(Record(4, {"ingest", {{"udp", "127.0.0.1:0"}, {"timeout", 0.001}}}));
    EXPECT_EQ(job.state, JobState::kFailed);
    EXPECT_EQ(ReasonOf(job.error), "SOURCE_SILENT");
    Forget(job);
  }

  // What the node refuses once all of the job has been made.
  void Refused() { EXPECT_FALSE(Play("luns/l/channels/c/recordings/none").ok()); }

  // As many jobs, of each kind.
  void Jobs(int count) {
    for (int i = 0; i < count / 5; ++i) {
      Whole();
      Cancelled();
      Failed();
      Refused();
    }
  }

  // Once what ended jobs let go of in the background is gone.
  static Held Settled(const std::function<bool(const Held&)>& as_expected) {
    const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(30);
    Held held = HeldNow();
    while (!as_expected(held) && dataplane::SteadyTime() < deadline) {
      absl::SleepFor(absl::Milliseconds(20));
      held = HeldNow();
    }
    return held;
  }
};

TEST_P(LeftoverTest, AHundredJobsLeaveNothing) {
  Jobs(10);
  int same = 0;
  const Held before = Settled([&, last = Held()](const Held& held) mutable {
    same = std::exchange(last, held) == held ? same + 1 : 0;
    return same > 20;
  });
  const size_t gpu_before = FreeGpuBytes();
  Jobs(100);
  EXPECT_EQ(Settled([&](const Held& held) { return held == before; }), before);
  // Less than what one job has on its device.
  EXPECT_LT(gpu_before - std::min(gpu_before, FreeGpuBytes()), size_t{16} << 20);
  EXPECT_EQ(worker_->Stats().sessions, 0u);
}

TAPEDECK_ON_EVERY_DEVICE(HostileTest);
TAPEDECK_ON_EVERY_DEVICE(LeftoverTest);

// A worker of a process whose GPU fails: a child, as nothing on the GPU works there any more.
class FailedGpu final : public WorkerFixture {
 public:
  static void RunAndExit() {
    alarm(120);  // ends what hangs
    {
      FailedGpu scene;
      scene.Run();
      scene.TearDown();
    }
    std::exit(HasFailure() ? 1 : 0);
  }

 private:
  void TestBody() override {}

  void Run() {
    StartWorker(pipeline::ChooseDevice("cuda:0").value());
    const auto job = Record();
    ASSERT_TRUE(job.ok()) << job.status();
    ASSERT_GE(AwaitBlocks(*job, 10).blocks, 10u);
    WriteWhereNothingIs();
    const services::Job ended = AwaitEnd(job);
    EXPECT_EQ(ended.state, JobState::kFailed);
    EXPECT_EQ(ReasonOf(ended.error), "DEVICE_FAILED") << ended.error;
    EXPECT_THAT(std::string(ended.error.message()),
                testing::AllOf(testing::HasSubstr("cudaErrorIllegalAddress"),
                               testing::HasSubstr("restart the worker")));
    EXPECT_EQ(Record(1).status(), ended.error);
    EXPECT_EQ(Play(ended.recording).status(), ended.error);
    EXPECT_EQ(worker_->Health(), ended.error);
    EXPECT_THAT(worker_->Describe().memory.at(0).status, testing::HasSubstr("restart"));
  }
};

TEST(CudaFailureTest, AWorkerWhoseGpuFailsRefusesJobsAndEnds) {
  if (const auto device = pipeline::ChooseDevice("cuda:0"); !device.ok()) {
    GTEST_SKIP() << device.status().message();
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(FailedGpu::RunAndExit(), testing::ExitedWithCode(0), "has failed: ");
}

}  // namespace
}  // namespace tapedeck::gpu_worker
