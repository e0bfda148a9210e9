// The command line as scripts use it: arguments, JSON, exit codes, against real gRPC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/time/clock.h"
#include "tests/services/loopback_node.h"
#include "tests/services/tapectl/process.h"

namespace tapedeck::services::tapectl {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class TapectlTest : public ::testing::Test {
 protected:
  // With `wait` it is interrupted when that returns.
  Outcome Run(std::vector<std::string> arguments, const std::function<void()>& wait = nullptr) {
    for (const char* option : {"--storage", "--worker"}) {
      arguments.push_back(option);
      arguments.push_back(node_.address);
    }
    return wait == nullptr ? RunTapectl(arguments) : RunTapectl(arguments, wait, SIGINT);
  }
  // Adds --output json; the command must print exactly one object, in one line.
  json RunJson(std::vector<std::string> arguments, int exit_code = 0,
               const std::function<void()>& wait = nullptr) {
    arguments.push_back("--output=json");
    const Outcome outcome = Run(std::move(arguments), wait);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1) << outcome.out;
    return json::parse(outcome.out, nullptr, false);
  }
  void AwaitBlocks() {
    const auto moves = [&] {
      const auto jobs = node_.jobs.ListJobs();
      return std::ranges::any_of(
          jobs, [](const Job& job) { return job.state == JobState::kRunning && job.blocks > 0; });
    };
    for (int i = 0; i < 2000 && !moves(); ++i) absl::SleepFor(absl::Milliseconds(10));
  }

  LoopbackNode node_;
};

TEST_F(TapectlTest, RecordTellsWhatTheNodeRemarksOnTheLun) {
  const std::vector<std::string> record = {"record",   "l0/c0", "--source", "synth",
                                           "--blocks", "1",     "--detach"};
  ASSERT_TRUE(
      node_.catalog.CreateLun({.name = "luns/l0", .cause = "its capacity is large"}, "").ok());
  const Outcome told = Run(record);
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.err, HasSubstr("note: l0: its capacity is large\n"));
  ASSERT_TRUE(node_.catalog.DeleteLun("luns/l0", false).ok());
  EXPECT_THAT(Run(record).err, Not(HasSubstr("note: ")));
}

TEST_F(TapectlTest, LunsAndChannels) {
  const json lun = RunJson({"lun", "create", "l0", "--store", "posix", "--member", "/tmp/a",
                            "--member", "/tmp/b", "--capacity", "10GiB"});
  EXPECT_EQ(lun["name"], "luns/l0");
  EXPECT_EQ(lun["capacity_bytes"], 10ull << 30);
  EXPECT_EQ(lun["members"], json({"/tmp/a", "/tmp/b"}));
  EXPECT_EQ(lun["prewrite_files"], 0);
  const json pool = RunJson({"lun", "create", "p", "--store", "any", "--member", "pool:fast"});
  EXPECT_EQ(pool["store"], "any") << "which stores there are, the storage node says";
  EXPECT_EQ(pool["members"], json::array({"pool:fast"})) << "it is no path";
  RunJson({"lun", "delete", "p"});
  const json quick = RunJson({"lun", "create", "l1", "--store", "direct", "--member", "/tmp/c",
                              "--prewrite-files", "4", "--prewrite-bytes", "1GiB"});
  EXPECT_EQ(quick["prewrite_files"], 4);
  EXPECT_EQ(quick["prewrite_bytes"], 1 << 30);
  RunJson({"lun", "delete", "l1"});
  const json channel =
      RunJson({"channel", "create", "l0/c0", "--block-bytes", "1MiB", "--datatype", "ci16_le",
               "--sample-rate", "1e9", "--transfer-op", "SEND", "--commit", "written"});
  EXPECT_EQ(channel["name"], "luns/l0/channels/c0");
  EXPECT_EQ(channel["block_bytes"], 1 << 20);
  EXPECT_EQ(channel["sample_rate"], 1e9);
  EXPECT_EQ(channel["transfer_op"], "SEND");
  EXPECT_EQ(channel["commit_level"], "written");
  EXPECT_EQ(RunJson({"lun", "list"})["luns"].size(), 1u);
  EXPECT_EQ(RunJson({"channel", "list"})["channels"].size(), 1u);
  EXPECT_EQ(RunJson({"channel", "delete", "l0/c0"})["deleted"], "luns/l0/channels/c0");
  EXPECT_EQ(RunJson({"lun", "delete", "luns/l0", "--force"})["deleted"], "luns/l0");
}

