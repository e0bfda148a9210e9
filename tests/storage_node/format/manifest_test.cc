#include "storage_node/format/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "storage_node/format/config.h"
#include "storage_node/format/json_text.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::format {
namespace {

Manifest ExampleManifest() {
  return {.id = "20261120T235144Z-3f2a",
          .identity = {.lun = *Uuid::Parse("00112233-4455-4677-8899-aabbccddeeff"),
                       .recording = *Uuid::Parse("0f1e2d3c-4b5a-4968-8776-a5b4c3d2e1f0"),
                       .channel = "adsb",
                       .epoch = 7},
          .members = 2,
          .block_bytes = 1 << 20,
          .datatype = "cf32_le",
          .sample_rate = 2.4e6,
          .op = dataplane::TransferOp::kSend,
          .commit = dataplane::CommitLevel::kWritten,
          .labels = {{"site", "north"}, {"odd \"key\"\n", "ü"}},
          .origin = {.source = {.name = "synth", .parameters = {{"seed", "7"}, {"tones", ""}}},
                     .transforms = {{.name = "fft", .parameters = {{"points", "64"}}},
                                    {.name = "fft", .parameters = {{"points", "16"}}}},
                     .datatype = "cf32_le",
                     .device = "host",
                     .worker = "w1",
                     .version = "0.1.0",
                     .beside = "luns/l/channels/c",
                     .original_cause = "ABORTED",
                     .move_draft = "u",
                     .repairs = "r",
                     .metadata = R"({"global":{"core:author":"A"}})"},
          .group = services::model::RecordingGroup{.id = "5f-1",
                                                   .name = "array",
                                                   .number = 2,
                                                   .members = 4,
                                                   .starts_at_ns = 1'795'218'704'000'000'001,
                                                   .clock = "system",
                                                   .clock_error_ns = 1200},
          .part = services::model::Part{.number = 2, .parts = 3, .copies = 2, .whole = "r"},
          .original = "luns/o/channels/c/recordings/20261120T235144Z-3f2a",
          .original_uid = "1f1e2d3c-4b5a-4968-8776-a5b4c3d2e1f0",
          .earlier_originals = {"luns/p/channels/c/recordings/r", "luns/q/channels/c/recordings/r"},
          .open_time_ns = 1'795'218'704'123'456'789,
          .annotations = {{.sample_start = 5, .sample_count = 2, .label = "burst"},
                          {.label = "lost", .details = R"({"x:y":[1]})", .foreign = true}},
          .state = services::RecordingState::kSalvaged,
          .blocks = 100,
          .bytes = 97ull << 20,
          .durable_watermark = 40,
          .missing = {{.first = 40, .count = 2}, {.first = 50, .count = 1}},
          .start_time_ns = 1'795'218'704'130'000'001,
          .end_time_ns = 1'795'218'705'000'000'000,
          .cause = "ABORTED: power cut"};
}

TEST(Manifest, ComesBackAsItWas) {
  const std::string text = EncodeManifest(ExampleManifest());
  const auto back = DecodeManifest(text);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(EncodeManifest(*back), text);
  EXPECT_EQ(back->identity.epoch, 7u);
  EXPECT_EQ(back->open_time_ns, ExampleManifest().open_time_ns);
  EXPECT_EQ(back->start_time_ns, ExampleManifest().start_time_ns);
  EXPECT_EQ(back->labels, ExampleManifest().labels);
  EXPECT_EQ(back->origin, ExampleManifest().origin);
  EXPECT_EQ(back->annotations, ExampleManifest().annotations);
  EXPECT_EQ(back->group, ExampleManifest().group);
  EXPECT_EQ(back->part, ExampleManifest().part);
  EXPECT_EQ(back->missing, ExampleManifest().missing);
  EXPECT_EQ(back->missing_blocks(), 3u);
  EXPECT_EQ(back->cause, ExampleManifest().cause);
  EXPECT_EQ(back->earlier_originals, ExampleManifest().earlier_originals);
}

TEST(Manifest, TellsAnUnknownStartFromThatOf1970) {
  Manifest manifest = ExampleManifest();
  for (const auto& start : {services::model::SampleTime(), services::model::SampleTime(0)}) {
    manifest.start_time_ns = start;
    const auto back = DecodeManifest(EncodeManifest(manifest));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back->start_time_ns, start);
    EXPECT_EQ(ToRecording(*back, "luns/l/channels/c").start_time_ns, start);
  }
}

