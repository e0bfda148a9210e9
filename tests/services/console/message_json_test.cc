// The console's JSON of an object is tapectl's, and requests may be in it.
#include "services/console/message_json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "services/console/mapping.h"
#include "services/rpc/convert/catalog.h"
#include "services/rpc/convert/jobs.h"
#include "services/rpc/convert/node.h"
#include "tapedeck/v1/doctor.pb.h"
#include "tapedeck/v1/stages.pb.h"
#include "tapedeck/v1/trace.pb.h"

namespace tapedeck::services::console {
namespace {

using tapectl::Json;

TEST(MessageJson, LunsChannelsAndRecordingsAreAsTapectlPrintsThem) {
  const Lun lun{.name = "luns/l0",
                .full_policy = FullPolicy::kRing,
                .max_age_ns = 1'500'000'000,
                .labels = {{"site", "north"}}};
  EXPECT_EQ(JsonOf(convert::ToProto(lun)), tapectl::ToJson(lun));
  const Channel channel{.name = "luns/l0/channels/c0", .op = dataplane::TransferOp::kSend};
  EXPECT_EQ(JsonOf(convert::ToProto(channel)), tapectl::ToJson(channel));
  EXPECT_EQ(JsonOf(convert::ToProto(channel))["commit_level"], "durable");
  const Recording recording{.name = "luns/l0/channels/c0/recordings/r",
                            .state = RecordingState::kSealed,
                            .start_time_ns = 0,
                            .annotations = {{.sample_start = 5, .label = "lost"}}};
  EXPECT_EQ(JsonOf(convert::ToProto(recording)), tapectl::ToJson(recording));
}

TEST(MessageJson, JobsAndNodesAreAsTapectlPrintsThem) {
  const Job job{.name = "jobs/1",
                .direction = dataplane::Direction::kPlayback,
                .state = JobState::kFailed,
                .bytes = 3'000'000,
                .elapsed_ns = 2'000'000'000,
                .notes = {MakeNote("INGEST_LISTENS", "listens", {{"port", "7"}})},
                .counters = {.crc_errors = 3},
                .rails = {{.name = "r0", .bytes = 1'000'000, .up = true}},
                .timing = model::Timing{.worst_jitter_ns = 1'000},
                .error = absl::InternalError("text")};
  const Json json = JsonOf(convert::ToProto(job));
  EXPECT_EQ(json, tapectl::ToJson(job));
  EXPECT_EQ(json["crc_errors"], 3);
  EXPECT_EQ(json["notes"][0]["port"], "7");
  const NodeInfo node{.name = "n0",
                      .rails = {{.rail = {.name = "r0"}, .place = {.numa_node = 1}}},
                      .memory = {{.device = "host", .distances = {{.rail = "r0"}}}}};
  EXPECT_EQ(JsonOf(convert::ToProto(node)), tapectl::ToJson(node));
}

TEST(MessageJson, StatisticsHaveTheirCountersBesideTheRest) {
  const NodeStats stats{.sessions = 2, .counters = {.crc_errors = 3}};
  const Json json = JsonOf(convert::ToProto(stats));
  EXPECT_EQ(json["sessions"], 2);
  EXPECT_EQ(json["crc_errors"], 3);
  EXPECT_FALSE(json.contains("counters"));
}

TEST(MessageJson, WhatTapectlDoesNotPrintIsInTheSameForm) {
  v1::UpdateLunRequest update;
  update.mutable_update_mask()->add_paths("max_age");
  EXPECT_EQ(JsonOf(update),
            Json({{"lun", nullptr}, {"update_mask", "max_age"}, {"request_id", ""}}));
  v1::Explanation explanation;
  v1::StageShare& stage = *explanation.add_stages();
  stage.set_name("store");
  stage.set_share(0.5);
  stage.set_thread_share(0.5);
  EXPECT_EQ(JsonOf(explanation)["stages"][0],
            Json({{"name", "store"}, {"share", 0.5}, {"seconds", 0.0}}));
  explanation.set_elapsed_seconds(7);
  EXPECT_EQ(JsonOf(explanation)["elapsed_s"], 7);
  EXPECT_FALSE(JsonOf(explanation).contains("elapsed_seconds"));
  v1::DoctorFinding finding;
  finding.set_severity(v1::SEVERITY_WARNING);
  EXPECT_EQ(JsonOf(finding)["severity"], "warning");
}

TEST(MessageJson, AnEnumOfALaterVersionIsItsNumber) {
  v1::Recording recording;
  recording.set_name("r");
  recording.set_state(static_cast<v1::RecordingState>(77));
  EXPECT_EQ(JsonOf(recording)["state"], 77);
}

TEST(MessageJson, RequestsMayBeInTheSameForm) {
  v1::UpdateChannelRequest update;
  ASSERT_TRUE(
      ReadJson(R"({"channel": {"name": "c", "commit_level": "written", "transfer_op": "SEND",
                           "pre_trigger_s": 1.5, "post_trigger": "0.5s", "block_bytes": 4096},
                           "update_mask": "pre_trigger,commit_level"})",
               update)
          .ok());
  EXPECT_EQ(update.channel().commit_level(), v1::COMMIT_LEVEL_WRITTEN);
  EXPECT_EQ(update.channel().transfer_op(), v1::TRANSFER_OP_SEND);
  EXPECT_EQ(update.channel().pre_trigger().nanos(), 500'000'000);
  EXPECT_EQ(update.channel().post_trigger().nanos(), 500'000'000);
  EXPECT_EQ(update.channel().block_bytes(), 4096u);
  ASSERT_EQ(update.update_mask().paths_size(), 2);
  EXPECT_EQ(update.update_mask().paths(0), "pre_trigger");
  v1::UpdateChannelRequest again;
  ASSERT_TRUE(ReadJson(WriteJson(update), again).ok());
  EXPECT_EQ(again.channel().pre_trigger().seconds(), 1);
}

