// Records that a stranger has made, check values and all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/crc/crc32c.h"
#include "dataplane/little_endian.h"
#include "storage_node/format/config.h"
#include "storage_node/format/index.h"
#include "storage_node/format/json_text.h"
#include "storage_node/format/manifest.h"

namespace tapedeck::storage_node::format {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr uint64_t kUsualBlock = 64 << 10;
constexpr char kSomeUid[] = "00112233-4455-4677-8899-aabbccddeeff";

json Parsed(const std::string& text) { return json::parse(text, nullptr, false); }

json UsualManifest() {
  return Parsed(EncodeManifest({.id = "20261120T235144Z-3f2a",
                                .identity = {.channel = "adsb", .epoch = 7},
                                .members = 2,
                                .block_bytes = kUsualBlock,
                                .datatype = "cf32_le",
                                .sample_rate = 2.4e6,
                                .state = services::RecordingState::kSalvaged,
                                .blocks = 100,
                                .bytes = 97 * kUsualBlock,
                                .durable_watermark = 40,
                                .missing = {{.first = 40, .count = 2}, {.first = 50, .count = 1}},
                                .end_time_ns = 5}));
}

json UsualLun() {
  return Parsed(EncodeLun({.name = "luns/l",
                           .uid = kSomeUid,
                           .store = "direct",
                           .members = {"/a", "/b"},
                           .prewrite_files = 2,
                           .prewrite_bytes = 1 << 20},
                          1));
}

json UsualChannel() {
  return Parsed(EncodeChannel({.name = "luns/l/channels/c",
                               .block_bytes = kUsualBlock,
                               .datatype = "cu8",
                               .sample_rate = 2e6}));
}

// What it says of the record with one value changed, and a check value that fits.
template <typename T>
absl::Status With(absl::StatusOr<T> (*decode)(absl::string_view), json record, const char* key,
                  const char* value) {
  EXPECT_TRUE(decode(SealJson(record)).ok()) << decode(SealJson(record)).status();
  record[key] = Parsed(value);
  return decode(SealJson(record)).status();
}

using Bad = std::vector<std::pair<const char*, const char*>>;

Bad BadManifests() {
  return {{"id", R"("../../etc")"},
          {"id", R"("")"},
          {"id", "7"},
          {"channel", R"("a/b")"},
          {"channel", R"("..")"},
          {"uid", R"("0")"},
          {"uid", R"("-0112233445544677-8899aabbccddee----")"},
          {"lun_uid", "null"},
          {"epoch", "4294967296"},
          {"members", "0"},
          {"members", "65"},
          {"members", "4294967297"},
          {"members", "-1"},
          {"block_bytes", "0"},
          {"block_bytes", "511"},
          {"block_bytes", "8392704"},
          {"block_bytes", "4295032832"},
          {"datatype", R"("cf99")"},
          {"sample_rate", "-1"},
          {"sample_rate", R"("1")"},
          {"transfer_op", R"("PUSH")"},
          {"commit_level", R"("never")"},
          {"state", R"("DELETING")"},
          {"state", R"("?")"},
          {"labels", "[]"},
          {"labels", R"({"a": 1})"},
          {"earlier_originals", "{}"},
          {"earlier_originals", "[1]"},
          {"earlier_originals", R"(["a","b","c","d","e","f","g","h"])"},
          {"annotations", "{}"},
          {"annotations", "[1]"},
          {"annotations", R"([{"sample_start": -1}])"},
          {"annotations", R"([{"label": []}])"},
          {"kept", "1"},
          {"generation", "-1"},
          {"generation", R"("1")"},
          {"generation", "4611686018427387905"},
          {"open_time_ns", "9223372036854775807"},
          {"start_time_ns", "9223372036854775807"},
          {"end_time_ns", "-9223372036854775808"},
          {"end_time_ns", "18446744073709551615"},
          {"blocks", "18446744073709551615"},
          {"blocks", "281474976710656"},  // times block_bytes: above 2^62
          {"bytes", "6553601"},
          {"durable_watermark", "101"},
          {"missing", "1"},
          {"missing", "[[1]]"},
          {"missing", "[[1,2,3]]"},
          {"missing", "[[-1,2]]"},
          {"missing", "[[1,0]]"},
          {"missing", "[[99,2]]"},
          {"missing", "[[50,1],[40,2]]"},
          {"missing", "[[40,2],[41,1]]"},
          {"missing", "[[2,18446744073709551615]]"},
          {"version", "2"},
          {"cause", "1"}};
}

TEST(CraftedRecords, ManifestsWithValuesThatNoRecordingHas) {
  for (const auto& [key, value] : BadManifests()) {
    EXPECT_FALSE(With(DecodeManifest, UsualManifest(), key, value).ok()) << key << ": " << value;
  }
}

TEST(CraftedRecords, ManifestsOfWhatNothingCanHaveMade) {
  const Bad bad = {{"origin", "[]"},
                   {"origin", R"({"source": 1})"},
                   {"origin", R"({"source": {"name": []}})"},
                   {"origin", R"({"source": {"parameters": {"a": 1}}})"},
                   {"origin", R"({"transforms": {"a": 1}})"},
                   {"origin", R"({"transforms": [1]})"},
                   {"origin", R"({"transforms": [{"parameters": {}}]})"},
                   {"origin", R"({"datatype": "cf99"})"},
                   {"group", R"({"id": "../x"})"},
                   {"group", R"({"id": "g", "members": 65})"},
                   {"group", R"({"id": "g", "number": -1})"},
                   {"part", R"({"number": 3, "parts": 2, "copies": 1, "whole": "r"})"},
                   {"part", R"({"number": 1, "parts": 2, "copies": 1, "whole": "../r"})"},
                   {"part", R"({"number": 1})"}};
  for (const auto& [key, value] : bad) {
    EXPECT_FALSE(With(DecodeManifest, UsualManifest(), key, value).ok()) << key << ": " << value;
  }
}

TEST(CraftedRecords, LunsWithValuesThatNoLunHas) {
  const Bad bad = {{"name", R"("luns/../x")"},
                   {"name", R"("l")"},
                   {"uid", R"("u")"},
                   {"store", R"("../tape")"},
                   {"full_policy", R"("burst")"},
                   {"members", R"([""])"},
                   {"members", R"(["relative"])"},
                   {"members", R"(["/a\u0000b"])"},
                   {"members", R"([1])"},
                   {"members", R"("/a")"},
                   {"max_age_ns", "-1"},
                   {"max_age_ns", "9223372036854775807"},
                   {"max_fill_percent", "101"},
                   {"prewrite_files", "1001"},
                   {"prewrite_files", "4294967297"},
                   {"prewrite_files", "0"},
                   {"prewrite_bytes", "4095"},
                   {"prewrite_bytes", "0"}};
  for (const auto& [key, value] : bad) {
    EXPECT_FALSE(With(DecodeLun, UsualLun(), key, value).ok()) << key << ": " << value;
  }
  json many = UsualLun();
  many["members"] = std::vector<std::string>(65, "/a");
  EXPECT_FALSE(DecodeLun(SealJson(many)).ok());
}

TEST(CraftedRecords, ChannelsWithValuesThatNoChannelHas) {
  const Bad bad = {{"name", R"("luns/l/channels/..")"},
                   {"name", R"("luns/l")"},
                   {"block_bytes", "0"},
                   {"block_bytes", "1000"},
                   {"block_bytes", "4295032832"},
                   {"datatype", R"("")"},
                   {"sample_rate", "-1"},
                   {"transfer_op", R"("PUSH")"},
                   {"commit_level", R"("")"},
                   {"pre_trigger_ns", "-1"},
                   {"pre_trigger_ns", "9223372036854775807"},
                   {"post_trigger_ns", "9223372036854775807"},
                   {"segment_bytes", "-1"},
                   {"move_to", R"("deep")"},
                   {"move_to", R"("luns/../x")"},
                   {"move_after_ns", "1"},
                   {"move_after_ns", "-1"},
                   {"move_after_ns", "9223372036854775807"},
                   {"move_rate_bytes_per_second", "-1"}};
  for (const auto& [key, value] : bad) {
    EXPECT_FALSE(With(DecodeChannel, UsualChannel(), key, value).ok()) << key << ": " << value;
  }
}

// Whoever sets it is refused; what is stored is no damage.
TEST(CraftedRecords, AChannelThatMovesSlowlyIsRead) {
  EXPECT_TRUE(With(DecodeChannel, UsualChannel(), "move_rate_bytes_per_second", "1").ok());
}

// So deep that a function which calls itself for each level runs out of its stack.
TEST(CraftedRecords, NestedJsonIsRefusedBeforeItIsWalked) {
  constexpr int kLevels = 400'000;
  for (const auto& [begin, end] : {std::pair("[", "]"), std::pair("{\"a\":", "}")}) {
    std::string text = R"({"x\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[": )";
    for (int i = 0; i < kLevels; ++i) text += begin;
    text += "0";
    for (int i = 0; i < kLevels; ++i) text += end;
    text += "}";
    for (const absl::Status& status :
         {DecodeManifest(text).status(), DecodeLun(text.substr(0, 60'000)).status(),
          DecodeChannel(text.substr(0, 60'000)).status()}) {
      EXPECT_TRUE(absl::IsDataLoss(status)) << status.code();
    }
  }
}

TEST(CraftedRecords, BracketsInTextAreNoLevels) {
  json manifest = UsualManifest();
  manifest["labels"] = {{"a", std::string(100, '[')},
                        {"b\\", "\\\"{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{"}};
  EXPECT_TRUE(DecodeManifest(SealJson(manifest)).ok());
}

TEST(CraftedRecords, LargestManifestThatIsWrittenIsRead) {
  Manifest manifest = *DecodeManifest(SealJson(UsualManifest()));
  manifest.labels["long"] = std::string(64 << 10, '\x01');  // six bytes each, escaped
  const std::string marker(512 * 1024 / 10'000, '\x01');
  for (int i = 0; i < 10'000; ++i) {
    manifest.annotations.push_back({.sample_start = UINT64_MAX, .label = marker});
  }
  manifest.blocks = 1'000'000'000;
  manifest.missing.clear();
  for (uint64_t i = 0; i < 80'000; ++i) {
    manifest.missing.push_back({.first = 900'000'000 + 2 * i, .count = 1});
  }
  const std::string text = EncodeManifest(manifest);
  EXPECT_TRUE(DecodeManifest(text).ok()) << text.size() << " bytes";
  EXPECT_THAT(std::string(DecodeManifest(std::string(100 << 20, ' ')).status().message()),
              HasSubstr("at most"));
}

// As an attacker writes it: with the values he likes, and the right check value.
std::vector<std::byte> CraftedEntry(const EntryFormat& format, const IndexEntry& entry) {
  std::vector<std::byte> bytes(format.entry_bytes);
  IndexEntry honest = entry;
  honest.payload_bytes = 1;
  honest.pieces = {1};
  format.Encode(honest, 0, bytes);
  dataplane::PutLittleEndian(&bytes[32], entry.payload_bytes);
  std::array<std::byte, 12> seed;
  dataplane::PutLittleEndian(&seed[0], format.Offset(entry.sequence));
  dataplane::PutLittleEndian(&seed[8], uint32_t{0});
  const auto rest = std::span(bytes).first(bytes.size() - 4);
  dataplane::PutLittleEndian(&bytes[bytes.size() - 4],
                             dataplane::Crc32cExtend(dataplane::Crc32c(seed), rest));
  return bytes;
}

TEST(CraftedRecords, EntriesOfMoreThanABlock) {
  for (const uint64_t block : {uint64_t{512}, kUsualBlock, uint64_t{1} << 20, uint64_t{8} << 20}) {
    const EntryFormat format = EntryFormat::Of(block, 3);
    const auto decode = [&](uint32_t bytes, uint32_t flags) {
      const auto entry =
          CraftedEntry(format, {.sequence = 5, .payload_bytes = bytes, .flags = flags});
      return format.Decode(entry, 5, 0).status();
    };
    EXPECT_TRUE(decode(static_cast<uint32_t>(block), 0).ok());
    EXPECT_TRUE(decode(0, 1).ok());
    EXPECT_TRUE(absl::IsDataLoss(decode(static_cast<uint32_t>(block) + 1, 0))) << block;
    EXPECT_TRUE(absl::IsDataLoss(decode(UINT32_MAX, 0))) << block;
    EXPECT_TRUE(absl::IsDataLoss(decode(1, 1))) << "missing, with payload";
  }
}

TEST(CraftedRecords, HeadersAndWatermarksThatNoRecordingHas) {
  const IndexHeader good{.block_bytes = kUsualBlock, .epoch = 1, .members = 2};
  EXPECT_TRUE(DecodeHeader(EncodeHeader(good, 0), 0).ok());
  for (const uint32_t members : {0u, 65u, UINT32_MAX}) {
    IndexHeader bad = good;
    bad.members = members;
    EXPECT_TRUE(absl::IsDataLoss(DecodeHeader(EncodeHeader(bad, 0), 0).status())) << members;
  }
  for (const uint32_t block : {511u, (8u << 20) + 512, UINT32_MAX}) {
    IndexHeader bad = good;
    bad.block_bytes = block;
    EXPECT_TRUE(absl::IsDataLoss(DecodeHeader(EncodeHeader(bad, 0), 0).status())) << block;
  }
  const Uuid uuid = *Uuid::Parse(kSomeUid);
  const Watermark last{.recording = uuid, .generation = UINT64_MAX - 1};
  EXPECT_FALSE(DecodeWatermark(EncodeWatermark(last, 0), uuid, 0, 0).ok())
      << "the next one would be older";
}

}  // namespace
}  // namespace tapedeck::storage_node::format