TEST(Manifest, KeepsWhatTheTransferSpentItsTimeOn) {
  Manifest manifest = ExampleManifest();
  EXPECT_TRUE(DecodeManifest(EncodeManifest(manifest))->stage_times.empty());
  manifest.stage_times = {{"work.source", "", 5}, {"send.rail", "r1", 1'000'000'000'000}};
  const auto back = DecodeManifest(EncodeManifest(manifest));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->stage_times, manifest.stage_times);
  EXPECT_EQ(ToRecording(*back, "luns/l/channels/c").stage_times, manifest.stage_times);
}

// As it was when the recording began, the same at any later time: a power cut may tear the page.
TEST(Manifest, GoesIntoTheHeaderOfItsIndex) {
  Manifest manifest = ExampleManifest();
  manifest.resume_token = std::string(32, 'a');
  const std::string text = manifest.index_header().manifest;
  manifest.annotations.resize(3);
  manifest.state = services::RecordingState::kSealed;
  manifest.kept = true;
  manifest.Advance();
  EXPECT_EQ(manifest.index_header().manifest, text);
  const auto begun = DecodeManifest(text);
  ASSERT_TRUE(begun.ok()) << begun.status();
  EXPECT_EQ(begun->state, services::RecordingState::kRecording);
  EXPECT_EQ(begun->index_header(), manifest.index_header());
  EXPECT_EQ(begun->labels, manifest.labels);
  EXPECT_EQ(begun->open_time_ns, manifest.open_time_ns);
  EXPECT_EQ(begun->start_time_ns, std::nullopt);
  EXPECT_EQ(begun->resume_token, "");
  EXPECT_EQ(begun->blocks, 0u);
}

TEST(Manifest, TheMetadataOfAnImportIsTheFirstToLeaveTheHeader) {
  Manifest manifest = ExampleManifest();
  manifest.origin.metadata = std::string(5000, 'x');
  const auto begun = DecodeManifest(manifest.index_header().manifest);
  ASSERT_TRUE(begun.ok()) << begun.status();
  EXPECT_EQ(begun->labels, manifest.labels);
  EXPECT_EQ(begun->origin.source, manifest.origin.source);
  EXPECT_EQ(begun->origin.metadata, "");
}

TEST(Manifest, ThatIsLongGoesIntoTheHeaderWithoutItsLabels) {
  Manifest manifest = ExampleManifest();
  manifest.origin.metadata.clear();
  manifest.labels["long"] = std::string(5000, 'x');
  const auto begun = DecodeManifest(manifest.index_header().manifest);
  ASSERT_TRUE(begun.ok()) << begun.status();
  EXPECT_TRUE(begun->labels.empty());
  EXPECT_EQ(begun->datatype, manifest.datatype);
  EXPECT_EQ(begun->origin, manifest.origin);
  manifest.origin.source.parameters["long"] = std::string(4096, 'x');
  const auto shorter = DecodeManifest(manifest.index_header().manifest);
  ASSERT_TRUE(shorter.ok()) << shorter.status();
  EXPECT_EQ(shorter->origin, services::model::Origin{.datatype = "cf32_le"});
  EXPECT_EQ(shorter->part, manifest.part);
}

