#include "gpu_worker/pipeline/memory_ladder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dataplane/ladder/limited_rail.h"
#include "tests/gpu_worker/device/split_device.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::Direction;
using dataplane::MemoryWindow;
using dataplane::ladder::LimitedRails;
using dataplane::ladder::Rung;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Some descriptor; the inproc rails do not look into it.
constexpr int kExported = 0;

absl::Status NoDmaBuf(const MemoryWindow& window) {
  return window.dma_buf_fd < 0 ? absl::OkStatus() : absl::UnimplementedError("no dma-buf here");
}

absl::Status HostOnly(const MemoryWindow& window) {
  return window.host_accessible ? absl::OkStatus() : absl::UnimplementedError("host memory only");
}

class MemoryLadderTest : public testing::Test {
 protected:
  SplitDevice& split() { return static_cast<SplitDevice&>(*choice_.device); }

  pipeline::DeviceChoice choice_ = ChooseSplitDevice(kExported);
  LimitedRails rails_{2};
};

TEST_F(MemoryLadderTest, HostMemoryNeedsNoLadder) {
  pipeline::DeviceChoice host = pipeline::ChooseDevice("host").value();
  pipeline::MemoryLadder ladder(*host.device, rails_.transports());
  EXPECT_THAT(ladder.Describe(), IsEmpty());
  EXPECT_EQ(rails_.rails[0]->domains, 0);
}

TEST_F(MemoryLadderTest, EveryRailAndDirectionHasALine) {
  rails_.rails[1]->refuse = HostOnly;
  pipeline::MemoryLadder ladder(*choice_.device, rails_.transports());
  EXPECT_THAT(ladder.Describe(),
              ElementsAre(StartsWith("r0 record: dma-buf: 4 KiB and whole blocks moved unchanged"),
                          StartsWith("r0 playback: dma-buf: 4 KiB"),
                          "r1 record: host bounce: host memory only",
                          "r1 playback: host bounce: host memory only"));
}

TEST_F(MemoryLadderTest, AJobGetsWhatAllItsRailsCan) {
  rails_.rails[1]->refuse = NoDmaBuf;
  pipeline::MemoryLadder ladder(*choice_.device, rails_.transports());
  const std::vector<dataplane::Transport*> all = rails_.transports();
  EXPECT_EQ(ladder.Choose({all[0]}, Direction::kRecord).rung, Rung::kDmaBuf);
  EXPECT_EQ(ladder.Choose({all[1]}, Direction::kRecord).rung, Rung::kPeerMemory);
  EXPECT_EQ(ladder.Choose(all, Direction::kRecord).rung, Rung::kPeerMemory);
}

TEST_F(MemoryLadderTest, MemoryThatIsNotExportedIsSaidToBe) {
  choice_ = ChooseSplitDevice();
  pipeline::MemoryLadder ladder(*choice_.device, rails_.transports());
  const auto choice = ladder.Choose(rails_.transports(), Direction::kPlayback);
  EXPECT_EQ(choice.rung, Rung::kPeerMemory);
  EXPECT_THAT(ladder.Describe()[0], HasSubstr("dma-buf: the driver exports none"));
}

TEST_F(MemoryLadderTest, WritesThatTheDeviceMayMissRuleOutPlaybackAlone) {
  split().direct()->visible = absl::UnimplementedError("writes are neither ordered nor flushed");
  pipeline::MemoryLadder ladder(*choice_.device, rails_.transports());
  EXPECT_EQ(ladder.Choose(rails_.transports(), Direction::kRecord).rung, Rung::kDmaBuf);
  const auto playback = ladder.Choose(rails_.transports(), Direction::kPlayback);
  EXPECT_EQ(playback.rung, Rung::kBounce);
  EXPECT_THAT(playback.why, HasSubstr("neither ordered nor flushed"));
}

TEST_F(MemoryLadderTest, WritesAreMadeVisibleBeforeTheyAreRead) {
  pipeline::MemoryLadder ladder(*choice_.device, rails_.transports());
  EXPECT_GT(split().direct()->flushes, 0);
}

TEST_F(MemoryLadderTest, ARailThatWasDownIsProbedAgain) {
  rails_.rails[0]->refuse = [](const MemoryWindow&) { return absl::UnavailableError("port down"); };
  pipeline::MemoryLadder ladder(*choice_.device, rails_.transports());
  const std::vector<dataplane::Transport*> first = {rails_.transports()[0]};
  EXPECT_EQ(ladder.Choose(first, Direction::kRecord).rung, Rung::kBounce);
  rails_.rails[0]->refuse = nullptr;
  EXPECT_EQ(ladder.Choose(first, Direction::kRecord).rung, Rung::kDmaBuf);
  const int probed = rails_.rails[0]->domains;
  EXPECT_EQ(ladder.Choose(first, Direction::kRecord).rung, Rung::kDmaBuf);
  EXPECT_EQ(rails_.rails[0]->domains, probed) << "what was found is kept";
  EXPECT_THAT(ladder.Describe()[0], StartsWith("r0 record: dma-buf"));
}

}  // namespace
}  // namespace tapedeck::gpu_worker
