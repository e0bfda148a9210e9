// SigMF files as people have them: what each becomes, and what is refused with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "services/formats/import.h"
#include "services/formats/sigmf/sigmf.h"
#include "services/signal/sigmf/sha512.h"
#include "tests/services/formats/feed.h"
#include "tests/services/noted.h"

namespace tapedeck::services::formats {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kDataSamples = 1000;
constexpr uint64_t kOneBytes = 4;
// 2024-01-02T03:04:05Z
constexpr int64_t kBeginNs = 1'704'164'645'000'000'000;
constexpr int64_t kMsNs = 1'000'000;

json CaptureAt(uint64_t start) {
  return {{"core:sample_start", start}, {"core:datetime", "2024-01-02T03:04:05Z"}};
}

class SigmfFilesTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<Reader>> OpenText(const std::string& text) {
    const std::string path = ScratchPath("a.sigmf-meta");
    WriteFile(path, text);
    WriteFile(ScratchPath("a.sigmf-data"), data_);
    return OpenSigmf(path);
  }
  absl::StatusOr<std::unique_ptr<Reader>> Open() { return OpenText(meta_.dump()); }

  Content Read() {
    const auto reader = Open();
    EXPECT_TRUE(reader.ok()) << reader.status();
    return reader.ok() ? (*reader)->content() : Content();
  }
  std::string Refusal(const absl::Status& status) {
    EXPECT_EQ(ReasonIn(status), "FILE_INVALID");
    return std::string(status.message());
  }
  std::string Refusal() { return Refusal(Open().status()); }

  json meta_ = {
      {"global",
       {{"core:datatype", "ci16_le"}, {"core:sample_rate", 1e6}, {"core:version", "1.2.0"}}},
      {"captures", json::array({CaptureAt(0)})},
      {"annotations", json::array()}};
  std::string data_ = Samples(kDataSamples * kOneBytes);
};

