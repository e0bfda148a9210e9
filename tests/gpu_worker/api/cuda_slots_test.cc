// Slots of a program's kernels on a GPU: streams, many of them, graphs, and what a program can get
// wrong.

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <fstream>

#include "absl/strings/match.h"
#include "dataplane/memory/cuda/status.h"
#include "tests/gpu_worker/api/kernels.h"
#include "tests/gpu_worker/api/slot_fixture.h"

namespace tapedeck::gpu_worker::api {
namespace {

using dataplane::cuda::FindDriverFunction;

class CudaSlotsTest : public SlotFixture {
 protected:
  void SetUp() override {
    auto device = pipeline::ChooseDevice("cuda:0");
    if (!device.ok()) GTEST_SKIP() << device.status().message();
    Start(Where::kInRing, ProxyMode::kPerformance, 1ull << 30);
    UseDevice(*std::move(device));
    for (auto& stream : streams_) {
      ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    }
    ASSERT_EQ(cudaMallocManaged(&seen_, sizeof *seen_), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&number_, sizeof *number_), cudaSuccess);
    ASSERT_EQ(cudaMemset(number_, 0, sizeof *number_), cudaSuccess);
    *seen_ = {};
  }
  void TearDown() override {
    if (IsSkipped()) return;
    for (const auto stream : streams_) {
      if (stream != nullptr) cudaStreamDestroy(stream);
    }
    cudaFree(seen_);
    cudaFree(number_);
    SlotFixture::TearDown();
  }

  cudaStream_t first() const { return streams_[0]; }

  void SendFilled(RecordSlots& slots, cudaStream_t stream) {
    const auto slot = slots.Acquire(stream);
    ASSERT_TRUE(slot.ok()) << slot.status();
    LaunchFill(slot->data, kBlock, slot->number, stream);
    ASSERT_TRUE(slots.Send(stream, *slot, kBlock).ok());
  }
  void TakeChecked(PlaySlots& slots, cudaStream_t stream) {
    const auto slot = slots.Next(stream);
    ASSERT_TRUE(slot.ok()) << slot.status();
    LaunchCheck(slot->data, slot->info, seen_, stream);
    ASSERT_TRUE(slots.Release(stream, *slot).ok());
  }
  std::string RecordByStreams(uint64_t blocks, size_t streams, uint32_t ring = 64) {
    const auto session = OpenRecorder(ring).value();
    for (uint64_t i = 0; i < blocks; ++i) SendFilled(*session->record(), streams_[i % streams]);
    return Finish(*session);
  }
  void ExpectAll(uint64_t blocks) {
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(seen_->blocks, blocks);
    EXPECT_EQ(seen_->wrong, 0u);
  }