TEST(MessageJson, IntegersThatABrowserWouldRoundAreTexts) {
  constexpr int64_t kExact = int64_t{1} << 53;
  v1::Trace trace;
  trace.set_pid(-kExact);
  trace.set_now_ns(kExact + 1);
  trace.set_utc_ns(-kExact - 1);
  trace.set_threads_without(UINT64_MAX);
  const Json json = JsonOf(trace);
  EXPECT_EQ(json["pid"], -kExact);
  EXPECT_EQ(json["now_ns"], "9007199254740993");
  EXPECT_EQ(json["utc_ns"], "-9007199254740993");
  EXPECT_EQ(json["threads_without"], "18446744073709551615");
  v1::Trace again;
  ASSERT_TRUE(ReadJson(WriteJson(trace), again).ok());
  EXPECT_EQ(again.SerializeAsString(), trace.SerializeAsString());
  ASSERT_TRUE(ReadJson(R"({"now_ns": 9007199254740993, "utc_ns": -9007199254740993,
                           "threads_without": 18446744073709551615, "pid": "7"})",
                       again)
                  .ok());
  EXPECT_EQ(again.now_ns(), trace.now_ns());
  EXPECT_EQ(again.utc_ns(), trace.utc_ns());
  EXPECT_EQ(again.threads_without(), UINT64_MAX);
  EXPECT_EQ(again.pid(), 7);
}

TEST(MessageJson, WhatIsNoRequestIsRefused) {
  v1::UpdateChannelRequest update;
  for (const char* wrong :
       {R"({"channel": {"commit_level": "later"}})", R"({"channel": {"block_bytes_s": 1}})",
        R"({"channel": {"pre_trigger_s": 1e300}})", R"({"channel": 7})", "[]", "{"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ReadJson(wrong, update))) << wrong;
  }
  const std::string deep = std::string(R"({"channel":)") + std::string(65, '[');
  EXPECT_TRUE(absl::IsInvalidArgument(ReadJson(deep + std::string(65, ']') + "}", update)));
}

}  // namespace
}  // namespace tapedeck::services::console
