// Rings in memory of the device, on a GPU where there is one and on a device made of host memory
// everywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "dataplane/crc/crc32c.h"
#include "dataplane/transfer/checked_source.h"
#include "gpu_worker/pipeline/device_crc.h"
#include "tests/gpu_worker/device/devices.h"
#include "tests/gpu_worker/device/split_device.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/gpu_worker/pump.h"
#include "tests/scratch_file.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::Block;
using dataplane::Flow;
using dataplane::ladder::Rung;

absl::StatusOr<pipeline::DeviceChoice> Choose(const std::string& text) {
  if (text == "split") return ChooseSplitDevice();
  return pipeline::ChooseDevice(text);
}

// Stands for the wire: takes blocks from one ring and gives them from another, both in memory of
// the device, copied by the device.
class Wire final : public dataplane::Source {
 public:
  Wire(dataplane::Source& from, device::Device& device, size_t block_bytes)
      : from_(from),
        ring_(pipeline::MakeRing(device, Rung::kPeerMemory, 1, 64, block_bytes).value()),
        staging_(device.NewHostMemory(block_bytes).value()),
        queue_(device.NewQueue().value()) {}

  absl::StatusOr<Flow> Pull(Block* block) override {
    std::optional<Block> slot = ring_->Take();
    if (!slot.has_value()) return Flow::kNotNow;
    Block sent = resend_.empty() ? Block() : std::move(resend_);
    if (sent.empty()) {
      const absl::StatusOr<Flow> flow = from_.Pull(&sent);
      if (!flow.ok() || *flow != Flow::kMoved) return flow;
    }
    *block = *std::move(slot);
    block->header() = sent.header();
    if (const absl::Status status = Copy(sent, *block); !status.ok()) return status;
    if (damage_next) last_ = std::move(sent);
    damage_next = false;
    return Flow::kMoved;
  }
  void SetWaker(dataplane::Waker waker) override {
    ring_->SetWaker(waker);
    from_.SetWaker(std::move(waker));
  }
  void Acknowledge(uint64_t) override {}
  absl::Status Reject(const dataplane::BlockHeader&) override {
    resend_ = std::move(last_);
    return absl::OkStatus();
  }

  bool damage_next = false;

 private:
  absl::Status Copy(const Block& from, const Block& to) {
    const size_t bytes = from.payload().size();
    std::byte* const host = staging_->window().bytes.data();
    absl::Status status = queue_->CopyToHost(host, from.payload().data(), bytes);
    status.Update(Wait(*queue_));
    if (damage_next) host[bytes / 2] ^= std::byte{4};
    status.Update(queue_->CopyToDevice(to.payload().data(), host, bytes));
    status.Update(Wait(*queue_));
    return status;
  }

  dataplane::Source& from_;
  const std::shared_ptr<dataplane::SlotPool> ring_;
  const std::unique_ptr<dataplane::Memory> staging_;
  const std::unique_ptr<device::Queue> queue_;
  Block last_;
  Block resend_;
};

class DirectTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto choice = Choose(GetParam());
    if (!choice.ok()) GTEST_SKIP() << choice.status().message();
    choice_ = *std::move(choice);
    const auto memory = choice_.device->direct()->NewRingMemory(4096);
    if (!memory.ok()) GTEST_SKIP() << memory.status();
  }

  device::Device& device() { return *choice_.device; }

  // A recording and its playback with both rings on the device. Adds to crc_errors_.
  absl::Status RecordAndPlay(TestRecording record, TestPlayback play, bool damage = false) {
    record.rung = Rung::kPeerMemory;
    auto recording = Record(choice_, record, clock_);
    if (!recording.ok()) return recording.status();
    play.origin = recording->origin;
    play.blocks = recording->expected_blocks;
    play.datatype = record.datatype;
    play.block_bytes = record.block_bytes;
    play.direct = true;
    auto playback = Play(choice_, play);
    if (!playback.ok()) return playback.status();
    Wire wire(*recording->source, device(), record.block_bytes);
    wire.damage_next = damage;
    const auto crc = pipeline::DeviceCrc::Create(device()).value();
    dataplane::CheckedSource checked(wire, *crc);
    const absl::Status status =
        Pump(checked, *playback->sink, {.crc_of = [this](const Block& b) { return CrcOf(b); }});
    crc_errors_ += checked.counters().crc_errors;
    return status;
  }

  uint32_t CrcOf(const Block& block) {
    const std::string payload = Fetch(block.payload());
    return dataplane::Crc32c(std::as_bytes(std::span(payload)));
  }

  std::string Fetch(std::span<const std::byte> from) {
    auto queue = device().NewQueue().value();
    auto host = device().NewHostMemory(from.size()).value();
    EXPECT_TRUE(queue->CopyToHost(host->window().bytes.data(), from.data(), from.size()).ok());
    EXPECT_TRUE(Wait(*queue).ok());
    return {reinterpret_cast<const char*>(host->window().bytes.data()), from.size()};
  }

  pipeline::DeviceChoice choice_;
  const dataplane::SystemClock clock_{};
  uint64_t crc_errors_ = 0;
};

