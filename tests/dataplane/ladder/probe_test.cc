#include "dataplane/ladder/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/synchronization/notification.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/transport/inproc/transport.h"
#include "tests/dataplane/ladder/limited_rail.h"

namespace tapedeck::dataplane::ladder {
namespace {

using testing::HasSubstr;

constexpr size_t kBlockBytes = 1 << 20;
constexpr Direction kBoth[] = {Direction::kRecord, Direction::kPlayback};

// Host memory under test; its owner reads and writes it with the CPU.
ProbeMemory HostMemory() {
  std::shared_ptr<const Memory> memory = host::Create(kBlockBytes).value();
  const MemoryWindow window = memory->window();
  return {.memory = memory,
          .window = window,
          .host = host::Create(kBlockBytes).value(),
          .write =
              [window](std::span<const std::byte> from) {
                std::ranges::copy(from, window.bytes.begin());
                return absl::OkStatus();
              },
          .read =
              [window](std::span<std::byte> to) {
                std::ranges::copy(window.bytes.first(to.size()), to.begin());
                return absl::OkStatus();
              }};
}

class ProbeTest : public testing::Test {
 protected:
  ProbeResult Run(Direction direction, const ProbeMemory& memory) {
    return Probe(*rail_, direction, memory);
  }

  const std::unique_ptr<EventLoop> loop_ = EventLoop::Create("rail").value();
  const std::shared_ptr<inproc::Fabric> fabric_ = std::make_shared<inproc::Fabric>();
  const std::unique_ptr<Transport> rail_ = inproc::Create("r0", *loop_, fabric_);
};

TEST_F(ProbeTest, MovesDataBothWays) {
  for (const Direction direction : kBoth) {
    const ProbeResult result = Run(direction, HostMemory());
    EXPECT_TRUE(result.status.ok()) << result.status;
    EXPECT_GT(result.bytes_per_s, 1'000'000u);
  }
}

TEST_F(ProbeTest, LetsGoOfTheMemory) {
  const ProbeMemory memory = HostMemory();
  for (const Direction direction : kBoth) Run(direction, memory);
  loop_->RunAndWait([] {});
  EXPECT_EQ(memory.memory.use_count(), 1);
}

// As a chipset that drops reads between devices, or a flush that is missing.
TEST_F(ProbeTest, AByteThatDoesNotArriveIsFound) {
  ProbeMemory memory = HostMemory();
  memory.write = [write = memory.write](std::span<const std::byte> from) {
    std::vector<std::byte> wrong(from.begin(), from.end());
    wrong[wrong.size() - 1] ^= std::byte{1};
    return write(wrong);
  };
  const absl::Status record = Run(Direction::kRecord, memory).status;
  EXPECT_EQ(record.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(record.message()), HasSubstr("4096 bytes: byte 4095 arrived as 0x"));

  memory = HostMemory();
  memory.read = [](std::span<std::byte> to) {
    std::ranges::fill(to, std::byte{0});
    return absl::OkStatus();
  };
  EXPECT_EQ(Run(Direction::kPlayback, memory).status.code(), absl::StatusCode::kDataLoss);
}

TEST_F(ProbeTest, AWholeBlockThatFailsAfterASmallOneSaysSo) {
  ProbeMemory memory = HostMemory();
  memory.write = [write = memory.write](std::span<const std::byte> from) {
    return write(from.first(std::min<size_t>(from.size(), 8192)));
  };
  const absl::Status status = Run(Direction::kRecord, memory).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("4 KiB arrived, a whole block did not: 1048576 bytes: byte 8"));
}

TEST_F(ProbeTest, ARefusedRegistrationIsTheAnswer) {
  LimitedRails rails(1);
  rails.rails[0]->refuse = [](const MemoryWindow& window) {
    return window.dma_buf_fd < 0 ? absl::OkStatus()
                                 : absl::UnimplementedError("no dma-buf on this rail");
  };
  ProbeMemory memory = HostMemory();
  EXPECT_TRUE(Probe(*rails.rails[0], Direction::kRecord, memory).status.ok());
  memory.window.dma_buf_fd = 5;
  EXPECT_EQ(Probe(*rails.rails[0], Direction::kRecord, memory).status,
            absl::UnimplementedError("no dma-buf on this rail"));
  rails.loop->RunAndWait([] {});
  EXPECT_EQ(rails.locked.used, 0u);
}

TEST_F(ProbeTest, ARailThatFailsIsNamedWithItsCause) {
  ProbeMemory memory = HostMemory();
  memory.write = [this, write = memory.write](std::span<const std::byte> from) {
    fabric_->SetRail("r0", inproc::RailState::kCut);
    return write(from);
  };
  const absl::Status status = Run(Direction::kRecord, memory).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("rail r0: cut"));
}

TEST_F(ProbeTest, ASilentRailEndsAtTheDeadline) {
  fabric_->SetRail("r0", inproc::RailState::kSilent);
  const int64_t started_ns = loop_->clock().NowNs();
  const absl::Status status = Run(Direction::kPlayback, HostMemory()).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_LT(loop_->clock().NowNs() - started_ns, kProbeDeadlineNs + kSecondNs);
}

TEST_F(ProbeTest, APollerThatHangsKeepsTheMemoryAndNotTheCaller) {
  const ProbeMemory memory = HostMemory();
  absl::Notification release;
  loop_->Post([&] { release.WaitForNotification(); });
  const absl::Status status = Run(Direction::kRecord, memory).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_GT(memory.memory.use_count(), 1);
  release.Notify();
  for (int i = 0; i < 100 && memory.memory.use_count() > 1; ++i) loop_->RunAndWait([] {});
  EXPECT_EQ(memory.memory.use_count(), 1);
}

}  // namespace
}  // namespace tapedeck::dataplane::ladder