TEST(Manifest, OfAnotherVersionIsRefusedWithIt) {
  const std::string text = EncodeManifest(ExampleManifest());
  for (const int version : {1, 2, 4}) {
    auto object = nlohmann::json::parse(text);
    object["version"] = version;
    const absl::Status status = DecodeManifest(SealJson(object)).status();
    EXPECT_THAT(std::string(status.message()),
                testing::HasSubstr(absl::StrCat("version ", version, " is not known")));
  }
}

TEST(Manifest, SaysNothingOfAnOriginThatNobodyKnows) {
  Manifest manifest = ExampleManifest();
  manifest.origin = {};
  manifest.group.reset();
  manifest.part.reset();
  const auto object = nlohmann::json::parse(EncodeManifest(manifest));
  for (const char* key : {"origin", "group", "part"}) EXPECT_FALSE(object.contains(key)) << key;
  const auto back = DecodeManifest(EncodeManifest(manifest));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->origin, services::model::Origin());
  EXPECT_FALSE(back->group.has_value() || back->part.has_value());
}

TEST(Manifest, ChangedTextIsFound) {
  const std::string text = EncodeManifest(ExampleManifest());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] ^= 1;
    const auto back = DecodeManifest(changed);
    // Only space between tokens may change without harm.
    if (back.ok()) {
      EXPECT_EQ(EncodeManifest(*back), text) << "byte " << i;
    }
  }
  EXPECT_TRUE(absl::IsDataLoss(DecodeManifest("").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeManifest("[]").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeManifest(text.substr(0, text.size() / 2)).status()));
}

TEST(Manifest, LabelsThatAreNotUtf8DoNoHarm) {
  Manifest manifest = ExampleManifest();
  manifest.labels = {{"raw", "\xff\xfe"}};
  EXPECT_TRUE(DecodeManifest(EncodeManifest(manifest)).ok());
}

TEST(Manifest, GenerationGrowsUpToItsEnd) {
  Manifest manifest = ExampleManifest();
  EXPECT_EQ(DecodeManifest(EncodeManifest(manifest))->generation, 0u);
  manifest.Advance();
  manifest.Advance();
  EXPECT_EQ(DecodeManifest(EncodeManifest(manifest))->generation, 2u);
  manifest.generation = kMaxGeneration;  // as a stranger may say
  manifest.Advance();
  EXPECT_EQ(DecodeManifest(EncodeManifest(manifest))->generation, kMaxGeneration);
}

// As it was written before there was one.
TEST(Manifest, WithoutGenerationIsOfTheFirst) {
  Manifest manifest = ExampleManifest();
  manifest.generation = 7;
  auto object = nlohmann::json::parse(EncodeManifest(manifest));
  object.erase("generation");
  const auto back = DecodeManifest(SealJson(object));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->generation, 0u);
  EXPECT_EQ(back->blocks, manifest.blocks);
}

TEST(Manifest, NewerVersionsAreRefusedNotGuessed) {
  EXPECT_THAT(
      std::string(DecodeManifest("{\"version\":2,\"crc32c\":\"00000000\"}").status().message()),
      testing::HasSubstr("crc32c"));
}

TEST(Manifest, ShowsAsARecording) {
  const services::Recording recording = ToRecording(ExampleManifest(), "luns/l/channels/adsb");
  EXPECT_EQ(recording.name, "luns/l/channels/adsb/recordings/20261120T235144Z-3f2a");
  EXPECT_EQ(recording.missing_blocks, 3u);
  EXPECT_EQ(recording.uid, "0f1e2d3c-4b5a-4968-8776-a5b4c3d2e1f0");
}

TEST(Manifest, SequencesCollectIntoRanges) {
  std::vector<SequenceRange> ranges;
  for (const uint64_t s : {1, 2, 3, 7, 9, 10}) AppendSequence(&ranges, s);
  EXPECT_THAT(ranges,
              testing::ElementsAre(SequenceRange{1, 3}, SequenceRange{7, 1}, SequenceRange{9, 2}));
}

}  // namespace
}  // namespace tapedeck::storage_node::format
