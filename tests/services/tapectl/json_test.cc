// The JSON of the command line has every field of the model that is told to anybody.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "services/model/words/field.h"
#include "services/tapectl/program/answer.h"

namespace tapedeck::services::tapectl {
namespace {

template <typename Struct>
void ExpectAllTold(const nlohmann::json& json) {
  size_t told = 0;
  model::ForEachField<Struct>([&](const auto& field) {
    const bool seconds = field.unit == model::Unit::kDuration;
    const std::string key = absl::StrCat(field.name, seconds ? "_s" : "");
    EXPECT_EQ(json.contains(key), field.told()) << key;
    told += field.told() ? 1 : 0;
  });
  EXPECT_EQ(json.size(), told);
}

// Of a list that is not all that the JSON has.
template <typename Struct>
void ExpectListTold(nlohmann::json json, const std::vector<std::string>& more) {
  for (const std::string& key : more) {
    EXPECT_EQ(json.erase(key), 1u) << key;
  }
  ExpectAllTold<Struct>(json);
}

TEST(FieldJson, HasEveryField) {
  ExpectAllTold<Lun>(nlohmann::json::parse(AnswerOf(Lun()).json));
  ExpectAllTold<Channel>(nlohmann::json::parse(AnswerOf(Channel()).json));
  Recording recording;
  recording.annotations.emplace_back();
  const auto json = nlohmann::json::parse(AnswerOf(recording).json);
  ExpectAllTold<Recording>(json);
  ExpectAllTold<Annotation>(json["annotations"][0]);
}

TEST(FieldJson, DamageHasEveryField) {
  Verification verification;
  verification.found.damaged.push_back({.kind = DamageKind::kTorn, .ranges = {{.bytes = 4096}}});
  const auto json = nlohmann::json::parse(AnswerOf(verification).json)["damaged"][0];
  ExpectAllTold<DamagedBlock>(json);
  ExpectAllTold<ByteRange>(json["ranges"][0]);
  EXPECT_EQ(json["kind"], "torn");
}

TEST(FieldJson, AScrubHasWhatItsMessageHas) {
  const Scrub scrub{.findings = {{.recording = "r", .block = {.sequence = 5}, .repaired = true}}};
  const auto json = nlohmann::json::parse(AnswerOf(scrub).json);
  ExpectAllTold<Scrub>(json);
  ExpectAllTold<ScrubFinding>(json["findings"][0]);
  EXPECT_EQ(json["findings"][0]["block"]["sequence"], 5);
}

TEST(ExplainedJson, NamesTheLimitAndAllStages) {
  const StageTimes times = {{"send.idle", "", 5'000'000'000},
                            {"send.rail", "r1", 5'000'000'000},
                            {"work.source", "", 2'000'000'000}};
  const auto json = nlohmann::json::parse(
      AnswerOf(Explained{.name = "jobs/1",
                         .explanation = explain::Explain(times, dataplane::Direction::kRecord)})
          .json);
  EXPECT_EQ(json["name"], "jobs/1");
  EXPECT_EQ(json["direction"], "RECORD");
  EXPECT_EQ(json["running"], false);
  EXPECT_EQ(json["elapsed_s"], 10);
  EXPECT_EQ(json["limited_by"], "rail r1");
  EXPECT_NE(json["advice"], "");
  EXPECT_EQ(json["stages"][0],
            nlohmann::json({{"name", "rail r1"}, {"share", 0.5}, {"seconds", 5.0}}));
  EXPECT_EQ(json["stages"][1]["name"], "source");
  EXPECT_EQ(json["stages"][1]["thread"], "pipeline thread");
  EXPECT_EQ(json["stages"][1]["thread_share"], 0.2);
  EXPECT_EQ(json["rails"][0]["name"], "r1");
}

TEST(FieldJson, AJobHasItsListAndWhatFollowsFromIt) {
  const Job job{.direction = dataplane::Direction::kPlayback,
                .state = JobState::kFailed,
                .bytes = 3'000'000,
                .elapsed_ns = 2'000'000'000,
                .counters = {.crc_errors = 3},
                .rails = {{.name = "r0", .bytes = 1'000'000, .up = true}},
                .error = absl::InternalError("text")};
  const auto json = nlohmann::json::parse(AnswerOf(job).json);
  std::vector<std::string> more = {"mb_per_s", "rails", "notes", "outputs", "error"};
  for (const auto& counter : dataplane::kCounters) more.emplace_back(counter.name);
  ExpectListTold<Job>(json, more);
  EXPECT_EQ(json["direction"], "PLAYBACK");
  EXPECT_EQ(json["state"], "FAILED");
  EXPECT_EQ(json["elapsed_s"], 2.0);
  EXPECT_EQ(json["mb_per_s"], 1.5);
  EXPECT_EQ(json["crc_errors"], 3);
  EXPECT_EQ(json["rails"][0]["mb_per_s"], 0.5);
  EXPECT_TRUE(json["end_time"].is_null());
}

TEST(FieldJson, ShowsValuesAsPeopleReadThem) {
  const auto json =
      nlohmann::json::parse(AnswerOf(Channel{.sample_rate = 2e6,
                                             .op = dataplane::TransferOp::kSend,
                                             .pre_trigger_ns = 1'500'000'000,
                                             .create_time_ns = 1'800'000'000'000'000'000})
                                .json);
  EXPECT_EQ(json["sample_rate"], 2e6);
  EXPECT_EQ(json["transfer_op"], "SEND");
  EXPECT_EQ(json["commit_level"], "durable");
  EXPECT_EQ(json["pre_trigger_s"], 1.5);
  EXPECT_EQ(json["create_time"], "2027-01-15T08:00:00Z");
  EXPECT_TRUE(nlohmann::json::parse(AnswerOf(Channel()).json)["transfer_op"].is_null());
}

TEST(Json, ControlCharactersAreEscaped) {
  const std::string text = "a\x1b[2J\x7f\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0\xc3\x9b";
  const std::string json = AnswerOf(Lun{.name = "luns/l", .cause = text}).json;
  for (const char* raw : {"\x1b", "\x7f", "\xc2\x80", "\xc2\x9b", "\xc2\x9f"}) {
    EXPECT_EQ(json.find(raw), std::string::npos) << json;
  }
  EXPECT_NE(json.find("\\u001b[2J\\u007f\\u0080\\u009b\\u009f\xc2\xa0\xc3\x9b"), std::string::npos)
      << json;
  EXPECT_EQ(nlohmann::json::parse(json)["cause"], text);
}

}  // namespace
}  // namespace tapedeck::services::tapectl