TEST_P(DirectTest, TheRingIsOutOfTheCpusReach) {
  for (const Rung rung : {Rung::kDmaBuf, Rung::kPeerMemory}) {
    const auto ring = pipeline::MakeRing(device(), rung, 1, 4, kTestBlockBytes);
    ASSERT_TRUE(ring.ok()) << ring.status();
    EXPECT_FALSE((*ring)->window().host_accessible);
    EXPECT_EQ((*ring)->slots(), 4u);
    if (rung == Rung::kPeerMemory) {
      EXPECT_EQ((*ring)->window().dma_buf_fd, -1);
    }
  }
}

TEST_P(DirectTest, TheDeviceComputesTheCpusCrc) {
  constexpr size_t kBytes = 8 << 20;
  auto host = device().NewHostMemory(kBytes).value();
  auto crcs = device().NewHostMemory(4096).value();
  auto memory = device().NewDeviceMemory(kBytes).value();
  auto queue = device().NewQueue().value();
  const std::span<std::byte> bytes = host->window().bytes;
  uint32_t value = 7;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>((value = value * 1664525 + 1) >> 24);
  ASSERT_TRUE(queue->CopyToDevice(memory->window().bytes.data(), bytes.data(), kBytes).ok());
  auto* crc = reinterpret_cast<uint32_t*>(crcs->window().bytes.data());
  const size_t sizes[] = {
      0,           1,          15,     16,      17,      333,     4096,    65536,
      65543,       131072,     131088, 1000000, 1 << 20, 1 << 20, 3 << 20, (1 << 20) + 5,
      kBytes - 16, kBytes - 1, kBytes};
  size_t i = 0;
  for (const size_t size : sizes) {
    ASSERT_TRUE(queue->Crc32c(crc + i++, memory->window().bytes.first(size)).ok());
  }
  ASSERT_TRUE(queue->Crc32c(crc + i, memory->window().bytes.subspan(4096, 65536)).ok());
  ASSERT_TRUE(Wait(*queue).ok());
  EXPECT_EQ(crc[i], dataplane::Crc32c(bytes.subspan(4096, 65536)));
  for (i = 0; i < std::size(sizes); ++i) {
    EXPECT_EQ(crc[i], dataplane::Crc32c(bytes.first(sizes[i]))) << sizes[i];
  }
}

TEST_P(DirectTest, EachPieceHasItsCrc) {
  constexpr size_t kPiece = 65536;
  constexpr size_t kBytes = 10 * kPiece + 4099;
  auto host = device().NewHostMemory(kBytes).value();
  auto crcs = device().NewHostMemory(4096).value();
  auto memory = device().NewDeviceMemory(kBytes).value();
  auto queue = device().NewQueue().value();
  const std::span<std::byte> bytes = host->window().bytes;
  uint32_t value = 11;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>((value = value * 1664525 + 1) >> 24);
  ASSERT_TRUE(queue->CopyToDevice(memory->window().bytes.data(), bytes.data(), kBytes).ok());
  auto* crc = reinterpret_cast<uint32_t*>(crcs->window().bytes.data());
  ASSERT_TRUE(queue->CrcsOfPieces(crc, memory->window().bytes.first(kBytes), kPiece).ok());
  ASSERT_TRUE(Wait(*queue).ok());
  for (size_t i = 0; i * kPiece < kBytes; ++i) {
    const auto piece = bytes.subspan(i * kPiece, std::min(kPiece, kBytes - i * kPiece));
    EXPECT_EQ(crc[i], dataplane::Crc32c(piece)) << i;
  }
}

// Nothing that is under way uses what a copy writes.
TEST_P(DirectTest, ACrcFollowsTheCopyBeforeIt) {
  constexpr size_t kBytes = 1 << 20;
  constexpr int kRounds = 50;
  auto host = device().NewHostMemory(kRounds * 4096).value();
  auto crcs = device().NewHostMemory(4096).value();
  auto memory = device().NewDeviceMemory(kBytes).value();
  auto queue = device().NewQueue().value();
  auto* crc = reinterpret_cast<uint32_t*>(crcs->window().bytes.data());
  std::vector<std::byte> expected(kBytes);
  const std::string before = Fetch(memory->window().bytes);
  std::memcpy(expected.data(), before.data(), kBytes);
  std::vector<uint32_t> want;
  for (int round = 0; round < kRounds; ++round) {
    const auto page = host->window().bytes.subspan(round * 4096, 4096);
    std::memset(page.data(), round + 1, page.size());
    const size_t at = static_cast<size_t>(round) * 8192;
    ASSERT_TRUE(queue->CopyToDevice(memory->window().bytes.data() + at, page.data(), 4096).ok());
    ASSERT_TRUE(queue->Crc32c(crc + round, memory->window().bytes.first(at + 4096)).ok());
    std::memcpy(expected.data() + at, page.data(), 4096);
    want.push_back(dataplane::Crc32c(std::span(expected).first(at + 4096)));
  }
  ASSERT_TRUE(Wait(*queue).ok());
  for (int round = 0; round < kRounds; ++round) EXPECT_EQ(crc[round], want[round]) << round;
}

