// What the udp sink makes of blocks as packets of VITA 49.2, as the reader of ingest understands
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "gpu_worker/stages/ingest/packet.h"
#include "gpu_worker/stages/udp/packer.h"
#include "services/base/errors.h"
#include "services/signal/vita49/packet.h"

namespace tapedeck::gpu_worker::stages::udp {
namespace {

using ingest::Packet;
using services::Annotation;
using services::vita49::Decode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr uint64_t kBlockBytes = 4096;
constexpr uint64_t kBlockSamples = kBlockBytes / 4;
constexpr int64_t kBeginNs = 1'764'115'200'123'456'789;

Annotation Signal(uint64_t sample, const std::string& text) {
  return {.sample_start = sample, .label = "signal", .comment = text};
}
// Each context has the rate as well.
auto Told(int64_t sample, const std::string& text) {
  return Pair(sample, text + " sample_rate=1000000");
}
Annotation Lost(uint64_t sample, uint64_t samples, const std::string& comment = "") {
  return {.sample_start = sample, .sample_count = samples, .label = "lost", .comment = comment};
}

// What a receiver has got of a playback.
struct Heard {
  std::map<int64_t, std::string> changes;  // by sample
  std::vector<int64_t> told;               // samples of contexts
  std::map<int64_t, uint8_t> samples;      // the first byte of each
  std::vector<int64_t> packets;            // samples of data
  size_t largest = 0;                      // bytes of samples of a packet
};

class Playback {
 public:
  explicit Playback(PackerSettings settings, size_t sample_bytes = 4)
      : sample_bytes_(sample_bytes),
        reader_(ingest::vita49::CreateReader(
            {.sample_bytes = sample_bytes, .sample_rate = settings.sample_rate})) {
    settings.block_bytes = kBlockBytes;
    auto packer = vita49::CreatePacker(settings);
    EXPECT_TRUE(packer.ok()) << packer.status();
    packer_ = *std::move(packer);
  }

  // Each sample of a block is its number.
  void Block(uint64_t sequence, bool missing = false, size_t bytes = kBlockBytes) {
    std::vector<std::byte> payload(bytes);
    for (size_t i = 0; i < bytes; ++i) payload[i] = static_cast<std::byte>(i / sample_bytes_);
    dataplane::BlockHeader header{
        .sequence = sequence,
        .sample_index = first_index + sequence * (kBlockBytes / sample_bytes_),
        .capture_ns = kBeginNs};
    if (missing) header.flags = dataplane::kBlockMissing;
    const auto packets = packer_->Pack(header, missing ? std::span<const std::byte>() : payload);
    ASSERT_TRUE(packets.ok()) << packets.status();
    Hear(*packets);
  }
  void End() { Hear(packer_->End()); }

  uint64_t first_index = 0;
  Heard heard;

 private:
  void Hear(Packets packets) {
    for (const auto& [header, samples, padding] : packets) {
      std::vector<std::byte> bytes(header.begin(), header.end());
      bytes.insert(bytes.end(), samples.begin(), samples.end());
      bytes.insert(bytes.end(), padding.begin(), padding.end());
      const Packet packet = reader_->Read(bytes, {});
      const bool is_context = Decode(bytes)->context.has_value();
      for (const auto& [position, text] : packet.changes) heard.changes[position] = text;
      if (is_context) {
        ASSERT_EQ(packet.is, Packet::Is::kContext);
        heard.told.push_back(packet.changes.empty() ? 0 : packet.changes[0].position);
        continue;
      }
      ASSERT_EQ(packet.is, Packet::Is::kSamples);
      heard.packets.push_back(packet.position);
      heard.largest = std::max(heard.largest, packet.samples.size());
      for (size_t i = 0; i < packet.samples.size() / sample_bytes_; ++i) {
        const auto value = std::to_integer<uint8_t>(packet.samples[i * sample_bytes_]);
        EXPECT_TRUE(heard.samples.emplace(packet.position + i, value).second) << "sent twice";
      }
    }
  }