TEST_F(TapectlTest, WhatIsNotKnownIsNotExplained) {
  RunJson({"lun", "create", "l0", "--store", "posix", "--member", "/tmp/a"});
  RunJson({"channel", "create", "l0/c0"});
  node_.catalog.AddRecording("old", 1);
  const json old = RunJson({"explain", "l0/c0/latest"}, 1);
  EXPECT_EQ(old["error"]["reason"], "STAGES_UNKNOWN");
  EXPECT_EQ(old["error"]["metadata"]["recording"], "luns/l0/channels/c0/recordings/old");
  EXPECT_EQ(RunJson({"explain", "l0/c0/none"}, 3)["error"]["reason"], "RECORDING_NOT_FOUND");
  EXPECT_EQ(RunJson({"explain", "jobs/none"}, 3)["error"]["reason"], "JOB_NOT_FOUND");
  EXPECT_EQ(RunJson({"explain", "17"}, 3)["error"]["reason"], "JOB_NOT_FOUND");
}

TEST_F(TapectlTest, WhatIsWrongWithALunIsSaid) {
  ASSERT_TRUE(node_.catalog.CreateLun({.name = "luns/l0", .cause = "too large"}, "").ok());
  EXPECT_THAT(Run({"lun", "list"}).out, HasSubstr("NAME  NOTE\nl0    too large\n"));
  const Outcome changed = Run({"lun", "update", "l0", "--capacity", "1GiB"});
  EXPECT_EQ(changed.out, "changed l0\nnote: too large\n");
}

