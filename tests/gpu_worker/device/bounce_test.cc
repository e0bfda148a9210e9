// Blocks that go through host memory on their way to and from a device, on a GPU where there is one
// and on a device made of host memory everywhere: what is damaged there is found, by the device's
// CRC of what lies on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "dataplane/clock.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "tests/gpu_worker/device/devices.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/gpu_worker/pump.h"
#include "tests/scratch_file.h"

namespace tapedeck::gpu_worker {
namespace {

// Of copies to the device and to the host, the one that is damaged; 0: none.
struct Damage {
  int to_device = 0;
  int to_host = 0;
};

class DamagingQueue final : public device::Queue {
 public:
  DamagingQueue(std::unique_ptr<device::Queue> queue, Damage& damage)
      : queue_(std::move(queue)), damage_(damage) {}

  void* native() override { return queue_->native(); }
  absl::Status Copy(Way way, std::byte* to, const std::byte* from, size_t bytes) override {
    if (way == Way::kToDevice && --damage_.to_device == 0) {
      const_cast<std::byte*>(from)[bytes / 2] ^= std::byte{1};
    }
    if (way == Way::kToHost && --damage_.to_host == 0) damaged_ = to + bytes / 2;
    return queue_->Copy(way, to, from, bytes);
  }
  absl::Status CrcsOfPieces(uint32_t* crcs, std::span<const std::byte> payload,
                            size_t piece_bytes) override {
    return queue_->CrcsOfPieces(crcs, payload, piece_bytes);
  }
  void Then(Callback callback) override {
    std::byte* const damaged = std::exchange(damaged_, nullptr);
    queue_->Then([damaged, callback = std::move(callback)](absl::Status status) mutable {
      if (damaged != nullptr) *damaged ^= std::byte{1};
      callback(std::move(status));
    });
  }

 private:
  const std::unique_ptr<device::Queue> queue_;
  Damage& damage_;
  std::byte* damaged_ = nullptr;  // once the copy there is done
};

device::DeviceInfo WithMemoryOfItsOwn(device::DeviceInfo info) {
  info.works_in_host_memory = false;
  return info;
}

// Has memory of its own, as a GPU has; where it is none, of the host's.
class DamagingDevice final : public device::Device {
 public:
  DamagingDevice(std::unique_ptr<device::Device> inner, Damage& damage)
      : Device(WithMemoryOfItsOwn(inner->info())), inner_(std::move(inner)), damage_(damage) {}

  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewDeviceMemory(size_t bytes) override {
    return inner_->NewDeviceMemory(bytes);
  }
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewHostMemory(size_t bytes) override {
    return inner_->NewHostMemory(bytes);
  }
  absl::StatusOr<std::unique_ptr<device::Queue>> NewQueue() override {
    auto queue = inner_->NewQueue();
    if (!queue.ok()) return queue.status();
    return std::make_unique<DamagingQueue>(*std::move(queue), damage_);
  }
  device::DirectAccess* direct() override { return nullptr; }

 private:
  const std::unique_ptr<device::Device> inner_;
  Damage& damage_;
};

class BounceTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto choice = pipeline::ChooseDevice(GetParam());
    if (!choice.ok()) GTEST_SKIP() << choice.status().message();
    choice_ = *std::move(choice);
    choice_.device = std::make_unique<DamagingDevice>(std::move(choice_.device), damage_);
  }

  Damage damage_;
  pipeline::DeviceChoice choice_;
  const dataplane::SystemClock clock_{};
};

TEST_P(BounceTest, WhatIsDamagedOnTheWayOutHasTheCrcOfWhatItWas) {
  for (const int damaged : {0, 3}) {
    damage_.to_host = damaged;
    auto recording = Record(choice_, {.source = Synth(), .blocks = 5}, clock_);
    ASSERT_TRUE(recording.ok()) << recording.status();
    const auto blocks = PullAll(*recording->source);
    ASSERT_TRUE(blocks.ok()) << blocks.status();
    ASSERT_EQ(blocks->size(), 5u);
    for (int i = 0; i < 5; ++i) {
      const Pulled& block = (*blocks)[static_cast<size_t>(i)];
      const auto bytes = std::as_bytes(std::span<const char>(block.payload));
      EXPECT_EQ(dataplane::Crc32c(bytes) == block.header.crc32c, i != damaged - 1) << i;
    }
  }
}

TEST_P(BounceTest, WhatIsDamagedOnTheWayInIsNotPlayed) {
  for (const int damaged : {0, 3}) {
    auto recording = Record(choice_, {.source = Synth(), .blocks = 5}, clock_);
    ASSERT_TRUE(recording.ok()) << recording.status();
    auto playback = Play(choice_, {.sink = Verify(), .origin = recording->origin, .blocks = 5});
    ASSERT_TRUE(playback.ok()) << playback.status();
    damage_.to_device = damaged;
    const absl::Status status = Pump(*recording->source, *playback->sink);
    EXPECT_EQ(status.ok(), damaged == 0) << status;
    if (damaged == 0) continue;
    EXPECT_EQ(services::ReasonOf(status)->reason, "BLOCK_DAMAGED");
    EXPECT_THAT(std::string(status.message()),
                testing::HasSubstr("block 2 was damaged on its way"));
  }
}

