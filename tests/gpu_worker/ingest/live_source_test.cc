// A pipeline whose source has to wait for its samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/executor/event_loop.h"
#include "gpu_worker/pipeline/record_pipeline.h"
#include "tests/gpu_worker/device/devices.h"
#include "tests/gpu_worker/ingest/inlet.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/gpu_worker/pump.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::Flow;
using stages::Filled;
using testing::SizeIs;

class LiveSourceTest : public DeviceTest {
 protected:
  std::unique_ptr<pipeline::RecordPipeline> Pipeline(int64_t duration_ns = 0,
                                                     dataplane::Executor* executor = nullptr) {
    auto work = pipeline::DeviceWork::Create(device(), {.block_bytes = kTestBlockBytes});
    auto ring =
        pipeline::MakeRing(device(), dataplane::ladder::Rung::kBounce, 1, 3, kTestBlockBytes);
    services::RecordSpec spec;
    spec.duration_ns = duration_ns;
    return pipeline::RecordPipeline::Create({.source = std::make_unique<InletSource>(inlet_),
                                             .work = *std::move(work),
                                             .ring = *std::move(ring),
                                             .clock = &clock_,
                                             .executor = executor,
                                             .block_bytes = kTestBlockBytes,
                                             .sample_bytes = 8,
                                             .spec = std::move(spec)})
        .value();
  }

  const dataplane::SystemClock clock_{};
  Inlet inlet_;
};

TEST_P(LiveSourceTest, ItGoesOnWhereItsSourceWakesIt) {
  const auto source = Pipeline();
  Signal signal;
  source->SetWaker(signal.waker());
  dataplane::Block block;
  for (uint64_t i = 0; i < 10; ++i) {
    inlet_.AwaitAsked(static_cast<int>(2 * i) + 1);
    ASSERT_EQ(source->Pull(&block).value(), Flow::kNotNow) << i;
    inlet_.Put({.bytes = kTestBlockBytes});
    while (source->Pull(&block).value() == Flow::kNotNow) ASSERT_TRUE(signal.Wait());
    EXPECT_EQ(block.header().sequence, i);
    EXPECT_EQ(block.payload()[0], static_cast<std::byte>(i + 1));
  }
  inlet_.Put({.flow = Flow::kEnd});
  while (source->Pull(&block).value() == Flow::kNotNow) ASSERT_TRUE(signal.Wait());
  EXPECT_EQ(source->Pull(&block).value(), Flow::kEnd);
}

TEST_P(LiveSourceTest, ASourceWithoutSamplesIsNotAskedAgainAndAgain) {
  const auto source = Pipeline();
  Signal signal;
  source->SetWaker(signal.waker());
  inlet_.AwaitAsked(1);
  for (int i = 0; i < 100; ++i) {  // slots come and go
    dataplane::Block block;
    inlet_.Put({.bytes = kTestBlockBytes});
    while (source->Pull(&block).value() == Flow::kNotNow) ASSERT_TRUE(signal.Wait());
  }
  EXPECT_LE(inlet_.asked(), 3 * 100 + 1);
}

TEST_P(LiveSourceTest, ALostBlockIsMissingInItsPlace) {
  inlet_.Put({.bytes = kTestBlockBytes});
  for (int i = 0; i < 5; ++i) inlet_.Put({.bytes = 0});
  inlet_.Put({.bytes = 4096});
  const auto source = Pipeline();
  const auto blocks = PullAll(*source);
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_THAT(*blocks, SizeIs(7));
  for (size_t i = 0; i < 7; ++i) {
    const dataplane::BlockHeader& header = (*blocks)[i].header;
    EXPECT_EQ(header.sequence, i);
    EXPECT_EQ(header.sample_index, i * kTestBlockBytes / 8);
    EXPECT_EQ(header.flags, i == 0   ? 0u
                            : i == 6 ? dataplane::kBlockPartial
                                     : dataplane::kBlockMissing);
    EXPECT_EQ((*blocks)[i].payload.size(), i == 0 ? kTestBlockBytes : i == 6 ? 4096u : 0u);
  }
}

TEST_P(LiveSourceTest, AStreamThatBreaksOffHasItsLastBlockAndTheCause) {
  inlet_.Put({.bytes = 4096, .end = absl::DeadlineExceededError("silent")});
  const auto source = Pipeline();
  Signal signal;
  source->SetWaker(signal.waker());
  dataplane::Block block;
  while (source->Pull(&block).value() == Flow::kNotNow) ASSERT_TRUE(signal.Wait());
  EXPECT_EQ(block.header().payload_bytes, 4096u);
  absl::StatusOr<Flow> flow = Flow::kNotNow;
  while (flow.ok() && *flow == Flow::kNotNow) {
    dataplane::Block none;
    flow = source->Pull(&none);
    if (flow.ok()) {
      ASSERT_TRUE(signal.Wait());
    }
  }
  EXPECT_EQ(flow.status().message(), "silent");
}

TEST_P(LiveSourceTest, OneThatIsStoppedBeforeItWasAskedHasWhatCame) {
  inlet_.GiveRest();
  inlet_.Put({.bytes = kTestBlockBytes});
  inlet_.Put({.bytes = 4096});
  inlet_.Put({.flow = Flow::kEnd});
  const auto source = Pipeline();
  source->Stop();
  const auto blocks = PullAll(*source);  // it begins here
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_THAT(*blocks, SizeIs(2));
  EXPECT_EQ(blocks->back().payload.size(), 4096u);
}

TEST_P(LiveSourceTest, ADurationEndsWhileTheSourceHasNothing) {
  auto loop = dataplane::EventLoop::Create("session");
  ASSERT_TRUE(loop.ok()) << loop.status();
  auto source = Pipeline(50 * dataplane::kMillisecondNs, loop->get());
  Signal signal;
  source->SetWaker(signal.waker());
  inlet_.Put({.bytes = kTestBlockBytes});
  size_t blocks = 0;
  Flow flow = Flow::kNotNow;
  while (flow != Flow::kEnd) {
    dataplane::Block block;
    flow = source->Pull(&block).value();
    if (flow == Flow::kMoved) ++blocks;
    if (flow == Flow::kNotNow) {
      ASSERT_TRUE(signal.Wait());
    }
  }
  EXPECT_EQ(blocks, 1u);
  (*loop)->RunAndWait([&] { source.reset(); });  // where it lives
}

TEST_P(LiveSourceTest, DestroyedWhileItsSourceHasNothing) {
  auto source = Pipeline();
  Signal signal;
  source->SetWaker(signal.waker());
  inlet_.AwaitAsked(1);
  source.reset();
  inlet_.Put({.bytes = 1});
}

TAPEDECK_ON_EVERY_DEVICE(LiveSourceTest);

}  // namespace
}  // namespace tapedeck::gpu_worker