TEST_F(TapectlTest, LunsAndChannelsAreChanged) {
  RunJson({"lun", "create", "l0", "--store", "posix", "--member", "/tmp/a", "--capacity", "10GiB",
           "--max-age", "72h"});
  RunJson({"channel", "create", "l0/c0", "--sample-rate", "1e9", "--transfer-op", "SEND"});
  json lun = RunJson(
      {"lun", "update", "l0", "--capacity", "20GB", "--full-policy", "ring", "--max-fill", "90"});
  EXPECT_EQ(lun["name"], "luns/l0");
  EXPECT_EQ(lun["capacity_bytes"], 20'000'000'000);
  EXPECT_EQ(lun["full_policy"], "ring");
  EXPECT_EQ(lun["max_fill_percent"], 90);
  EXPECT_EQ(lun["max_age_s"], 72 * 3600);
  lun = RunJson({"lun", "update", "l0", "--max-age", "0", "--max-fill", "0"});
  EXPECT_EQ(lun["capacity_bytes"], 20'000'000'000);
  EXPECT_EQ(lun["max_fill_percent"], 0);
  EXPECT_EQ(lun["max_age_s"], 0);
  lun = RunJson({"lun", "update", "l0", "--add-member", "/tmp/b", "--add-member", "/tmp/x/../c",
                 "--prewrite-files", "3", "--prewrite-bytes", "1MiB"});
  EXPECT_EQ(lun["members"], json({"/tmp/a", "/tmp/b", "/tmp/c"}));
  EXPECT_EQ(lun["prewrite_files"], 3);
  EXPECT_EQ(lun["prewrite_bytes"], 1 << 20);
  json channel = RunJson({"channel", "update", "l0/c0", "--datatype", "cu8", "--pre-trigger", "2s",
                          "--commit", "received", "--segment", "1GiB"});
  EXPECT_EQ(channel["datatype"], "cu8");
  EXPECT_EQ(channel["sample_rate"], 1e9);
  EXPECT_EQ(channel["transfer_op"], "SEND");
  EXPECT_EQ(channel["commit_level"], "received");
  channel = RunJson({"channel", "update", "l0/c0", "--transfer-op", "none", "--pre-trigger", "0"});
  EXPECT_NE(channel["transfer_op"], "SEND");
  lun = RunJson({"lun", "update", "l0", "--label", "site=north", "--label", "rack=2",
                 "--description", "the left rack"});
  EXPECT_EQ(lun["labels"], (nlohmann::json{{"site", "north"}, {"rack", "2"}}));
  EXPECT_EQ(lun["description"], "the left rack");
  lun = RunJson({"lun", "update", "l0", "--label", "site=south", "--label", "run=7=8", "--label",
                 "rack-", "--label", "none-"});
  EXPECT_EQ(lun["labels"], (nlohmann::json{{"site", "south"}, {"run", "7=8"}}));
  for (const char* wrong : {"-", "=x", "site", ""}) {
    EXPECT_EQ(Run({"lun", "update", "l0", "--label", wrong}).exit_code, 2) << wrong;
  }
  EXPECT_TRUE(RunJson({"lun", "update", "l0", "--label", "none"})["labels"].empty());
  EXPECT_EQ(Run({"lun", "update", "l0", "--max-fill", "50"}).out, "changed l0\n");
  // Nothing to change, nothing that can be, and nothing that is there.
  const Outcome nothing = Run({"lun", "update", "l0"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("ARGUMENT_INVALID"));
  EXPECT_EQ(Run({"lun", "update", "l0", "--member", "/tmp/b"}).exit_code, 2);
  EXPECT_EQ(Run({"lun", "update", "none", "--add-member", "/tmp/b"}).exit_code, 3);
  EXPECT_EQ(Run({"channel", "update", "l0/none", "--segment", "1GiB"}).exit_code, 3);
}

TEST_F(TapectlTest, TablesHaveHeads) {
  node_.catalog.AddRecording("r1", 1);
  const Outcome outcome = Run({"recordings", "list"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, StartsWith("NAME"));
  EXPECT_THAT(outcome.out, HasSubstr("l0/c0/r1  SEALED"));
  EXPECT_THAT(outcome.out, HasSubstr("4 MiB"));
}

TEST_F(TapectlTest, RecordPrintsTheResult) {
  const json result =
      RunJson({"record", "l0/c0", "--source", "synth", "--seed", "9", "--blocks", "4", "--fft",
               "1024", "--rails", "r0,r1", "--slots", "32", "--op", "write"});
  EXPECT_EQ(result["recording"], "luns/l0/channels/c0/recordings/rec1");
  EXPECT_EQ(result["state"], "SUCCEEDED");
  EXPECT_EQ(result["blocks"], 4);
  EXPECT_EQ(result["bytes"], 4 << 20);
  EXPECT_DOUBLE_EQ(result["elapsed_s"], 0.004);
  EXPECT_DOUBLE_EQ(result["mb_per_s"], 1048.576);
  for (const char* key :
       {"lost_blocks", "retransmitted_blocks", "crc_errors", "duplicate_blocks"}) {
    EXPECT_EQ(result[key], 0) << key;
  }
  ASSERT_EQ(result["rails"].size(), 2u);
  EXPECT_EQ(result["rails"][0]["name"], "r0");
  EXPECT_EQ(result["rails"][0]["blocks"], 2);
  EXPECT_DOUBLE_EQ(result["rails"][0]["mb_per_s"], 524.288);
  EXPECT_FALSE(result.contains("error"));

  const TransferSpec spec = node_.jobs.last_transfer();
  EXPECT_EQ(spec.storage, node_.address);
  EXPECT_EQ(spec.transforms, (std::vector<StageSpec>{{"fft", {{"points", uint64_t{1024}}}}}));
  EXPECT_EQ(spec.rails, (std::vector<std::string>{"r0", "r1"}));
  EXPECT_EQ(spec.slots, 32u);
  EXPECT_EQ(spec.op, dataplane::TransferOp::kWrite);
  EXPECT_EQ(node_.jobs.last_record().source, (StageSpec{"synth", {{"seed", uint64_t{9}}}}));
}

TEST_F(TapectlTest, FilesAreMadeAbsoluteAndDurationsPassed) {
  RunJson({"record", "l0/endless", "--source", "file:a.bin", "--loop", "--duration", "1m30s"}, 1,
          [this] { AwaitBlocks(); });
  const RecordSpec spec = node_.jobs.last_record();
  EXPECT_EQ(spec.source.name, "file");
  EXPECT_THAT(std::get<std::string>(spec.source.parameters.at("path")), StartsWith("/"));
  EXPECT_EQ(spec.source.parameters.at("loop"), ParameterValue(true));
  EXPECT_EQ(spec.duration_ns, 90'000'000'000);
}

TEST_F(TapectlTest, AnyStageCanBeNamedWithItsParameters) {
  RunJson({"record", "--transform", "fft:points=64", "--transform", "scale", "l0/c0", "--source",
           "synth:tones=0.1,-0.2,noise=0", "--blocks", "1"});
  const RecordSpec spec = node_.jobs.last_record();
  EXPECT_EQ(spec.source, (StageSpec{"synth", {{"tones", "0.1,-0.2"}, {"noise", "0"}}}));
  EXPECT_EQ(spec.transfer.transforms,
            (std::vector<StageSpec>{{"fft", {{"points", "64"}}}, {"scale"}}));
  EXPECT_EQ(RunJson({"nodes"})["nodes"][1]["stages"][0], "source synth");
}

TEST_F(TapectlTest, ASecondOutputHasItsOwnTransforms) {
  const std::vector<std::string> line = {
      "record",   "l0/c0", "--source",         "synth",
      "--blocks", "2",     "--also-transform", "power:average=16,points=1024"};
  EXPECT_EQ(Run(line).exit_code, 2) << "without a channel";
  std::vector<std::string> both = line;
  both.insert(both.end(), {"--fft", "1024", "--also", "l0/spectra"});
  const json result = RunJson(both);
  const RecordSpec spec = node_.jobs.last_record();
  EXPECT_EQ(spec.transfer.transforms.size(), 1u);
  ASSERT_EQ(spec.outputs.size(), 1u);
  EXPECT_EQ(spec.outputs[0].channel, "luns/l0/channels/spectra");
  EXPECT_EQ(spec.outputs[0].transforms,
            (std::vector<StageSpec>{{"power", {{"average", "16"}, {"points", "1024"}}}}));
  ASSERT_EQ(result["outputs"].size(), 1u);
  EXPECT_EQ(result["outputs"][0]["channel"], "luns/l0/channels/spectra");
  EXPECT_EQ(result["outputs"][0]["blocks"], 1);
  EXPECT_FALSE(result["outputs"][0].contains("error"));
  EXPECT_THAT(Run(both).out, HasSubstr("and l0/spectra/rec2\n1 blocks, 1 MiB; lost 0 blocks"));
}

TEST_F(TapectlTest, AFileIsReplacedOnlyWhenAsked) {
  node_.catalog.AddRecording("r1", 1);
  for (const bool replace : {false, true}) {
    std::vector<std::string> line = {"play", "r1", "--sink", "file:/tmp/a.bin"};
    if (replace) line.push_back("--replace");
    RunJson(line);
    StageSpec sink{"file", {{"path", "/tmp/a.bin"}}};
    if (replace) sink.parameters["replace"] = true;
    EXPECT_EQ(node_.jobs.last_playback().sink, sink);
  }
  EXPECT_EQ(Run({"play", "r1", "--sink", "null", "--replace"}).exit_code, 2);
}

TEST_F(TapectlTest, PlayFindsItsRecording) {
  node_.catalog.AddRecording("r1", 1);
  node_.catalog.AddRecording("r2", 2);
  const std::string base = "luns/l0/channels/c0/recordings/";
  for (const auto& [text, id] : std::vector<std::pair<std::string, std::string>>{
           {"r1", "r1"}, {"l0/c0/r1", "r1"}, {base + "r1", "r1"}, {"l0/c0/latest", "r2"}}) {
    const json result = RunJson({"play", text, "--sink", "verify"});
    EXPECT_EQ(result["recording"], base + id) << text;
    EXPECT_EQ(result["blocks"], 4) << text;
  }
  EXPECT_EQ(RunJson({"play", "r9", "--sink", "null"}, 3)["error"]["reason"], "RECORDING_NOT_FOUND");
}

TEST_F(TapectlTest, FailedJobsShowTheirResultAndReason) {
  const json result = RunJson({"play", "l0/c0/broken", "--sink", "null"}, 5);
  EXPECT_EQ(result["state"], "FAILED");
  EXPECT_EQ(result["error"]["code"], "UNAVAILABLE");
  EXPECT_EQ(result["error"]["reason"], "PEER_LOST");
  EXPECT_EQ(result["error"]["metadata"]["node"], "s0");
}

TEST_F(TapectlTest, InterruptStopsALiveSource) {
  const json result = RunJson({"record", "l0/endless", "--source", "synth", "--duration", "1h"}, 0,
                              [this] { AwaitBlocks(); });
  EXPECT_EQ(result["state"], "SUCCEEDED");
  EXPECT_FALSE(result.contains("error"));
  EXPECT_GT(result["blocks"], 0);
  EXPECT_TRUE(result["total_blocks"].is_null());
}

TEST_F(TapectlTest, AJobIsStoppedIfItsSourceIsLive) {
  RunJson({"record", "l0/endless", "--source", "synth", "--duration", "1h", "--detach"});
  EXPECT_EQ(RunJson({"jobs", "stop", "j1"})["state"], "SUCCEEDED");
  RunJson({"record", "l0/endless", "--source", "file:a.bin", "--detach"});
  EXPECT_EQ(RunJson({"jobs", "stop", "j2"}, 1)["error"]["reason"], "JOB_NOT_LIVE");
}

TEST_F(TapectlTest, StopAndCancelSayThatTheyAsked) {
  RunJson({"record", "l0/endless", "--source", "synth", "--duration", "1h", "--detach"});
  node_.jobs.EndSlowly();
  EXPECT_EQ(Run({"jobs", "stop", "j1"}).out,
            "jobs/j1 is asked to stop; tapectl jobs attach jobs/j1 follows it to its end\n");
  EXPECT_THAT(Run({"jobs", "cancel", "j1"}).out, StartsWith("jobs/j1 is asked to cancel; "));
  RunJson({"record", "l0/c0", "--source", "synth", "--blocks", "1"});
  EXPECT_EQ(Run({"jobs", "cancel", "j2"}).out, "jobs/j2 has ended: SUCCEEDED\n");
}

TEST_F(TapectlTest, WhoLeavesALiveSourceIsToldHowItEndsWell) {
  const std::vector<std::string> live = {"record",     "l0/endless", "--source", "synth",
                                         "--duration", "1h",         "--detach"};
  EXPECT_THAT(Run(live).out, HasSubstr("tapectl jobs stop jobs/j1 seals a live recording"));
  const Outcome attached = Run({"jobs", "attach", "j1"}, [this] { AwaitBlocks(); });
  EXPECT_THAT(attached.err, HasSubstr("tapectl jobs stop jobs/j1 seals a live recording"));
  const Outcome played = Run({"play", "l0/c0/r", "--sink", "null", "--detach"});
  EXPECT_THAT(played.out, HasSubstr("tapectl jobs cancel jobs/j2 ends it"));
  EXPECT_THAT(played.out, Not(HasSubstr("jobs stop")));
}

TEST_F(TapectlTest, TheListSaysWhichShareIsDone) {
  RunJson({"record", "l0/endless", "--source", "synth", "--duration", "1h", "--detach"});
  EXPECT_THAT(Run({"jobs", "list"}).out, ContainsRegex("DONE.*\njobs/j1 +STARTING +- "));
  RunJson({"record", "l0/c0", "--source", "synth", "--blocks", "4"});
  EXPECT_THAT(Run({"jobs", "list"}).out, ContainsRegex("jobs/j2 +SUCCEEDED +100% "));
}

TEST_F(TapectlTest, InterruptCancelsAndReports) {
  const json result =
      RunJson({"record", "l0/endless", "--source", "file:a.bin"}, 1, [this] { AwaitBlocks(); });
  EXPECT_EQ(result["state"], "CANCELLED");
  EXPECT_EQ(result["error"]["reason"], "JOB_CANCELLED");
  EXPECT_GT(result["blocks"], 0);
}

TEST_F(TapectlTest, DetachedJobsGoOnAndAreAttached) {
  const json started =
      RunJson({"record", "l0/c0", "--source", "synth", "--blocks", "4", "--detach"});
  EXPECT_EQ(started["name"], "jobs/j1");
  EXPECT_FALSE(started.contains("error"));
  const json ended = RunJson({"jobs", "attach", "j1"});
  EXPECT_EQ(ended["state"], "SUCCEEDED");
  EXPECT_EQ(ended["blocks"], 4);
  EXPECT_EQ(RunJson({"play", "l0/c0/broken", "--sink", "null", "--detach"})["name"], "jobs/j2");
  EXPECT_EQ(RunJson({"jobs", "attach", "j2"}, 5)["error"]["reason"], "PEER_LOST");
  EXPECT_EQ(RunJson({"jobs", "attach", "j9"}, 3)["error"]["reason"], "JOB_NOT_FOUND");
  EXPECT_THAT(
      Run({"record", "l0/c0", "--source", "synth", "--blocks", "1", "--device", "all", "--detach"})
          .out,
      ContainsRegex("started jobs/j3; .*\nstarted jobs/j4; tapectl jobs attach jobs/j4"));
}

TEST_F(TapectlTest, AnInterruptDetachesAndLeavesTheJob) {
  RunJson({"record", "l0/endless", "--source", "synth", "--duration", "1h", "--detach"});
  const Outcome detached = Run({"jobs", "attach", "j1"}, [this] { AwaitBlocks(); });
  EXPECT_EQ(detached.exit_code, -SIGINT);
  EXPECT_THAT(detached.err, HasSubstr("detached; jobs/j1 keeps running"));
  EXPECT_EQ(node_.jobs.ListJobs()[0].state, JobState::kRunning);
  const json late = RunJson({"jobs", "attach", "j1", "--timeout", "300ms"}, 124);
  EXPECT_THAT(std::string(late["error"]["message"]), HasSubstr("keeps running"));
  EXPECT_EQ(node_.jobs.ListJobs()[0].state, JobState::kRunning);
  EXPECT_EQ(RunJson({"jobs", "cancel", "j1"})["state"], "CANCELLED");
}

TEST_F(TapectlTest, TimeoutCancelsToo) {
  const json result = RunJson(
      {"record", "l0/endless", "--source", "synth", "--duration", "1h", "--timeout", "500ms"}, 124);
  EXPECT_EQ(result["error"]["code"], "DEADLINE_EXCEEDED");
  EXPECT_THAT(result["error"]["message"].get<std::string>(), HasSubstr("is being cancelled"));
  EXPECT_EQ(node_.jobs.ListJobs()[0].state, JobState::kCancelled);
}

TEST_F(TapectlTest, ADeviceIsNamed) {
  EXPECT_EQ(RunJson({"record", "l0/c0", "--source", "synth", "--blocks", "1", "--device",
                     "cuda:1"})["device"],
            "cuda:1");
  node_.catalog.AddRecording("r1", 1);
  RunJson({"play", "r1", "--sink", "null", "--device", "cuda:2"});
  EXPECT_EQ(node_.jobs.last_playback().transfer.device, "cuda:2");
  const json refused = RunJson({"play", "r1", "--sink", "null", "--device", "all"}, 2);
  EXPECT_EQ(refused["error"]["metadata"]["field"], "device");
}

TEST_F(TapectlTest, AllDevicesRecordOneEach) {
  const json result =
      RunJson({"record", "l0/c0", "--source", "synth", "--blocks", "4", "--device", "all"});
  ASSERT_EQ(result["jobs"].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const json& job = result["jobs"][i];
    EXPECT_EQ(job["recording"], "luns/l0/channels/c0/recordings/rec" + std::to_string(i + 1));
    EXPECT_EQ(job["state"], "SUCCEEDED");
    EXPECT_EQ(job["group"], "g");
  }
  const Outcome text =
      Run({"record", "l0/c0", "--source", "synth", "--blocks", "4", "--device", "all"});
  EXPECT_THAT(text.out, ContainsRegex("jobs/j[0-9]+  all\nl0/c0/rec1  "
                                      "SUCCEEDED\n4 blocks"));
  EXPECT_THAT(text.out, HasSubstr("/rec2  SUCCEEDED\n4 blocks"));
}

TEST_F(TapectlTest, TheWorstOfAllIsTheExitStatus) {
  const json result =
      RunJson({"record", "l0/half", "--source", "synth", "--blocks", "4", "--device", "all"}, 5);
  EXPECT_EQ(result["jobs"][0]["state"], "SUCCEEDED");
  EXPECT_EQ(result["jobs"][1]["state"], "FAILED");
  EXPECT_EQ(result["jobs"][1]["error"]["reason"], "PEER_LOST");
}

TEST_F(TapectlTest, InterruptStopsAll) {
  const json stopped =
      RunJson({"record", "l0/endless", "--source", "synth", "--duration", "1h", "--device", "all"},
              0, [this] { AwaitBlocks(); });
  for (const json& job : stopped["jobs"]) EXPECT_EQ(job["state"], "SUCCEEDED");
}

TEST_F(TapectlTest, InterruptCancelsAll) {
  const json result = RunJson({"record", "l0/endless", "--source", "file:a.bin", "--loop",
                               "--duration", "1h", "--device", "all"},
                              1, [this] { AwaitBlocks(); });
  for (const json& job : result["jobs"]) EXPECT_EQ(job["state"], "CANCELLED");
  EXPECT_EQ(result["jobs"].size(), 2u);
  RunJson({"record", "l0/endless", "--source", "synth", "--duration", "1h", "--device", "all",
           "--timeout", "500ms"},
          124);
  for (const Job& job : node_.jobs.ListJobs()) EXPECT_EQ(job.state, JobState::kCancelled);
}

TEST_F(TapectlTest, VerifyTellsOfDamage) {
  node_.catalog.AddRecording("r1", 1);
  EXPECT_EQ(RunJson({"recordings", "verify", "r1"})["checked_blocks"], 4);
  node_.catalog.SetDamage({{.sequence = 2, .kind = services::DamageKind::kRot, .detail = "crc"}});
  const json result = RunJson({"recordings", "verify", "r1"}, 1);
  EXPECT_EQ(result["damaged"][0]["sequence"], 2);
  EXPECT_EQ(result["error"]["reason"], "BLOCK_DAMAGED");
  EXPECT_EQ(result["missing_blocks"], 0);
  EXPECT_EQ(RunJson({"recordings", "show", "r1"})["state"], "SEALED");
  EXPECT_EQ(RunJson({"recordings", "delete", "r1"})["deleted"],
            "luns/l0/channels/c0/recordings/r1");
}

TEST_F(TapectlTest, JobsAndNodes) {
  RunJson({"record", "l0/c0", "--source", "synth", "--blocks", "2"});
  EXPECT_EQ(RunJson({"jobs", "list"})["jobs"][0]["name"], "jobs/j1");
  EXPECT_EQ(RunJson({"jobs", "show", "j1"})["state"], "SUCCEEDED");
  EXPECT_EQ(RunJson({"jobs", "cancel", "j1"})["state"], "SUCCEEDED");
  EXPECT_EQ(RunJson({"jobs", "show", "j9"}, 3)["error"]["reason"], "JOB_NOT_FOUND");
  const json nodes = RunJson({"nodes"})["nodes"];
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0]["rails"][0]["transport"], "tcp");
  const json store = {{"name", "posix"}, {"description", "files"}};
  EXPECT_EQ(nodes[0]["stores"], json::array({store}));
  EXPECT_THAT(Run({"nodes"}).out, ContainsRegex("STORES OF [^ ]+ +WHAT\nposix +files\n"));
}

TEST_F(TapectlTest, NodesShowsEachOfAListAndWhyOneDoesNotAnswer) {
  const std::string storages = node_.address + ",127.0.0.1:1";
  const std::vector<std::string> line = {"nodes", "--storage", storages, "--worker", node_.address};
  std::vector<std::string> in_json = line;
  in_json.push_back("--output=json");
  const json nodes = json::parse(RunTapectl(in_json).out)["nodes"];
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0]["address"], node_.address);
  EXPECT_FALSE(nodes[0].contains("error"));
  EXPECT_EQ(nodes[1]["address"], "127.0.0.1:1");
  EXPECT_EQ(nodes[1]["error"]["reason"], "NODE_UNREACHABLE");
  EXPECT_FALSE(nodes[2].contains("error"));
  const Outcome text = RunTapectl(line);
  EXPECT_NE(text.exit_code, 0);
  EXPECT_THAT(text.out, ContainsRegex("NO ANSWER FROM 127.0.0.1:1\n[^\n]*127.0.0.1:1"));
}

TEST_F(TapectlTest, NodesShowEachMemoryWithItsDistanceToEveryRail) {
  const json worker = RunJson({"nodes"})["nodes"][1];
  EXPECT_EQ(worker["rails"][0]["pci_address"], "0000:19:00.0");
  EXPECT_EQ(worker["rails"][0]["numa_node"], 0);
  EXPECT_EQ(worker["rails"][1]["numa_node"], nullptr);
  const json to_r0 = {{"rail", "r0"}, {"distance", "SWITCH"}, {"weight", 1}};
  EXPECT_EQ(worker["memory"][0]["distances"][0], to_r0);
  EXPECT_EQ(worker["memory"][0]["distances"][1]["distance"], "UNKNOWN");
  EXPECT_EQ(worker["memory"][1]["pci_address"], "");
  EXPECT_EQ(worker["memory"][0]["rungs"], json::array({"r0 record: dma-buf: moved"}));
  const std::string text = Run({"nodes"}).out;
  EXPECT_THAT(text, ContainsRegex("r0 +[^ ]+ +eth0 +0000:19:00.0 +0 +off\n"));
  EXPECT_THAT(text, ContainsRegex("r1 +[^ ]+ +- +- +- +off\n"));
  EXPECT_THAT(text, ContainsRegex("MEMORY OF [^ ]+ +PCI +NUMA +TO r0 +TO r1\n"
                                  "cuda:0 +0000:18:00.0 +0 +SWITCH +UNKNOWN\n"
                                  "host +- +- +UNKNOWN +UNKNOWN\n"));
  EXPECT_THAT(text, ContainsRegex("RUNGS OF [^ ]+ +RAIL, DIRECTION, RUNG AND WHY\n"
                                  "cuda:0 +r0 record: dma-buf: moved\n"));
}

TEST_F(TapectlTest, ErrorsAreOneLineWithReasonAndRemedy) {
  const Outcome outcome = Run({"lun", "delete", "none"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "tapectl: lun delete: no lun none [LUN_NOT_FOUND] — see tapectl lun list\n");
}

}  // namespace
}  // namespace tapedeck::services::tapectl
