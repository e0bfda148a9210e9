// The JSON of the command line has every field of the model that is told to anybody.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "services/model/words/field.h"
#include "services/tapectl/program/answer.h"

namespace tapedeck::services::tapectl {
namespace {

template <typename T>
concept HasFields = requires {
  model::Fields<T>::kList;
};

// How many keys it has, of what it must have.
template <typename Struct>
size_t Told(const nlohmann::json& json) {
  size_t told = 0;
  model::ForEachField<Struct>([&](const auto& field) {
    using Value = std::decay_t<decltype(std::invoke(field.member, std::declval<const Struct&>()))>;
    if constexpr (HasFields<Value>) {
      if (field.flat) {
        told += Told<Value>(json);
        return;
      }
    }
    const bool seconds = field.unit == model::Unit::kDuration;
    const std::string key = absl::StrCat(field.name, seconds ? "_s" : "");
    if (!field.sparse) {
      EXPECT_EQ(json.contains(key), field.told()) << key;
    }
    told += json.contains(key) ? 1 : 0;
  });
  return told;
}

template <typename Struct>
void ExpectAllTold(const nlohmann::json& json) {
  EXPECT_EQ(json.size(), Told<Struct>(json));
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
  ExpectListTold<Job>(json, {"notes"});
  EXPECT_EQ(json["direction"], "PLAYBACK");
  EXPECT_EQ(json["state"], "FAILED");
  EXPECT_EQ(json["elapsed_s"], 2.0);
  EXPECT_EQ(json["mb_per_s"], 1.5);
  EXPECT_EQ(json["crc_errors"], 3);
  EXPECT_EQ(json["rails"][0],
            nlohmann::json(
                {{"name", "r0"}, {"blocks", 0}, {"mb_per_s", 0.5}, {"up", true}, {"cause", ""}}));
  EXPECT_EQ(json["error"]["code"], "INTERNAL");
  const auto slow =
      nlohmann::json::parse(AnswerOf(Job{.bytes = 1'000'000, .elapsed_ns = 3'000'000'000}).json);
  EXPECT_EQ(slow["mb_per_s"], 0.333);
  EXPECT_FALSE(json.contains("timing"));
  EXPECT_TRUE(json["end_time"].is_null());
}

TEST(FieldJson, TheTimingOfAJobHasItsPercentiles) {
  const Job job{.timing = model::Timing{.blocks = 1,
                                        .jitter = {{.up_to_ns = 2'000'000'000, .blocks = 1}},
                                        .worst_jitter_ns = 1'500'000'000}};
  const auto json = nlohmann::json::parse(AnswerOf(job).json);
  ExpectAllTold<model::Timing>(json["timing"]);
  EXPECT_EQ(json["timing"]["jitter_p50_s"], 1.5);
  EXPECT_EQ(json["timing"]["jitter"][0]["up_to_s"], 2.0);
  EXPECT_FALSE(json.contains("error"));
}

TEST(FieldJson, ANodeTellsWhereItsRailsAndItsMemorySit) {
  const NodeInfo info{
      .name = "n0",
      .role = NodeRole::kWorker,
      .pid = 7,
      .rails = {{.rail = {.name = "r0", .port = 9, .tls = true}, .place = {.numa_node = 1}}},
      .memory = {{.device = "cuda:0",
                  .place = {.pci_address = "0000:18:00.0"},
                  .distances = {{.rail = "r0", .distance = dataplane::topology::Distance::kNode}}}},
      .stores = {{.name = "posix"}}};
  const auto json =
      nlohmann::json::parse(AnswerOf(std::vector<AskedNode>{{"a:1", info}}).json)["nodes"][0];
  EXPECT_EQ(json["address"], "a:1");
  EXPECT_EQ(json["role"], "WORKER");
  EXPECT_EQ(json["pid"], 7);
  ExpectListTold<NodeInfo>(json, {"address"});
  EXPECT_EQ(json["rails"][0], nlohmann::json({{"name", "r0"},
                                              {"transport", ""},
                                              {"address", ""},
                                              {"port", 9},
                                              {"device", ""},
                                              {"wire_limit_bytes_per_s", 0},
                                              {"tls", true},
                                              {"pci_address", ""},
                                              {"numa_node", 1}}));
  EXPECT_EQ(json["memory"][0]["pci_address"], "0000:18:00.0");
  EXPECT_TRUE(json["memory"][0]["numa_node"].is_null());
  EXPECT_EQ(json["memory"][0]["distances"][0],
            nlohmann::json({{"rail", "r0"}, {"distance", "NODE"}, {"weight", 5}}));
  EXPECT_EQ(json["stores"][0], nlohmann::json({{"name", "posix"}, {"description", ""}}));
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
