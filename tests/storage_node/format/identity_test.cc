#include "storage_node/format/identity.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "dataplane/crc/crc32c.h"
#include "storage_node/format/block_check.h"

namespace tapedeck::storage_node::format {
namespace {

RecordingIdentity Example() {
  return {.lun = *Uuid::Parse("00112233-4455-4677-8899-aabbccddeeff"),
          .recording = *Uuid::Parse("0f1e2d3c-4b5a-4968-8776-a5b4c3d2e1f0"),
          .channel = "adsb",
          .epoch = 0x01020304};
}

std::vector<std::byte> Bytes(const std::string& text) {
  const auto bytes = std::as_bytes(std::span<const char>(text));
  return {bytes.begin(), bytes.end()};
}

// Identity ‖ payload, laid out by hand as in README.md.
std::vector<std::byte> ByHand(const RecordingIdentity& identity, uint64_t sequence, Place place,
                              const std::vector<std::byte>& payload) {
  std::vector<std::byte> bytes;
  const auto number = [&](uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  bytes.insert(bytes.end(), identity.lun.bytes.begin(), identity.lun.bytes.end());
  bytes.insert(bytes.end(), identity.recording.bytes.begin(), identity.recording.bytes.end());
  number(sequence, 8);
  number(place.offset, 8);
  number(place.member, 4);
  number(identity.epoch, 4);
  number(identity.channel.size(), 4);
  for (const char c : identity.channel) bytes.push_back(static_cast<std::byte>(c));
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

TEST(Identity, BlocksAreDealtToMembersInTurn) {
  EXPECT_EQ(PlaceOf(7, 4096, 1), (Place{.member = 0, .offset = 7 * 4096}));
  EXPECT_EQ(PlaceOf(7, 4096, 2), (Place{.member = 1, .offset = 3 * 4096}));
  EXPECT_EQ(PlaceOf(7, 4096, 3), (Place{.member = 1, .offset = 2 * 4096}));
}

TEST(Identity, CheckValueIsTheCrcOfIdentityAndPayload) {
  std::mt19937_64 random(1);
  for (const size_t size : {0, 1, 63, 4096, 100'000}) {
    std::vector<std::byte> payload(size);
    for (std::byte& b : payload) b = static_cast<std::byte>(random());
    const Place place = PlaceOf(5, 1 << 20, 2);
    EXPECT_EQ(CheckValue(Example(), 5, place, dataplane::Crc32c(payload), size),
              dataplane::Crc32c(ByHand(Example(), 5, place, payload)));
  }
}

// The numbers of the worked example in storage_node/format/README.md.
TEST(Identity, WorkedExample) {
  const auto payload = Bytes("123456789");
  EXPECT_EQ(dataplane::Crc32c(payload), 0xe3069283u);
  const Place place = PlaceOf(3, 1 << 20, 2);
  EXPECT_EQ(place, (Place{.member = 1, .offset = 1 << 20}));
  EXPECT_EQ(CheckValue(Example(), 3, place, 0xe3069283, 9), 0xb156b3d1u);
}

constexpr uint32_t kPieceBytes = 4096;

TEST(Identity, EveryPartOfTheIdentityCounts) {
  const auto payload = Bytes("payload");
  const uint32_t crc = dataplane::Crc32c(payload);
  const Place place{.member = 0, .offset = 4096};
  const IndexEntry entry{.sequence = 1,
                         .payload_bytes = 7,
                         .check = CheckValue(Example(), 1, place, crc, 7),
                         .payload_crc32c = crc,
                         .pieces = {crc}};
  EXPECT_EQ(CheckBlock(Example(), 1, place, entry, kPieceBytes, payload).kind, DamageKind::kNone);

  std::vector<RecordingIdentity> others(4, Example());
  others[0].lun.bytes[3] ^= std::byte{1};
  others[1].recording.bytes[15] ^= std::byte{128};
  others[2].channel = "adsc";
  others[3].epoch += 1;
  for (const RecordingIdentity& other : others) {
    EXPECT_EQ(CheckBlock(other, 1, place, entry, kPieceBytes, payload).kind, DamageKind::kStale);
  }
  EXPECT_EQ(CheckBlock(Example(), 2, place, entry, kPieceBytes, payload).kind, DamageKind::kStale);
  EXPECT_EQ(
      CheckBlock(Example(), 1, {.member = 1, .offset = 4096}, entry, kPieceBytes, payload).kind,
      DamageKind::kStale);
  EXPECT_EQ(
      CheckBlock(Example(), 1, {.member = 0, .offset = 8192}, entry, kPieceBytes, payload).kind,
      DamageKind::kStale);
}

TEST(Identity, EveryFlippedPayloadBitIsRot) {
  auto payload = Bytes(std::string(128, 'x'));
  const uint32_t crc = dataplane::Crc32c(payload);
  const IndexEntry entry{.payload_bytes = 128,
                         .check = CheckValue(Example(), 0, {}, crc, 128),
                         .payload_crc32c = crc,
                         .pieces = {crc}};
  for (size_t bit = 0; bit < payload.size() * 8; ++bit) {
    payload[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_EQ(CheckBlock(Example(), 0, {}, entry, kPieceBytes, payload).kind, DamageKind::kRot)
        << bit;
    payload[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
  }
  payload.pop_back();
  EXPECT_NE(CheckBlock(Example(), 0, {}, entry, kPieceBytes, payload).kind, DamageKind::kNone);
}

}  // namespace
}  // namespace tapedeck::storage_node::format
