// What SigMF's programs are told of a recording. The schema itself is held against it in
// tests/e2e/sigmf_in_place.sh.
#include "storage_node/format/sigmf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tapedeck::storage_node::format {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kBlockBytes = 64 << 10;
constexpr uint64_t kSamples = kBlockBytes / 8;
constexpr int64_t kSecond = 1'000'000'000;

Manifest Recording() {
  return {.id = "r",
          .block_bytes = kBlockBytes,
          .datatype = "cf32_le",
          .sample_rate = kSamples,  // a block is a second
          .state = services::RecordingState::kSealed,
          .blocks = 10,
          .bytes = 10 * kBlockBytes};
}

json Read(const Manifest& manifest, const std::vector<SigmfRun>& runs) {
  return json::parse(EncodeSigmf(manifest, runs));
}

TEST(SigmfRuns, BeginAtTheFirstBlockAndBehindGaps) {
  Manifest manifest = Recording();
  EXPECT_THAT(SigmfRunsOf(manifest), ElementsAre(0));
  manifest.missing = {{.first = 0, .count = 2}, {.first = 4, .count = 1}, {.first = 9, .count = 1}};
  EXPECT_THAT(SigmfRunsOf(manifest), ElementsAre(2, 5));
  manifest.missing = {{.first = 0, .count = 10}};
  EXPECT_THAT(SigmfRunsOf(manifest), IsEmpty());
}