TEST_F(SigmfFilesTest, AGapBetweenCapturesIsMissing) {
  meta_["captures"] = json::array({CaptureAt(0), CaptureAt(500)});
  meta_["captures"][0]["core:global_index"] = 7;
  meta_["captures"][1]["core:global_index"] = 7 + 500 + 10'000;
  meta_["captures"][1]["core:datetime"] = "2024-01-02T03:04:05.0105Z";
  meta_["annotations"] = json::array({json{{"core:sample_start", 490}, {"core:sample_count", 20}}});
  const auto reader = Open();
  ASSERT_TRUE(reader.ok()) << reader.status();
  const Content& content = (*reader)->content();
  EXPECT_EQ(content.first_index, 7u);
  EXPECT_EQ(content.bytes, (kDataSamples + 10'000) * kOneBytes);
  EXPECT_THAT(content.gaps, ElementsAre(SampleRange{500, 10'000}));
  EXPECT_EQ(content.start_ns, kBeginNs);
  EXPECT_THAT(
      content.annotations,
      ElementsAre(Annotation{.sample_start = 490, .sample_count = 10'020, .foreign = true}));
  const auto all = ReadAll(**reader);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->substr(0, 500 * kOneBytes) + all->substr(10'500 * kOneBytes), data_);
  EXPECT_EQ(all->substr(500 * kOneBytes, 10'000 * kOneBytes),
            std::string(10'000 * kOneBytes, '\0'));
}

TEST_F(SigmfFilesTest, TimesAloneTellAGapBeyondTheirDigits) {
  meta_["captures"] = json::array({CaptureAt(0), CaptureAt(500), CaptureAt(600)});
  meta_["captures"][0]["core:datetime"] = "2024-01-02T03:04:05.0000Z";
  meta_["captures"][1]["core:datetime"] = "2024-01-02T03:04:05.0505Z";  // 50 ms late
  meta_["captures"][2]["core:datetime"] = "2024-01-02T03:04:05.0511Z";  // 0.5 ms late
  const Content content = Read();
  EXPECT_THAT(content.gaps, ElementsAre(SampleRange{500, 50'000}));
  // Its own time is kept beside the samples', by which it differs.
  EXPECT_THAT(content.annotations,
              ElementsAre(AllOf(Field(&Annotation::label, "signal"),
                                Field(&Annotation::details, HasSubstr("05.0511Z")))));
}

TEST_F(SigmfFilesTest, IndexesCountFromTheOffset) {
  meta_["global"]["core:offset"] = 10'000;
  meta_["captures"] = json::array({CaptureAt(10'000)});
  meta_["annotations"] = json::array(
      {json{{"core:sample_start", 10'500}, {"core:sample_count", 10}, {"core:label", "burst"}}});
  const Content content = Read();
  EXPECT_EQ(content.first_index, 10'000u);
  EXPECT_EQ(content.annotations.at(0).sample_start, 500u);
  meta_["captures"][0]["core:sample_start"] = 5;
  EXPECT_THAT(Refusal(), HasSubstr("captures[0].core:sample_start: 5 is below core:offset"));
}

TEST_F(SigmfFilesTest, TheStartIsThatOfTheFirstSample) {
  meta_["captures"] = json::array({CaptureAt(500)});
  EXPECT_EQ(Read().start_ns, kBeginNs - kMsNs / 2);
  meta_["captures"][0].erase("core:datetime");
  EXPECT_FALSE(Read().start_ns.has_value());
}

TEST_F(SigmfFilesTest, TheHashOfTheDataIsCompared) {
  meta_["global"]["core:sha512"] = sigmf::Sha512(data_);
  EXPECT_TRUE(Open().ok()) << Open().status();
  data_[123] = static_cast<char>(data_[123] ^ 1);
  EXPECT_THAT(Refusal(), HasSubstr("core:sha512"));
}

TEST_F(SigmfFilesTest, BytesThatAreNoSamplesAreCutOut) {
  const std::string samples = data_;
  meta_["global"]["core:trailing_bytes"] = 5;
  meta_["captures"] = json::array({CaptureAt(0), CaptureAt(600)});
  meta_["captures"][0]["core:header_bytes"] = 4.0;
  meta_["captures"][1] = json{{"core:sample_start", 600}, {"core:header_bytes", 3}};
  data_ = absl::StrCat("head", samples.substr(0, 600 * kOneBytes), "HHH",
                       samples.substr(600 * kOneBytes), "trail");
  const auto reader = Open();
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(*ReadAll(**reader), samples);
  EXPECT_THAT((*reader)->content().gaps, IsEmpty());
}

TEST_F(SigmfFilesTest, ChannelsInTurnAreRefused) {
  meta_["global"]["core:num_channels"] = 2;
  EXPECT_THAT(Refusal(), HasSubstr("num_channels: 2"));
}

TEST_F(SigmfFilesTest, AnAnnotationWithoutACountLastsToTheEnd) {
  meta_["annotations"] = json::array({json{{"core:sample_start", 100}, {"core:label", "carrier"}},
                                      json{{"core:sample_start", 5}, {"core:sample_count", 0}}});
  const Content content = Read();
  EXPECT_EQ(content.annotations.at(0).sample_count, kDataSamples - 100);
  EXPECT_EQ(content.annotations.at(1).sample_count, 0u);
}

TEST_F(SigmfFilesTest, WhatNoFieldHasIsKept) {
  meta_["global"].update(
      {{"core:author", "A"}, {"core:geolocation", {{"type", "Point"}}}, {"x:y", 3}});
  meta_["captures"][0]["capture_details:gain"] = 30;
  meta_["annotations"] = json::array({json{{"core:sample_start", 10},
                                           {"core:sample_count", 5},
                                           {"core:label", "LTE"},
                                           {"core:freq_lower_edge", 1e6},
                                           {"core:uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"}}});
  const Content content = Read();
  EXPECT_EQ(
      json::parse(content.metadata),
      (json{{"global",
             {{"core:author", "A"}, {"core:geolocation", {{"type", "Point"}}}, {"x:y", 3}}}}));
  ASSERT_THAT(content.annotations, SizeIs(2));
  EXPECT_EQ(
      json::parse(content.annotations[1].details),
      (json{{"core:freq_lower_edge", 1e6}, {"core:uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"}}));
  EXPECT_EQ(json::parse(content.annotations[0].details), (json{{"capture_details:gain", 30}}));
  EXPECT_THAT(content.notes, IsEmpty());
}

TEST_F(SigmfFilesTest, MoreThanARecordingKeepsIsRefused) {
  meta_["global"]["x:long"] = std::string(model::kMaxOriginMetadataBytes, 'x');
  EXPECT_EQ(ReasonIn(Open().status()), "LIMIT_REACHED");
}

TEST_F(SigmfFilesTest, NoLabelOfOthersIsAMark) {
  for (const char* label : {"missing", "lost", "signal"}) {
    meta_["annotations"] = json::array({json{{"core:sample_start", 100},
                                             {"core:sample_count", 900},
                                             {"core:label", label},
                                             {"core:comment", "not recorded by operator B"}}});
    const auto reader = Open();
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_THAT((*reader)->content().gaps, IsEmpty());
    EXPECT_EQ(*ReadAll(**reader), data_);
    ASSERT_THAT((*reader)->content().annotations, SizeIs(1));
    EXPECT_FALSE(model::IsMark((*reader)->content().annotations[0], label));
    EXPECT_EQ((*reader)->content().annotations[0].label, label);
  }
}

TEST_F(SigmfFilesTest, AnAnnotationBeyondTheEndIsCutAndNamed) {
  meta_["annotations"] =
      json::array({json{{"core:sample_start", 990}, {"core:sample_count", 1000}},
                   json{{"core:sample_start", 2000}, {"core:sample_count", 10}}});
  const Content content = Read();
  ASSERT_THAT(content.annotations, SizeIs(1));
  EXPECT_EQ(content.annotations[0].sample_count, 10u);
  EXPECT_THAT(content.notes, ElementsAre(Noted("SIGMF_ANNOTATIONS_CUT|names~annotations[0]"),
                                         Noted("SIGMF_ANNOTATIONS_BEYOND|names~annotations[1]")));
}

TEST_F(SigmfFilesTest, BytesBehindTheLastWholeSampleAreNamed) {
  data_.pop_back();
  data_.pop_back();
  const Content content = Read();
  EXPECT_EQ(content.bytes, (kDataSamples - 1) * kOneBytes);
  EXPECT_THAT(content.notes, ElementsAre(Noted("PARTIAL_SAMPLE|bytes=2")));
}

TEST_F(SigmfFilesTest, AllOfManyAnnotationsComeIn) {
  for (int i = 0; i < 5000; ++i) {
    meta_["annotations"].push_back({{"core:sample_start", i / 5},
                                    {"core:sample_count", 1},
                                    {"core:label", absl::StrCat("p", i)}});
  }
  const Content content = Read();
  EXPECT_THAT(content.annotations, SizeIs(5000));
  EXPECT_THAT(content.notes, IsEmpty());
}

TEST_F(SigmfFilesTest, ARateThatIsNotTheChannelsIsRefused) {
  const Content content = Read();
  Channel channel{.datatype = "ci16_le", .sample_rate = 1e6};
  EXPECT_TRUE(CheckCompatible("f", content, channel).ok());
  channel.sample_rate = 2e6;
  EXPECT_THAT(Refusal(CheckCompatible("f", content, channel)),
              AllOf(HasSubstr("1000000"), HasSubstr("2000000")));
}

TEST_F(SigmfFilesTest, TextThatIsNoJsonIsRefusedByLineAndColumn) {
  EXPECT_THAT(Refusal(OpenText("{\"global\":\n {\"a\": NaN}}").status()),
              AllOf(HasSubstr("line 2, column 8: "), HasSubstr("invalid literal")));
  EXPECT_THAT(Refusal(OpenText("{\"global\": {\"a\": \"50\xb0\"}}").status()),
              AllOf(HasSubstr("line 1, column 21: "), HasSubstr("UTF-8")));
  EXPECT_THAT(Refusal(OpenText(R"({"global": {"a": {"b": 1, "b": 2}}})").status()),
              HasSubstr("global.a.b appears twice"));
}

TEST_F(SigmfFilesTest, AValueThatCannotBeIsRefusedWithItsPlace) {
  const std::tuple<const char*, json, const char*> rows[] = {
      {"/global/core:sample_rate", "1e6", "global.core:sample_rate: \"1e6\" is not a rate"},
      {"/global/core:author", 5, "global.core:author: 5 is not a string"},
      {"/global/core:geolocation", "here", "global.core:geolocation: \"here\" is not an object"},
      {"/global/core:sha512", "ab", "global.core:sha512: \"ab\" is not a SHA-512"},
      {"/captures/0/core:sample_start", -5,
       "captures[0].core:sample_start: -5 is not a whole number"},
      {"/captures/0/core:sample_start", 0.5, "captures[0].core:sample_start: 0.5 is not a whole"},
      {"/captures/0/core:datetime", "noon", "captures[0].core:datetime: \"noon\" is not a time"},
      {"/captures/0/core:frequency", "100M",
       "captures[0].core:frequency: \"100M\" is not a frequency"},
      {"/captures/0", 3, "captures[0]: 3 is not an object"},
      {"/captures", 3, "captures: 3 is not a list"},
      {"/annotations/0", json::object(), "annotations[0]: core:sample_start is missing"},
      {"/annotations/0",
       {{"core:sample_start", 0}, {"core:label", 7}},
       "annotations[0].core:label"}};
  for (const auto& [pointer, value, words] : rows) {
    json meta = meta_;
    meta[json::json_pointer(pointer)] = value;
    EXPECT_THAT(Refusal(OpenText(meta.dump()).status()), HasSubstr(words)) << pointer;
  }
}

TEST_F(SigmfFilesTest, CapturesThatContradictEachOtherAreRefused) {
  meta_["captures"] = json::array({CaptureAt(500), CaptureAt(100)});
  EXPECT_THAT(Refusal(), HasSubstr("captures[1].core:sample_start: 100 is below"));
  meta_["captures"] = json::array({CaptureAt(0), CaptureAt(100)});
  meta_["captures"][0]["core:global_index"] = 500;
  meta_["captures"][1]["core:global_index"] = 20;
  EXPECT_THAT(Refusal(), HasSubstr("captures[1].core:global_index: 20"));
  meta_["captures"][1]["core:global_index"] = uint64_t{1} << 50;
  EXPECT_THAT(Refusal(), HasSubstr("64 GiB may be missing"));
}

TEST_F(SigmfFilesTest, DataThatEndsEarlyGivesWhatIsWhole) {
  meta_["captures"] = json::array({CaptureAt(0), CaptureAt(5000)});
  const Content content = Read();
  EXPECT_EQ(content.bytes, data_.size());
  EXPECT_THAT(content.notes, Contains(Noted("SIGMF_CAPTURES_BEYOND|captures=1")));
}

}  // namespace
}  // namespace tapedeck::services::formats