  cudaStream_t streams_[32] = {};
  Seen* seen_ = nullptr;
  uint64_t* number_ = nullptr;
};

TEST_F(CudaSlotsTest, OfOneStream) {
  const auto player = OpenPlayer(RecordByStreams(500, 1)).value();
  for (int i = 0; i < 510; ++i) TakeChecked(*player->play(), first());
  ExpectAll(500);
  EXPECT_EQ(seen_->ends, 10u);
  player->Close(Soon());
}

TEST_F(CudaSlotsTest, OfThirtyTwoStreamsAtOnce) {
  const auto player = OpenPlayer(RecordByStreams(640, 32), 64).value();
  for (int i = 0; i < 640; ++i) TakeChecked(*player->play(), streams_[i % 32]);
  ExpectAll(640);
  player->Close(Soon());
}

TEST_F(CudaSlotsTest, InTheOrderOfTheHost) {
  const auto session = OpenRecorder(8).value();
  for (uint64_t i = 0; i < 50; ++i) {
    const Slot slot = session->record()->AcquireNow(Soon()).value();
    LaunchFill(slot.data, kBlock, slot.number, first());
    ASSERT_EQ(cudaStreamSynchronize(first()), cudaSuccess);
    ASSERT_TRUE(session->record()->SendNow(slot, kBlock).ok());
  }
  const auto player = OpenPlayer(Finish(*session)).value();
  for (uint64_t i = 0; i < 50; ++i) {
    const Slot slot = player->play()->NextNow(Soon()).value();
    ASSERT_NE(slot.data, nullptr);
    LaunchCheck(slot.data, slot.info, seen_, first());
    ASSERT_EQ(cudaStreamSynchronize(first()), cudaSuccess);
    ASSERT_TRUE(player->play()->ReleaseNow(slot).ok());
  }
  ExpectAll(50);
  player->Close(Soon());
}

TEST_F(CudaSlotsTest, InAGraphThatIsLaunchedAgainAndAgain) {
  const auto session = OpenRecorder(8).value();
  RecordSlots& slots = *session->record();
  ASSERT_EQ(cudaStreamBeginCapture(first(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  for (int i = 0; i < 6; ++i) {  // fewer than the ring has
    const Slot slot = slots.Acquire(first()).value();
    LaunchFillNext(slot.data, kBlock, number_, first());
    ASSERT_TRUE(slots.Send(first(), slot, kBlock).ok());
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launchable = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(first(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&launchable, graph, 0), cudaSuccess);
  EXPECT_EQ(ReasonOf(slots.Acquire(first()).status()), "ARGUMENT_INVALID");
  for (int i = 0; i < 20; ++i) ASSERT_EQ(cudaGraphLaunch(launchable, first()), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(first()), cudaSuccess);
  const std::string recording = Finish(*session);

  const auto player = OpenPlayer(recording, 8).value();
  ASSERT_EQ(cudaStreamBeginCapture(first(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  for (size_t i = 0; i < player->play()->slots(); ++i) TakeChecked(*player->play(), first());
  ASSERT_EQ(cudaStreamEndCapture(first(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&launchable, graph, 0), cudaSuccess);
  for (int i = 0; i < 16; ++i) ASSERT_EQ(cudaGraphLaunch(launchable, first()), cudaSuccess);
  ExpectAll(120);
  EXPECT_EQ(seen_->ends, 8u);
  player->Close(Soon());
}

TEST_F(CudaSlotsTest, AGraphOfFewerSlotsThanThePlayerHasIsToldSo) {
  const auto player = OpenPlayer(RecordByStreams(100, 1), 8).value();
  ASSERT_EQ(cudaStreamBeginCapture(first(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  for (int i = 0; i < 5; ++i) TakeChecked(*player->play(), first());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launchable = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(first(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&launchable, graph, 0), cudaSuccess);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(cudaGraphLaunch(launchable, first()), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(first()), cudaSuccess);  // they do not wait for ever
  EXPECT_EQ(ReasonOf(player->play()->status()), "ARGUMENT_INVALID") << player->play()->status();
  player->Close(Soon());
}

TEST_F(CudaSlotsTest, MisuseIsRefusedByName) {
  const auto session = OpenRecorder(8).value();
  RecordSlots& slots = *session->record();
  EXPECT_EQ(ReasonOf(slots.Acquire(nullptr).status()), "ARGUMENT_INVALID");
  const Slot slot = slots.Acquire(first()).value();
  EXPECT_EQ(ReasonOf(slots.Send(first(), slot, kBlock + 8)), "ARGUMENT_INVALID");
  ASSERT_TRUE(slots.Send(first(), slot, kBlock).ok());
  EXPECT_EQ(ReasonOf(slots.Send(first(), slot, kBlock)), "ARGUMENT_INVALID");
  session->Close(Soon());
}

TEST_F(CudaSlotsTest, AStreamOfAnotherDeviceIsRefusedByName) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  if (devices < 2) GTEST_SKIP() << "this machine has one GPU";
  const auto session = OpenRecorder(8).value();
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const absl::Status refused = session->record()->Acquire(stream).status();
  EXPECT_EQ(ReasonOf(refused), "ARGUMENT_INVALID") << refused;
  int now = -1;
  EXPECT_EQ(cudaGetDevice(&now), cudaSuccess);
  EXPECT_EQ(now, 1);  // the library leaves the caller's device alone
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  session->Close(Soon());
}

TEST_F(CudaSlotsTest, AStreamOfAnotherContextIsRefusedByName) {
  const auto session = OpenRecorder(8).value();
  PFN_cuCtxCreate_v3020 make_context = nullptr;
  PFN_cuCtxDestroy_v4000 delete_context = nullptr;
  PFN_cuCtxGetCurrent_v4000 get_current = nullptr;
  PFN_cuStreamCreate_v2000 make_stream = nullptr;
  ASSERT_TRUE(FindDriverFunction("cuCtxCreate", 3020, &make_context).ok());
  ASSERT_TRUE(FindDriverFunction("cuCtxDestroy", 4000, &delete_context).ok());
  ASSERT_TRUE(FindDriverFunction("cuCtxGetCurrent", 4000, &get_current).ok());
  ASSERT_TRUE(FindDriverFunction("cuStreamCreate", 2000, &make_stream).ok());
  CUcontext own = nullptr;
  CUstream stream = nullptr;
  ASSERT_EQ(make_context(&own, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(make_stream(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  const absl::Status refused = session->record()->Acquire(stream).status();
  EXPECT_EQ(ReasonOf(refused), "ARGUMENT_INVALID") << refused;
  CUcontext now = nullptr;
  EXPECT_EQ(get_current(&now), CUDA_SUCCESS);
  EXPECT_EQ(now, own);  // the library leaves the caller's context alone
  EXPECT_EQ(delete_context(own), CUDA_SUCCESS);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  session->Close(Soon());
}

// The ring is full and streams wait for slots of it as the session is lost. The slots hold what
// they held, so that what the session still sends of them is right.
TEST_F(CudaSlotsTest, ALostSessionFreesEveryStream) {
  const auto session = OpenRecorder(8).value();
  RecordSlots& slots = *session->record();
  HoldNode();
  for (int i = 0; i < 24; ++i) {
    const Slot slot = slots.Acquire(streams_[i]).value();
    ASSERT_TRUE(slots.Send(streams_[i], slot, kBlock).ok());
  }
  EXPECT_EQ(cudaStreamQuery(streams_[23]), cudaErrorNotReady);
  slots.Fail(absl::UnavailableError("the node is gone"));
  for (const auto stream : streams_) ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(*slots.control().failed(), 1u);
  LetNodeGo();
  session->Close(Soon());
}

TEST_F(CudaSlotsTest, AGraphThatSendsLessThanItAcquiresIsToldSo) {
  const auto session = OpenRecorder(8).value();
  RecordSlots& slots = *session->record();
  ASSERT_EQ(cudaStreamBeginCapture(first(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  for (int i = 0; i < 4; ++i) SendFilled(slots, first());
  ASSERT_TRUE(slots.Acquire(first()).ok());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launchable = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(first(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&launchable, graph, 0), cudaSuccess);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(cudaGraphLaunch(launchable, first()), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(first()), cudaSuccess);
  EXPECT_EQ(ReasonOf(slots.status()), "ARGUMENT_INVALID") << slots.status();
  session->Close(Soon());
}

size_t Threads() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    size_t threads = 0;
    if (word == "Threads:" && status >> threads) return threads;
  }
  return 0;
}

TEST_F(CudaSlotsTest, AHundredTimesLeaveNothing) {
  const std::string recording = RecordByStreams(8, 1);
  const auto once = [&] {
    const auto recorder = OpenRecorder(8).value();
    SendFilled(*recorder->record(), first());
    Finish(*recorder);
    const auto player = OpenPlayer(recording).value();
    TakeChecked(*player->play(), first());
    player->Close(Soon());
  };
  for (int i = 0; i < 5; ++i) once();
  size_t free_before = 0;
  size_t free_after = 0;
  size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_before, &total), cudaSuccess);
  const size_t threads = Threads();
  for (int i = 0; i < 100; ++i) once();
  ASSERT_EQ(cudaMemGetInfo(&free_after, &total), cudaSuccess);
  EXPECT_LE(free_before, free_after + (8 << 20));
  EXPECT_LE(Threads(), threads + 1);
}

// The last of the file: nothing of CUDA works in this process behind it.
TEST_F(CudaSlotsTest, ZAContextThatIsDestroyedUnderTheLibraryIsToldSo) {
  const auto session = OpenRecorder(8).value();
  SendFilled(*session->record(), first());
  ASSERT_EQ(cudaStreamSynchronize(first()), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  const absl::Status told = session->record()->Acquire(first()).status();
  EXPECT_EQ(ReasonOf(told), "DEVICE_FAILED") << told;
  session->Close(Soon());
  // Went with the context, and must not be named to the driver again.
  for (auto& stream : streams_) stream = nullptr;
  seen_ = nullptr;
  number_ = nullptr;
}

}  // namespace
}  // namespace tapedeck::gpu_worker::api