TEST(SigmfRuns, AreNoMoreThanTheirBound) {
  Manifest manifest = Recording();
  manifest.blocks = 100'000;
  for (uint64_t i = 0; i < 16'000; ++i)
    manifest.missing.push_back({.first = 6 * i + 1, .count = 1});
  EXPECT_EQ(SigmfRunsOf(manifest).size(), kMaxSigmfRuns);
}

TEST(Sigmf, TellsOfTheWholeAndOfItsBeginning) {
  Manifest manifest = Recording();
  manifest.description = "a \"test\"";
  manifest.labels = {{"antenna", "3"}};
  manifest.start_time_ns = 1;
  manifest.origin = {.source = {.name = "synth", .parameters = {{"seed", "7"}}}, .device = "host"};
  const json meta = Read(manifest, {{.block = 0, .sample_index = 7}});
  EXPECT_EQ(meta["global"]["core:datatype"], "cf32_le");
  EXPECT_EQ(meta["global"]["core:sample_rate"], kSamples);
  EXPECT_EQ(meta["global"]["core:description"], "a \"test\"");
  EXPECT_EQ(meta["global"]["tapedeck:labels"]["antenna"], "3");
  EXPECT_EQ(meta["global"]["tapedeck:origin"]["source"]["parameters"]["seed"], "7");
  EXPECT_EQ(meta["global"]["tapedeck:origin"]["device"], "host");
  ASSERT_EQ(meta["captures"].size(), 1u);
  EXPECT_EQ(meta["captures"][0]["core:sample_start"], 0);
  EXPECT_EQ(meta["captures"][0]["core:global_index"], 7);
  EXPECT_EQ(meta["captures"][0]["core:datetime"], "1970-01-01T00:00:00.000000001Z");
  EXPECT_TRUE(meta["annotations"].empty());
}

// Its place in the file, whose blocks are all there, and not in the stream.
TEST(Sigmf, ACaptureFollowsEachGap) {
  Manifest manifest = Recording();
  manifest.missing = {{.first = 3, .count = 2}};
  manifest.start_time_ns = kSecond;
  manifest.annotations = {
      {.sample_start = 1000 + 6 * kSamples + 1, .sample_count = 5, .label = "x"}};
  const json meta = Read(manifest, {{.block = 0, .sample_index = 1000},
                                    {.block = 5, .sample_index = 1000 + 5 * kSamples}});
  ASSERT_EQ(meta["captures"].size(), 2u);
  EXPECT_EQ(meta["captures"][1]["core:sample_start"], 5 * kSamples);
  EXPECT_EQ(meta["captures"][1]["core:datetime"], "1970-01-01T00:00:06.000000000Z");
  ASSERT_EQ(meta["annotations"].size(), 2u);
  EXPECT_EQ(meta["annotations"][0]["core:label"], "missing");
  EXPECT_EQ(meta["annotations"][0]["core:sample_start"], 3 * kSamples);
  EXPECT_EQ(meta["annotations"][0]["core:sample_count"], 2 * kSamples);
  EXPECT_EQ(meta["annotations"][1]["core:sample_start"], 6 * kSamples + 1);
  EXPECT_EQ(meta["annotations"][1]["core:sample_count"], 5);
}

TEST(Sigmf, ACaptureHasWhatHoldsFromThereOn) {
  Manifest manifest = Recording();
  manifest.start_time_ns = 0;
  manifest.annotations = {
      {.sample_start = 2 * kSamples, .label = "signal", .comment = "frequency=99000000 gain=3.5"},
      {.sample_start = 0, .label = "signal", .comment = "frequency=98000000"},
      {.sample_start = 3 * kSamples, .label = "signal", .comment = "frequency=much gain"}};
  const json meta = Read(manifest, {{.block = 0, .sample_index = 0}});
  ASSERT_EQ(meta["captures"].size(), 3u);
  EXPECT_EQ(meta["captures"][0]["core:frequency"], 98e6);
  EXPECT_EQ(meta["captures"][1]["core:sample_start"], 2 * kSamples);
  EXPECT_EQ(meta["captures"][1]["core:frequency"], 99e6);
  EXPECT_EQ(meta["captures"][1]["tapedeck:gain"], 3.5);
  EXPECT_EQ(meta["captures"][1]["core:datetime"], "1970-01-01T00:00:02.000000000Z");
  EXPECT_FALSE(meta["captures"][2].contains("core:frequency"));
  EXPECT_TRUE(meta["annotations"].empty());
}

TEST(Sigmf, LeavesOutWhatLiesOutside) {
  Manifest manifest = Recording();
  manifest.annotations = {{.sample_start = 5, .label = "before"},
                          {.sample_start = 10 + 10 * kSamples + 1, .label = "behind"},
                          {.sample_start = UINT64_MAX, .sample_count = UINT64_MAX, .label = "far"},
                          {.sample_start = 11, .sample_count = UINT64_MAX, .label = "long"}};
  const json meta = Read(manifest, {{.block = 0, .sample_index = 10}});
  ASSERT_EQ(meta["annotations"].size(), 1u);
  EXPECT_FALSE(meta["captures"][0].contains("core:datetime"));  // nobody knows it
  EXPECT_EQ(meta["annotations"][0]["core:label"], "long");
  EXPECT_EQ(meta["annotations"][0]["core:sample_count"], 10 * kSamples - 1);
}

// As made by an fft, whatever the channel's datatype.
TEST(Sigmf, TheOriginSaysWhatTheSamplesAre) {
  Manifest manifest = Recording();
  manifest.datatype = "ci16_le";
  manifest.origin.datatype = "cf32_le";
  EXPECT_EQ(Read(manifest, {})["global"]["core:datatype"], "cf32_le");
  manifest.origin.datatype = "no type";
  EXPECT_EQ(EncodeSigmf(manifest, {}), "");
}

TEST(Sigmf, OursIsToldFromWhatOthersHaveChanged) {
  Manifest manifest = Recording();
  manifest.sample_rate = 2.4e6 / 7;
  manifest.description = "\xff";
  const std::string text = EncodeSigmf(manifest, {});
  EXPECT_TRUE(IsOwnSigmf(text));
  EXPECT_TRUE(IsOwnSigmf(json::parse(text).dump()));
  json other = json::parse(text);
  other["global"]["core:author"] = "somebody";
  EXPECT_FALSE(IsOwnSigmf(other.dump()));
  for (const char* foreign : {"", "{}", "{\"global\": 5}", "{\"global\": {}}", "no JSON"}) {
    EXPECT_FALSE(IsOwnSigmf(foreign)) << foreign;
  }
}

TEST(Sigmf, BytesThatAreNoTextAreReplaced) {
  Manifest manifest = Recording();
  manifest.description = "\xff\xfe";
  manifest.sample_rate = 0;
  const json meta = Read(manifest, {});
  EXPECT_FALSE(meta["global"].contains("core:sample_rate"));
  EXPECT_NE(meta["global"]["core:description"], "");
}

}  // namespace
}  // namespace tapedeck::storage_node::format