// Small blocks go to the device several at a time, as many as are there; a missing one and the
// last, which is short, go alone.
class SmallBlocksTest : public BounceTest {
 protected:
  // What comes of blocks of `block_bytes` from a file, played through an FFT of 64 points.
  absl::StatusOr<std::string> PlayedBack(const pipeline::DeviceChoice& device,
                                         uint64_t block_bytes) {
    std::string bytes(37 * block_bytes + 512, 'x');
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i % 61);
    const std::string input = ScratchPath("in");
    const std::string output = ScratchPath("out");
    WriteFile(input, bytes);
    TD_ASSIGN_OR_RETURN(
        auto recording,
        Record(device, {.source = FileSource(input), .slots = 32, .block_bytes = block_bytes},
               clock_));
    TD_ASSIGN_OR_RETURN(auto playback, Play(device, {.sink = FileSink(output),
                                                     .origin = recording.origin,
                                                     .fft = 64,
                                                     .block_bytes = block_bytes}));
    const auto lose = [](dataplane::Block& block) {
      if (block.header().sequence == 11) block.header().flags |= dataplane::kBlockMissing;
      return true;
    };
    const absl::Status status = Pump(*recording.source, *playback.sink, {.look = lose});
    const auto reason = services::ReasonOf(status);
    if (!reason.has_value() || reason->reason != "BLOCK_DAMAGED") return status;
    return ReadFile(reason->metadata.at("path"));  // with a hole for the missing one
  }
};

TEST_P(SmallBlocksTest, ComeBackAsThoseThatGoAlone) {
  const auto host = pipeline::ChooseDevice("host");
  ASSERT_TRUE(host.ok()) << host.status();
  for (const auto* device : std::array<const pipeline::DeviceChoice*, 2>{&*host, &choice_}) {
    const auto fft = Record(*device, {.source = Synth(), .fft = 64, .blocks = 1}, clock_);
    if (!fft.ok()) GTEST_SKIP() << fft.status().message();
  }
  for (const uint64_t block_bytes : {4096u, 65536u}) {
    const auto alone = PlayedBack(*host, block_bytes);
    const auto together = PlayedBack(choice_, block_bytes);
    ASSERT_TRUE(alone.ok() && together.ok()) << alone.status() << together.status();
    ASSERT_EQ(alone->size(), 37 * block_bytes + 512);
    ASSERT_EQ(together->size(), alone->size());
    const auto floats = [](const std::string& text) {
      return std::span(reinterpret_cast<const float*>(text.data()), text.size() / sizeof(float));
    };
    const float tolerance = 1e-6f * std::ranges::max(floats(*alone));
    for (size_t i = 0; i < alone->size() / sizeof(float); ++i) {
      ASSERT_NEAR(floats(*alone)[i], floats(*together)[i], tolerance) << i;
    }
  }
}

TEST_P(SmallBlocksTest, ADamagedOneIsNamed) {
  auto recording =
      Record(choice_, {.source = Synth(), .blocks = 40, .slots = 40, .block_bytes = 4096}, clock_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  auto playback = Play(choice_, {.sink = Null(), .blocks = 40, .block_bytes = 4096});
  ASSERT_TRUE(playback.ok()) << playback.status();
  damage_.to_device = 23;
  const absl::Status status = Pump(*recording->source, *playback->sink);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("block 22 was damaged on its way"));
}

TEST_P(BounceTest, SlotsOfAnotherSizeAreNoRuns) {
  auto ring = pipeline::MakeRing(*choice_.device, dataplane::ladder::Rung::kBounce, 1, 32, 8192, 8);
  ASSERT_TRUE(ring.ok()) << ring.status();
  auto stages = pipeline::ChooseStages(services::RecordSpec{.source = Synth(), .blocks = 8});
  ASSERT_TRUE(stages.ok()) << stages.status();
  const auto recording =
      pipeline::CreateRecording({.stages = *std::move(stages),
                                 .spec = {.blocks = 8},
                                 .channel = {.datatype = "cf32_le", .block_bytes = 4096},
                                 .device = &choice_,
                                 .ring = *std::move(ring),
                                 .clock = &clock_});
  EXPECT_THAT(std::string(recording.status().message()), testing::HasSubstr("side by side"));
}

TAPEDECK_ON_EVERY_DEVICE(BounceTest);
TAPEDECK_ON_EVERY_DEVICE(SmallBlocksTest);

}  // namespace
}  // namespace tapedeck::gpu_worker
