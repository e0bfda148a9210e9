// A channel of a real storage node as the peer of kernels, or of threads of the CPU in their place.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "absl/strings/match.h"
#include "tests/gpu_worker/api/slot_fixture.h"
#include "tests/gpu_worker/sockets/blocks.h"
#include "tests/gpu_worker/sockets/channel_programs.h"

namespace tapedeck::gpu_worker::api {
namespace {

using sockets::Blocks;
using sockets::Channel;
using sockets::ChannelCalls;
using sockets::ChannelProgram;
using sockets::kChannelResults;

constexpr uint32_t kMostBlocks = 16;

class KernelChannelTest : public SlotFixture, public testing::WithParamInterface<const char*> {
 protected:
  bool on_gpu() const { return GetParam() == std::string("cuda:0"); }

  // Everything is there before a kernel starts.
  void SetUp() override {
    if (on_gpu()) {
      auto device = pipeline::ChooseDevice("cuda:0");
      if (!device.ok()) GTEST_SKIP() << device.status().message();
      Start(Where::kInRing);
      UseDevice(*std::move(device));
      ASSERT_EQ(sockets::LoadOnGpu<ChannelCalls>(), "");
    } else {
      Start(GetParam() == std::string("ring") ? Where::kInRing : Where::kBeside);
    }
    auto shared = device_.device->NewHostMemory(4096 + kMostBlocks * kChannelResults * 8);
    ASSERT_TRUE(shared.ok()) << shared.status();
    shared_ = *std::move(shared);
    std::memset(shared_->window().bytes.data(), 0, shared_->window().bytes.size());
    recorder_ = OpenRecorder(8).value();
    channel_ = slots().GiveToKernels().value();
  }
  void TearDown() override {
    if (IsSkipped()) return;
    if (recorder_ != nullptr) recorder_->Close(Soon());
    recorder_ = nullptr;
    SlotFixture::TearDown();
  }

  RecordSlots& slots() { return *recorder_->record(); }
  int64_t* results() { return reinterpret_cast<int64_t*>(shared_->window().bytes.data() + 4096); }

  ChannelCalls Calls(ChannelProgram program) {
    return {.program = program,
            .channel = channel_,
            .last_bytes = kBlock,
            .results = results(),
            .go_on = reinterpret_cast<uint32_t*>(shared_->window().bytes.data())};
  }
  void RunOnce(const ChannelCalls& calls, uint32_t blocks = 1) {
    Blocks run(on_gpu(), calls, blocks);
    ASSERT_EQ(run.Join(), "");
  }
  std::string FinishRecording() {
    const std::string recording = Finish(*recorder_);
    recorder_ = nullptr;
    return recording;
  }
  // On the host, by whatever device.
  void ExpectBlocks(const std::string& recording, uint64_t blocks, size_t last_bytes) {
    UseDevice(pipeline::ChooseDevice("host").value());
    const auto player = OpenPlayer(recording).value();
    for (uint64_t i = 0; i < blocks; ++i) {
      const Slot slot = player->play()->NextNow(Soon()).value();
      ASSERT_NE(slot.data, nullptr) << i;
      ASSERT_EQ(slot.bytes, i + 1 == blocks ? last_bytes : kBlock);
      ASSERT_TRUE(Holds(slot.data, i, slot.bytes)) << i;
      ASSERT_TRUE(player->play()->ReleaseNow(slot).ok());
    }
    EXPECT_EQ(player->play()->NextNow(Soon()).value().data, nullptr);
    player->Close(Soon());
  }