  const size_t sample_bytes_;
  const std::unique_ptr<ingest::PacketReader> reader_;
  std::unique_ptr<Packer> packer_;
};

PackerSettings SettingsOf(std::vector<Annotation> annotations, double sample_rate = 1e6) {
  return {.stream = 9,
          .packet_bytes = 1024,
          .datatype = "ci16_be",
          .sample_rate = sample_rate,
          .annotations = std::move(annotations)};
}

TEST(UdpVita49Test, EverySampleIsAtItsPlace) {
  Playback playback(SettingsOf({}, 3e6));
  playback.first_index = 123'456;
  for (uint64_t i = 0; i < 4; ++i) playback.Block(i);
  playback.Block(4, false, 400);
  playback.End();
  ASSERT_EQ(playback.heard.samples.size(), 4 * kBlockSamples + 100);
  for (const auto& [sample, value] : playback.heard.samples) {
    EXPECT_EQ(value, static_cast<uint8_t>(sample % kBlockSamples)) << sample;
  }
  EXPECT_EQ(playback.heard.packets.size(), 17u);
  EXPECT_EQ(playback.heard.largest, 1024u);
  EXPECT_THAT(playback.heard.changes, ElementsAre(Pair(0, "sample_rate=3000000")));
}

TEST(UdpVita49Test, RetunesStandWhereTheyAreAnnotated) {
  Playback playback(SettingsOf({Signal(5, "frequency=1 sample_rate=1000000"),
                                Signal(7, "frequency=2 bandwidth=3 gain=4 sample_rate=1000000"),
                                Signal(1300, "frequency=5"), Signal(1301, "the antenna was moved"),
                                Signal(1302, "frequency=6"), Signal(90'000, "frequency=7")}));
  playback.first_index = 10;  // what was heard before it still holds
  for (uint64_t i = 0; i < 3; ++i) playback.Block(i);
  playback.End();
  EXPECT_THAT(playback.heard.changes,
              ElementsAre(Pair(0, "frequency=2 bandwidth=3 gain=4 sample_rate=1000000"),
                          Told(1290, "frequency=5"), Told(1292, "frequency=6")));
  // A packet begins there, as DIFI asks, and the others are where they would be.
  EXPECT_THAT(playback.heard.packets, ElementsAre(0, 256, 512, 768, 1024, 1280, 1290, 1292, 1536,
                                                  1792, 2048, 2304, 2560, 2816));
  EXPECT_EQ(playback.heard.samples.size(), 3 * kBlockSamples);
}

TEST(UdpVita49Test, WhatIsLostIsNotSent) {
  // Across two packets, at the begin of a block, and the whole of one; those of several are not
  // known one by one.
  Playback playback(
      SettingsOf({Lost(250, 10), Lost(255, 6), Lost(1024, 100), Lost(3072, 1024),
                  Lost(4096, 512, "8 samples in 2 places"), Signal(1050, "frequency=1"),
                  Signal(2500, "frequency=2"), Signal(5100, "frequency=3")}));
  playback.Block(0);
  playback.Block(1);
  playback.Block(2, /*missing=*/true);
  playback.Block(3);
  playback.Block(4);
  std::vector<int64_t> expected;
  for (int64_t sample = 0; sample < 5120; ++sample) {
    const bool lost = (sample >= 250 && sample < 261) || (sample >= 1024 && sample < 1124) ||
                      (sample >= 2048 && sample < 4096);
    if (!lost) expected.push_back(sample);
  }
  std::vector<int64_t> sent;
  for (const auto& [sample, value] : playback.heard.samples) {
    sent.push_back(sample);
    EXPECT_EQ(value, static_cast<uint8_t>(sample % kBlockSamples)) << sample;
  }
  EXPECT_EQ(sent, expected);
  // Also of changes among samples that are not there.
  EXPECT_THAT(playback.heard.changes,
              ElementsAre(Pair(0, "sample_rate=1000000"), Told(1050, "frequency=1"),
                          Told(2500, "frequency=2"), Told(5100, "frequency=3")));
}

TEST(UdpVita49Test, AChangeInTheLastBlockThatIsMissingIsTold) {
  Playback playback(SettingsOf({Signal(1500, "frequency=1"), Signal(2100, "frequency=2")}));
  playback.Block(0, /*missing=*/true);
  playback.Block(1);
  playback.Block(2, /*missing=*/true);
  playback.End();
  // Positions count from the first packet that comes.
  EXPECT_THAT(playback.heard.changes,
              ElementsAre(Pair(0, "sample_rate=1000000"), Told(1500 - 1024, "frequency=1"),
                          Told(2100 - 1024, "frequency=2")));
}

TEST(UdpVita49Test, ContextsComeAgainEverySecond) {
  Playback playback(SettingsOf({Signal(0, "frequency=1"), Signal(3000, "frequency=2")}, 2500));
  for (uint64_t i = 0; i < 10; ++i) playback.Block(i);
  const std::vector<int64_t>& told = playback.heard.told;
  ASSERT_GE(told.size(), 5u);
  EXPECT_EQ(told.at(1), 2304);
  EXPECT_EQ(told.at(2), 3000);
  for (size_t i = 1; i < told.size(); ++i) EXPECT_LE(told[i] - told[i - 1], 2500) << i;
  EXPECT_GT(told.back(), 10 * int64_t{kBlockSamples} - 2500);
  // A packet that lasts longer than a second has one of its own.
  Playback slow(SettingsOf({}, 10));
  slow.Block(0);
  EXPECT_THAT(slow.heard.told, ElementsAre(0, 256, 512, 768));
}

TEST(UdpVita49Test, SamplesOfOneByteAreFilledUp) {
  PackerSettings settings = SettingsOf({Signal(3, "frequency=1"), Lost(10, 3)});
  settings.datatype = "ru8";
  Playback playback(settings, 1);
  playback.Block(0, false, 1001);
  ASSERT_EQ(playback.heard.samples.size(), 998u);
  for (const auto& [sample, value] : playback.heard.samples) {
    EXPECT_EQ(value, static_cast<uint8_t>(sample)) << sample;
  }
  EXPECT_THAT(playback.heard.packets, ElementsAre(0, 3, 13));
}

// Seconds have 32 bits: nothing is sent of what does not fit, as far as its end is known.
TEST(UdpVita49Test, TimesThatNoPacketHasAreRefused) {
  constexpr int64_t kEndNs = (int64_t{1} << 32) * 1'000'000'000;
  constexpr int64_t kBlockNs = kBlockSamples * 1000;
  const std::vector<std::byte> payload(kBlockBytes);
  // How many of four blocks it packs.
  const auto packed = [&](int64_t begin_ns, uint64_t known_blocks) {
    PackerSettings settings = SettingsOf({});
    settings.block_bytes = kBlockBytes;
    settings.blocks = known_blocks;
    const auto packer = *vita49::CreatePacker(settings);
    for (uint64_t block = 0; block < 4; ++block) {
      const auto time_ns = begin_ns + static_cast<int64_t>(block) * kBlockNs;
      const auto packets = packer->Pack({.sequence = block,
                                         .sample_index = block * kBlockSamples,
                                         .capture_ns = time_ns,
                                         .payload_bytes = kBlockBytes},
                                        payload);
      if (packets.ok()) continue;
      EXPECT_EQ(services::ReasonOf(packets.status())->reason, "ARGUMENT_INVALID");
      EXPECT_THAT(std::string(packets.status().message()),
                  HasSubstr("to 2106-02-07T06:28:15Z, and these samples are from"));
      return block;
    }
    return uint64_t{4};
  };
  EXPECT_EQ(packed(-1, 0), 0u);
  EXPECT_EQ(packed(kEndNs, 0), 0u);
  EXPECT_EQ(packed(kEndNs - 3 * kBlockNs, 4), 0u) << "the end of the fourth is known";
  EXPECT_EQ(packed(kEndNs - 3 * kBlockNs, 0), 3u) << "how many come is not known";
  EXPECT_EQ(packed(0, 4), 4u);
  EXPECT_EQ(packed(kEndNs - 4 * kBlockNs, 4), 4u);
  EXPECT_EQ(packed(dataplane::kTimeUnknown, 4), 4u);
}

TEST(UdpVita49Test, SaysWhatItCannotCarry) {
  const auto refusal = [](const std::string& datatype, double rate) {
    PackerSettings settings = SettingsOf({}, rate);
    settings.datatype = datatype;
    settings.block_bytes = kBlockBytes;
    const absl::Status status = vita49::CreatePacker(settings).status();
    EXPECT_EQ(services::ReasonOf(status).value_or(dataplane::ErrorReason()).reason,
              "ARGUMENT_INVALID");
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("cf32_le", 1e6),
            "udp: packets of vita49 carry big-endian samples, and those of this playback are "
            "cf32_le; play it with --transform convert:from=cf32_le,to=cf32_be");
  EXPECT_THAT(refusal("ci16_be", 0), HasSubstr("the channel of the recording had no sample rate"));
  EXPECT_THAT(refusal("ci8", 1e12), HasSubstr("a sample rate of 1e+12 is not from 0.001 to 1e+11"));
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::udp
