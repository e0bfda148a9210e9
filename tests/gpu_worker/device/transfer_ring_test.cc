#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_worker/transfer/ring.h"
#include "tests/dataplane/ladder/limited_rail.h"
#include "tests/gpu_worker/device/split_device.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::MemoryWindow;
using dataplane::RemoteAccess;
using dataplane::ladder::LimitedRails;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kBlockBytes = 64 << 10;

class TransferRingTest : public testing::Test {
 protected:
  absl::StatusOr<transfer::TransferRing> Make(pipeline::DeviceChoice& device,
                                              transfer::RingSettings settings = {}) {
    pipeline::MemoryLadder ladder(*device.device, rails_.transports());
    settings.device = device.device.get();
    settings.ladder = &ladder;
    settings.rails = rails_.transports();
    if (settings.block_bytes == 0) settings.block_bytes = kBlockBytes;
    return transfer::MakeTransferRing(settings);
  }

  pipeline::DeviceChoice host_ = pipeline::ChooseDevice("host").value();
  pipeline::DeviceChoice split_ = ChooseSplitDevice();
  SplitDirect& direct() { return *static_cast<SplitDevice&>(*split_.device).direct(); }
  LimitedRails rails_{2};
};

TEST_F(TransferRingTest, OfTheHostIsRegisteredOnEveryRailAndNeedsNoNote) {
  const auto ring = Make(host_, {.slots = 16});
  ASSERT_TRUE(ring.ok()) << ring.status();
  EXPECT_FALSE(ring->direct());
  EXPECT_EQ(ring->ring->slots(), 16u);
  EXPECT_EQ(ring->registration.domains.size(), 2u);
  EXPECT_EQ(ring->registration.access, RemoteAccess::kRead);
  EXPECT_THAT(ring->notes, IsEmpty());
}

TEST_F(TransferRingTest, TheOpDecidesWhatThePeerMay) {
  using services::session::Direction;
  using enum dataplane::TransferOp;
  const auto access = [&](Direction direction, dataplane::TransferOp op) {
    return Make(host_, {.direction = direction, .op = op})->registration.access;
  };
  EXPECT_EQ(access(Direction::kPlayback, kWrite), RemoteAccess::kWrite);
  EXPECT_EQ(access(Direction::kPlayback, kRead), RemoteAccess::kNone);
  EXPECT_EQ(access(Direction::kRecord, kSend), RemoteAccess::kNone);
}

TEST_F(TransferRingTest, LiesOnTheDeviceWhereEveryRailReachesIt) {
  const auto ring = Make(split_);
  ASSERT_TRUE(ring.ok()) << ring.status();
  EXPECT_TRUE(ring->direct());
  EXPECT_EQ(ring->ring->window().dma_buf_fd, -1);
  EXPECT_THAT(ring->notes,
              ElementsAre(services::Noted("MEMORY_PATH|memory=GPU|path=nvidia-peermem")));
}

TEST_F(TransferRingTest, GoesThroughHostMemoryWhereOneRailDoesNot) {
  rails_.rails[1]->refuse = [](const MemoryWindow& window) {
    return window.host_accessible ? absl::OkStatus() : absl::UnimplementedError("host only");
  };
  const auto ring = Make(split_);
  ASSERT_TRUE(ring.ok()) << ring.status();
  EXPECT_FALSE(ring->direct());
  EXPECT_THAT(
      ring->notes,
      ElementsAre(AllOf(
          services::Noted("MEMORY_PATH|memory=GPU|path=host bounce"),
          testing::Field(
              &services::Note::text,
              AllOf(HasSubstr(
                        "GPU memory by host bounce: rail r0: could use nvidia-peermem; rail r1: "),
                    HasSubstr("host only"))))));
}

TEST_F(TransferRingTest, ShrinksToTheRoomForPortsAndSaysWhy) {
  direct().room_bytes = 2 * 20 * kBlockBytes;  // nvidia-peermem maps once per rail
  const auto ring = Make(split_);
  ASSERT_TRUE(ring.ok()) << ring.status();
  EXPECT_TRUE(ring->direct());
  EXPECT_EQ(ring->ring->slots(), 16u);
  EXPECT_THAT(ring->notes, ElementsAre(services::Noted("MEMORY_PATH|path=nvidia-peermem"),
                                       services::Noted("RING_SMALL|slots=16|wanted_slots=128")));
}

TEST_F(TransferRingTest, ADirectRingThatDoesNotFitGivesWayToTheBounce) {
  direct().room_bytes = 1 << 20;  // of a probe, not of the least ring on two rails
  const auto ring = Make(split_, {.block_bytes = 128 << 10});
  ASSERT_TRUE(ring.ok()) << ring.status();
  EXPECT_FALSE(ring->direct());
  EXPECT_THAT(ring->notes,
              ElementsAre(AllOf(
                  services::Noted("MEMORY_PATH|path=host bounce"),
                  testing::Field(&services::Note::text,
                                 HasSubstr("host bounce: nvidia-peermem is possible, its "
                                           "ring is not: no ring: even the smallest, 8 slots")))));
}

TEST_F(TransferRingTest, LockedMemoryThatIsTooSmallIsAnErrorWithItsReason) {
  rails_.locked.limit = 64 << 10;
  const absl::Status status = Make(host_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the smallest, 8 slots on 2 rail(s)"));
  EXPECT_TRUE(status.GetPayload("reason").has_value());
}

}  // namespace
}  // namespace tapedeck::gpu_worker