  std::unique_ptr<dataplane::Memory> shared_;
  std::shared_ptr<SlotSession> recorder_;
  Channel channel_{};
};

INSTANTIATE_TEST_SUITE_P(Host, KernelChannelTest, testing::Values("ring", "beside"),
                         [](const auto& info) { return std::string(info.param); });
INSTANTIATE_TEST_SUITE_P(Cuda, KernelChannelTest, testing::Values("cuda:0"),
                         [](const auto&) { return "Cuda"; });

TEST_P(KernelChannelTest, BlocksOfManyAreOneRecording) {
  ChannelCalls calls = Calls(ChannelProgram::kFill);
  calls.blocks = 200;
  calls.last_bytes = 9 * kSampleBytes;
  RunOnce(calls, 4);
  int64_t made = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    made += results()[i * kChannelResults];
    EXPECT_TRUE(results()[i * kChannelResults + 1] == -EPIPE ||
                results()[i * kChannelResults + 1] >= 200)
        << results()[i * kChannelResults + 1];
  }
  EXPECT_EQ(made, 200);
  ExpectBlocks(FinishRecording(), 200, 9 * kSampleBytes);
}

TEST_P(KernelChannelTest, ASecondLaunchGoesOnBehindTheFirst) {
  ChannelCalls calls = Calls(ChannelProgram::kWorks);
  *calls.go_on = 1;
  RunOnce(calls);
  RunOnce(calls);
  EXPECT_EQ(results()[0], 2);
  EXPECT_EQ(results()[1], 3);
  EXPECT_TRUE(slots().AwaitSent(Soon()).ok());
  EXPECT_TRUE(recorder_->AwaitCommitted(4, Soon()));
  FinishRecording();
}

TEST_P(KernelChannelTest, EachRefusalHasItsName) {
  RunOnce(Calls(ChannelProgram::kMisuse));
  const std::vector<int64_t> told(results(), results() + kChannelResults);
  EXPECT_EQ(told,
            (std::vector<int64_t>{-EBADF, -EBADF, -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL, 0,
                                  -EBADF, 8, -EAGAIN, -ETIMEDOUT, -EINVAL, 7, -EPIPE, -EPIPE}));
  FinishRecording();
}

TEST_P(KernelChannelTest, ALostSessionIsToldToWhoWaits) {
  HoldNode();
  Blocks run(on_gpu(), Calls(ChannelProgram::kWait), 2);
  absl::SleepFor(absl::Milliseconds(100));
  slots().Fail(absl::UnavailableError("the node is gone"));
  EXPECT_EQ(run.Join(), "");
  for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(results()[i * kChannelResults + 1], -ECONNRESET);
  EXPECT_LE(results()[0] + results()[kChannelResults], 8) << "the node has taken none";
  EXPECT_EQ(slots().status().code(), absl::StatusCode::kUnavailable);
  LetNodeGo();
}

TEST_P(KernelChannelTest, ARecorderThatGoesTellsWhoWaits) {
  Blocks run(on_gpu(), Calls(ChannelProgram::kWait), 2);
  absl::SleepFor(absl::Milliseconds(100));
  recorder_->Close(Soon());
  EXPECT_EQ(run.Join(), "");
  for (uint32_t i = 0; i < 2; ++i) {
    const int64_t told = results()[i * kChannelResults + 1];
    EXPECT_TRUE(told == -EPIPE || told == -ECONNRESET) << told;
    EXPECT_LT(results()[i * kChannelResults + 2], 0);
  }
}

TEST_P(KernelChannelTest, AfterAFinishNothingIsCommitted) {
  const ChannelCalls calls = Calls(ChannelProgram::kWorks);
  Blocks run(on_gpu(), calls, 1);
  EXPECT_TRUE(recorder_->AwaitCommitted(1, Soon()));
  ASSERT_TRUE(slots().Close(Soon()).ok());
  sockets::StoreRelease(calls.go_on, uint32_t{1});
  EXPECT_EQ(run.Join(), "");
  EXPECT_EQ(results()[0], 0);
  EXPECT_EQ(results()[1], -EPIPE);
  const std::string recording = recorder_->snapshot().accept.recording;
  EXPECT_TRUE(recorder_->AwaitEnd(Soon()));
  ExpectBlocks(recording, 1, kBlock);
}

TEST_P(KernelChannelTest, ASlotLeftOutIsNamedAtTheEnd) {
  RunOnce(Calls(ChannelProgram::kHole));
  const absl::Status closed = slots().Close(Soon());
  EXPECT_EQ(ReasonOf(closed), "ARGUMENT_INVALID");
  EXPECT_TRUE(absl::StrContains(closed.message(), "has acquired block 0")) << closed.message();
}

TEST_P(KernelChannelTest, SlotsAreKernelsOrTheProgramsOwn) {
  EXPECT_EQ(ReasonOf(slots().GiveToKernels().status()), "ARGUMENT_INVALID");
  EXPECT_EQ(ReasonOf(slots().AcquireNow(Soon()).status()), "ARGUMENT_INVALID");
  FinishRecording();
  recorder_ = OpenRecorder(8).value();
  ASSERT_TRUE(slots().AcquireNow(Soon()).ok());
  EXPECT_EQ(ReasonOf(slots().GiveToKernels().status()), "ARGUMENT_INVALID");
}

size_t EntriesOf(const char* path) {
  const std::filesystem::directory_iterator folder(path);
  return static_cast<size_t>(std::distance(begin(folder), end(folder)));
}

TEST_P(KernelChannelTest, OpenedAgainAndAgainLeavesNothing) {
  ChannelCalls calls = Calls(ChannelProgram::kWorks);
  *calls.go_on = 1;
  const auto make_one = [&] {
    calls.channel = slots().GiveToKernels().value();
    RunOnce(calls);
    FinishRecording();
    recorder_ = OpenRecorder(8).value();
  };
  FinishRecording();
  recorder_ = OpenRecorder(8).value();
  for (int i = 0; i < 3; ++i) make_one();  // what is kept for ever
  const size_t descriptors = EntriesOf("/proc/self/fd");
  const size_t threads = EntriesOf("/proc/self/task");
  const int more = on_gpu() ? 100 : 20;
  for (int i = 0; i < more; ++i) make_one();
  // Some of the session that is open now may not have been there at the first count.
  constexpr size_t kOfTheLast = 10;
  EXPECT_LT(EntriesOf("/proc/self/fd"), descriptors + kOfTheLast);
  EXPECT_LT(EntriesOf("/proc/self/task"), threads + kOfTheLast);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::api
