#include "storage_node/format/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"

namespace tapedeck::storage_node::format {
namespace {

const IndexEntry kEntry{.sequence = 3,
                        .sample_index = 393'216,
                        .capture_ns = 1'795'218'704'000'000'000,
                        .payload_bytes = 9,
                        .flags = 0,
                        .check = 0xb156b3d1,
                        .payload_crc32c = 0xe3069283,
                        .pieces = {0xe3069283}};
const EntryFormat kFormat = EntryFormat::Of(1 << 20, 0x01020304);

// An entry of a block of 1 MiB.
using EntryBytes = std::array<std::byte, 128>;

EntryBytes Encode(uint32_t copy) {
  EntryBytes bytes;
  kFormat.Encode(kEntry, copy, bytes);
  return bytes;
}

IndexHeader Header() {
  return {.lun = *Uuid::Parse("00112233-4455-4677-8899-aabbccddeeff"),
          .recording = *Uuid::Parse("0f1e2d3c-4b5a-4968-8776-a5b4c3d2e1f0"),
          .block_bytes = 1 << 20,
          .epoch = 0x01020304,
          .members = 2};
}

template <size_t n>
std::string Hex(const std::array<std::byte, n>& bytes, size_t first, size_t count) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()) + first, count));
}

template <size_t n, typename Decode>
void ExpectEveryFlippedBitIsFound(std::array<std::byte, n> bytes, Decode decode) {
  ASSERT_TRUE(decode(bytes));
  for (size_t bit = 0; bit < n * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_FALSE(decode(bytes)) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
  }
}

// These bytes are on disks: a change of them is a change of the format. They were computed by an
// independent program from the tables of storage_node/format/README.md, whose worked example they
// are.
TEST(IndexEntry, GoldenBytes) {
  const EntryBytes bytes = Encode(0);
  EXPECT_EQ(Hex(bytes, 0, 56),
            "54444945010000000300000000000000000006000000000000a00e5ae6e5e918"
            "0900000000000000d1b356b1839206e304030201839206e3");
  EXPECT_EQ(Hex(bytes, 56, 68), std::string(136, '0'));
  EXPECT_EQ(Hex(bytes, 124, 4), "50d67c77");
  EXPECT_EQ(*kFormat.Decode(bytes, 3, 0), kEntry);
}

TEST(IndexEntry, EveryFlippedBitIsFound) {
  ExpectEveryFlippedBitIsFound(
      Encode(1), [](const EntryBytes& bytes) { return kFormat.Decode(bytes, 3, 1).ok(); });
}

TEST(IndexEntry, ValidOnlyAtItsPlaceAndInItsCopy) {
  const EntryBytes bytes = Encode(0);
  EXPECT_TRUE(absl::IsDataLoss(kFormat.Decode(bytes, 4, 0).status()));
  EXPECT_TRUE(absl::IsDataLoss(kFormat.Decode(bytes, 3, 1).status()));
}

TEST(IndexEntry, OfAnEarlierRecordingIsTold) {
  EntryFormat later = kFormat;
  ++later.epoch;
  EXPECT_TRUE(absl::IsAborted(later.Decode(Encode(0), 3, 0).status()));
}

TEST(IndexEntry, ZeroesAreUnwrittenNotDamaged) {
  EXPECT_TRUE(absl::IsNotFound(kFormat.Decode(EntryBytes{}, 0, 0).status()));
}

TEST(EntryFormat, SixteenPiecesUpTo64KiBEach) {
  struct Row {
    uint64_t block_bytes;
    uint32_t piece_bytes, entry_bytes;
  };
  for (const Row& row : {Row{64 << 10, 4096, 128}, Row{68 << 10, 8192, 128},
                         Row{1 << 20, 64 << 10, 128}, Row{8 << 20, 64 << 10, 576}}) {
    const EntryFormat format = EntryFormat::Of(row.block_bytes, 0);
    EXPECT_EQ(format.piece_bytes, row.piece_bytes) << row.block_bytes;
    EXPECT_EQ(format.entry_bytes, row.entry_bytes) << row.block_bytes;
  }
}