TEST_P(DirectTest, SynthVerifies) {
  const absl::Status status = RecordAndPlay({.source = Synth(3), .blocks = 50}, {.sink = Verify()});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(crc_errors_, 0u);
}

TEST_P(DirectTest, FftVerifiesWhereverItIsApplied) {
  if (!Record(choice_, {.source = Synth(), .fft = 16, .blocks = 1}, clock_).ok())
    GTEST_SKIP() << "no FFT";
  for (const auto& [recorded, played] : {std::pair(1024u, 0u), {0u, 64u}}) {
    const absl::Status status =
        RecordAndPlay({.source = Synth(), .fft = recorded, .blocks = 20, .block_bytes = 1 << 20},
                      {.sink = Verify(), .fft = played});
    EXPECT_TRUE(status.ok()) << recorded << "/" << played << ": " << status;
  }
}

TEST_P(DirectTest, AFileComesBackIdentical) {
  std::string bytes(5 * kTestBlockBytes + 333, 'x');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i >> 3);
  const std::string input = ScratchPath("in");
  const std::string output = ScratchPath("out");
  WriteFile(input, bytes);
  const absl::Status status =
      RecordAndPlay({.datatype = "cu8", .source = FileSource(input)}, {.sink = FileSink(output)});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(ReadFile(output), bytes);
}

TEST_P(DirectTest, APartialBlockIsFilledUpToATransform) {
  if (!Record(choice_, {.source = Synth(), .fft = 16, .blocks = 1}, clock_).ok())
    GTEST_SKIP() << "no FFT";
  const std::string input = ScratchPath("in");
  WriteFile(input, std::string(kTestBlockBytes + 24, '\x11'));
  const std::string output = ScratchPath("out");
  ASSERT_TRUE(
      RecordAndPlay({.source = FileSource(input)}, {.sink = FileSink(output), .fft = 1024}).ok());
  const std::string direct = ReadFile(output);
  EXPECT_EQ(direct.size(), kTestBlockBytes + 8192);
  // The same through host memory.
  auto recording = Record(choice_, {.source = FileSource(input)}, clock_);
  auto playback =
      Play(choice_, {.sink = FileSink(output, true), .origin = recording->origin, .fft = 1024});
  ASSERT_TRUE(Pump(*recording->source, *playback->sink).ok());
  EXPECT_EQ(ReadFile(output), direct);
}

// Recorded and played, with the ring on the device and in host memory.
TEST_P(DirectTest, PowerChangesTheSizeOfBlocksOnEitherEnd) {
  const std::string input = ScratchPath("in");
  std::vector<float> samples(2 * (3 * kTestBlockBytes / 8 + 10));
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i % 251);
  WriteFile(input, {reinterpret_cast<const char*>(samples.data()), samples.size() * 4});
  std::vector<float> wanted;
  for (size_t i = 0; i < samples.size(); i += 4) {
    double sum = 0;
    for (size_t part = i; part < i + 4; ++part) sum += samples[part] * samples[part];
    wanted.push_back(static_cast<float>(sum / 2));
  }
  const std::string bytes(reinterpret_cast<const char*>(wanted.data()), wanted.size() * 4);
  const std::string output = ScratchPath("out");
  const TestRecording averaged{
      .datatype = "rf32_le", .source = FileSource(input), .transforms = {Power(1, 2)}};
  const TestRecording plain{.source = FileSource(input)};
  const TestPlayback to_file{.sink = FileSink(output, true)};
  const TestPlayback averages{.sink = FileSink(output, true), .transforms = {Power(1, 2)}};
  for (const auto& [record, play] : {std::pair(averaged, to_file), {plain, averages}}) {
    const absl::Status direct = RecordAndPlay(record, play);
    ASSERT_TRUE(direct.ok()) << direct;
    EXPECT_TRUE(ReadFile(output) == bytes);
    auto recording = Record(choice_, record, clock_);
    ASSERT_TRUE(recording.ok()) << recording.status();
    TestPlayback bounced = play;
    bounced.datatype = record.datatype;
    auto playback = Play(choice_, bounced);
    ASSERT_TRUE(playback.ok()) << playback.status();
    ASSERT_TRUE(Pump(*recording->source, *playback->sink).ok());
    EXPECT_TRUE(ReadFile(output) == bytes);
  }
}

TEST_P(DirectTest, ADamagedBlockIsFoundAndComesAgain) {
  const absl::Status status =
      RecordAndPlay({.source = Synth(), .blocks = 8}, {.sink = Null()}, /*damage=*/true);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(crc_errors_, 1u);
}

INSTANTIATE_TEST_SUITE_P(Split, DirectTest, testing::Values("split"),
                         [](const auto&) { return "Split"; });
INSTANTIATE_TEST_SUITE_P(Cuda, DirectTest, testing::Values("cuda:0"),
                         [](const auto&) { return "Cuda"; });

}  // namespace
}  // namespace tapedeck::gpu_worker
