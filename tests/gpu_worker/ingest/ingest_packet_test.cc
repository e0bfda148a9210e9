#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gpu_worker/packets/numbered/packet.h"
#include "gpu_worker/stages/ingest/packet.h"

namespace tapedeck::gpu_worker::stages::ingest {
namespace {

using packets::numbered::Header;
using Is = Packet::Is;

constexpr size_t kSampleBytes = 4;
constexpr int64_t kSamples = 8;  // of a packet

std::vector<std::byte> Made(const Header& header) {
  const auto head = packets::numbered::Encode(header);
  std::vector<std::byte> bytes(head.begin(), head.end());
  bytes.resize(header.packet_bytes(), std::byte{7});
  return bytes;
}

std::vector<std::byte> Numbered(uint32_t number, bool end = false) {
  return Made(
      {.number = number, .stream = 5, .samples_bytes = kSamples * kSampleBytes, .end = end});
}

class NumberedTest : public testing::Test {
 protected:
  Packet Read(const std::vector<std::byte>& bytes, int64_t newest = 0) {
    return reader_->Read(bytes, {.newest = newest});
  }

  std::unique_ptr<PacketReader> reader_ = numbered::CreateReader({.sample_bytes = kSampleBytes});
};

TEST_F(NumberedTest, AHeaderIsWhatItWas) {
  const Header header{.number = 0xfedcba98, .stream = 77, .samples_bytes = 1440, .end = true};
  EXPECT_EQ(packets::numbered::Decode(packets::numbered::Encode(header)), header);
  EXPECT_EQ(header.packet_bytes(), packets::numbered::kHeaderBytes);
}

TEST_F(NumberedTest, PositionsCountFromTheFirstPacket) {
  EXPECT_EQ(Read(Numbered(100)).position, 0);
  const std::vector<std::byte> bytes = Numbered(103);
  const Packet ahead = Read(bytes, kSamples);
  EXPECT_EQ(ahead.is, Is::kSamples);
  EXPECT_EQ(ahead.position, 3 * kSamples);
  EXPECT_EQ(ahead.samples.size(), kSamples * kSampleBytes);
  EXPECT_EQ(ahead.samples.data(), bytes.data() + packets::numbered::kHeaderBytes);
  EXPECT_EQ(Read(Numbered(98), kSamples).position, -2 * kSamples);
}

TEST_F(NumberedTest, NumbersGoOnBehindTheLargest) {
  EXPECT_EQ(Read(Numbered(0xfffffffe)).position, 0);
  EXPECT_EQ(Read(Numbered(0xffffffff), kSamples).position, kSamples);
  EXPECT_EQ(Read(Numbered(0), 2 * kSamples).position, 2 * kSamples);
  EXPECT_EQ(Read(Numbered(0xffffffff), 3 * kSamples).position, kSamples);
  // Once round and more.
  const int64_t round = int64_t{1} << 32;
  EXPECT_EQ(Read(Numbered(0xffffffff), (round + 5) * kSamples).position, (round + 1) * kSamples);
}

TEST_F(NumberedTest, TheEndIsBehindTheLastSample) {
  EXPECT_EQ(Read(Numbered(10)).position, 0);
  const Packet end = Read(
      Made({.number = 12, .stream = 5, .samples_bytes = 3 * kSampleBytes, .end = true}), kSamples);
  EXPECT_EQ(end.is, Is::kEnd);
  EXPECT_EQ(end.position, 2 * kSamples + 3);
}

TEST_F(NumberedTest, AnotherStreamIsForeign) {
  EXPECT_EQ(Read(Numbered(10)).is, Is::kSamples);
  auto other = Header{.number = 11, .stream = 6, .samples_bytes = kSamples * kSampleBytes};
  EXPECT_EQ(Read(Made(other), kSamples).is, Is::kForeign);
  reader_ = numbered::CreateReader({.sample_bytes = kSampleBytes, .stream = 6});
  EXPECT_EQ(Read(Numbered(10)).is, Is::kForeign);
  EXPECT_EQ(Read(Made(other)).is, Is::kSamples);
}

TEST_F(NumberedTest, WhatIsNotOfTheKindIsMalformed) {
  EXPECT_EQ(Read(Numbered(10)).is, Is::kSamples);
  std::vector<std::byte> good = Numbered(11);
  for (size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_EQ(Read({good.begin(), good.begin() + static_cast<ptrdiff_t>(bytes)}).is, Is::kMalformed)
        << bytes;
  }
  std::vector<std::byte> longer = good;
  longer.push_back(std::byte{0});
  EXPECT_EQ(Read(longer).is, Is::kMalformed);
  std::vector<std::byte> magic = good;
  magic[0] ^= std::byte{1};
  EXPECT_EQ(Read(magic).is, Is::kMalformed);
  std::vector<std::byte> marks = good;
  marks[14] = std::byte{2};
  EXPECT_EQ(Read(marks).is, Is::kMalformed);
  // Not whole samples, none, more than the first packet had, more than a packet has.
  for (const uint16_t bytes : {6, 0, 36, 65'532}) {
    EXPECT_EQ(Read(Made({.number = 11, .stream = 5, .samples_bytes = bytes})).is, Is::kMalformed)
        << bytes;
  }
  EXPECT_EQ(Read(good, kSamples).is, Is::kSamples);
}

TEST_F(NumberedTest, AStreamOfBytesTellsPacketsApart) {
  const std::vector<std::byte> bytes = Numbered(1);
  const std::span<const std::byte> prefix(bytes.data(), reader_->prefix_bytes());
  EXPECT_EQ(reader_->SizeOf(prefix), bytes.size());
  EXPECT_EQ(reader_->SizeOf(Numbered(1, /*end=*/true)), packets::numbered::kHeaderBytes);
  EXPECT_EQ(reader_->SizeOf(std::vector<std::byte>(16)), std::nullopt);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::ingest