TEST(IndexHeader, GoldenBytes) {
  const Page page = EncodeHeader(Header(), 1);
  EXPECT_EQ(Hex(page, 0, 56),
            "544449580100800000112233445546778899aabbccddeeff0f1e2d3c4b5a4968"
            "8776a5b4c3d2e1f000001000040302010200000000000100");
  EXPECT_EQ(Hex(page, kPageBytes - 4, 4), "29a60ff1");
  EXPECT_EQ(*DecodeHeader(page, 1), Header());
  EXPECT_TRUE(absl::IsDataLoss(DecodeHeader(page, 0).status()));
}

TEST(IndexHeader, HasTheTextOfAManifest) {
  IndexHeader header = Header();
  header.manifest = std::string(kMaxHeaderManifestBytes, 'm');
  const Page page = EncodeHeader(header, 1);
  EXPECT_EQ(Hex(page, 56, 5), "c00f00006d");
  EXPECT_EQ(DecodeHeader(page, 1)->manifest, header.manifest);
  EXPECT_EQ(*DecodeHeader(page, 1), Header()) << "the text tells no recording from another";
}

TEST(IndexHeader, EveryFlippedBitIsFound) {
  IndexHeader header = Header();
  for (const char* text : {"", "{\"version\":2}"}) {
    header.manifest = text;
    ExpectEveryFlippedBitIsFound(EncodeHeader(header, 0),
                                 [](const Page& page) { return DecodeHeader(page, 0).ok(); });
  }
}

class WatermarkPages : public testing::Test {
 protected:
  void Write(uint64_t generation, uint64_t durable) {
    const Page page =
        EncodeWatermark({.recording = uuid_, .generation = generation, .durable = durable}, 0);
    std::ranges::copy(page, file_.begin() + static_cast<ptrdiff_t>(WatermarkOffset(generation)));
  }
  std::optional<Watermark> Newest() {
    return NewestWatermark(std::span(file_).subspan(kPageBytes), uuid_, 0);
  }

  const Uuid uuid_ = Header().recording;
  std::vector<std::byte> file_ = std::vector<std::byte>(kEntriesOffset);
};

TEST_F(WatermarkPages, NewerGenerationWins) {
  EXPECT_FALSE(Newest().has_value());
  Write(1, 10);
  Write(2, 20);
  EXPECT_EQ(Newest()->durable, 20u);
  Write(3, 30);
  EXPECT_EQ(Newest()->durable, 30u);
}

TEST_F(WatermarkPages, TornWriteLeavesTheOtherPage) {
  Write(1, 10);
  Write(2, 20);
  Write(3, 30);
  std::ranges::fill(std::span(file_).subspan(WatermarkOffset(3) + 512, 512), std::byte{0xff});
  EXPECT_EQ(Newest()->durable, 20u);
}

TEST_F(WatermarkPages, PagesOfAnotherRecordingOrPlaceDoNotCount) {
  Write(4, 40);
  EXPECT_FALSE(NewestWatermark(std::span(file_).subspan(kPageBytes), Header().lun, 0).has_value());
  EXPECT_FALSE(NewestWatermark(std::span(file_).subspan(kPageBytes), uuid_, 1).has_value());
  std::copy_n(file_.begin() + kPageBytes, kPageBytes, file_.begin() + 2 * kPageBytes);
  std::fill_n(file_.begin() + kPageBytes, kPageBytes, std::byte{0});
  EXPECT_FALSE(Newest().has_value());
}

TEST_F(WatermarkPages, ShortFileHasNone) {
  EXPECT_FALSE(NewestWatermark({}, uuid_, 0).has_value());
}

}  // namespace
}  // namespace tapedeck::storage_node::format
