// Streams in segments, as one recording and one by one, against real gRPC.
#include "services/site/streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/rpc/storage_client/dialer.h"
#include "tests/services/loopback_node.h"
#include "tests/services/tapectl/process.h"

namespace tapedeck::services::tapectl {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr char kBase[] = "luns/l0/channels/c0/recordings/";

// A stream s of three segments and a recording r that is older.
class StreamsTest : public ::testing::Test {
 protected:
  StreamsTest() {
    node_.catalog.AddRecording("r", 0);
    for (uint64_t i = 0; i < 3; ++i) node_.catalog.AddSegment("s", i, RecordingState::kSealed);
  }

  Outcome Run(std::vector<std::string> arguments) {
    for (const char* option : {"--storage", "--worker"}) {
      arguments.insert(arguments.end(), {option, node_.address});
    }
    return RunTapectl(arguments);
  }
  json RunJson(std::vector<std::string> arguments, int exit_code = 0) {
    arguments.emplace_back("--output=json");
    const Outcome outcome = Run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    return json::parse(outcome.out, nullptr, false);
  }
  void Release(const std::string& id) { node_.catalog.DeleteRecording(kBase + id).IgnoreError(); }

  LoopbackNode node_;
};

TEST_F(StreamsTest, AStreamIsOneLineOfTheList) {
  const json list = RunJson({"recordings", "list"})["recordings"];
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["name"], std::string(kBase) + "s");
  EXPECT_EQ(list[0]["blocks"], 12);
  EXPECT_EQ(list[0]["segments"], 3);
  EXPECT_FALSE(list[0].contains("segment"));
  EXPECT_EQ(list[1]["name"], std::string(kBase) + "r");
  EXPECT_THAT(Run({"recordings", "list"}).out, ContainsRegex("/s +SEALED +12 +12 MiB.* 3\n.*/r "));
  EXPECT_EQ(RunJson({"recordings", "list", "--segments"})["recordings"].size(), 4u);
  EXPECT_THAT(Run({"recordings", "list", "--segments"}).out, HasSubstr("2 of s\n"));
  const Outcome lines = Run({"recordings", "list", "--output", "jsonl"});
  EXPECT_EQ(json::parse(lines.out.substr(0, lines.out.find('\n')))["segments"], 3);
  EXPECT_EQ(std::count(lines.out.begin(), lines.out.end(), '\n'), 2);
}

TEST_F(StreamsTest, AStreamKeepsItsNameWhenItsFirstSegmentIsGone) {
  Release("s");
  for (const char* name : {"s", "l0/c0/s", "luns/l0/channels/c0/recordings/s", "l0/c0/latest"}) {
    EXPECT_EQ(RunJson({"recordings", "show", name})["first_segment"], 1) << name;
  }
  RunJson({"play", "l0/c0/s", "--sink", "null", "--detach"});
  EXPECT_EQ(node_.jobs.last_transfer().target, std::string(kBase) + "s-1");
  EXPECT_TRUE(node_.jobs.last_playback().playhead.stream);
}

TEST_F(StreamsTest, BlocksOfASegmentThatIsGoneAreMissing) {
  Release("s-1");
  const json list = RunJson({"recordings", "list"})["recordings"];
  EXPECT_EQ(list[0]["blocks"], 12);
  EXPECT_EQ(list[0]["missing_blocks"], 4);
  const auto begins = [&](const std::string& block) {
    RunJson({"play", "s", "--from-block", block, "--sink", "null", "--detach"});
    return std::pair(node_.jobs.last_transfer().target, node_.jobs.last_playback().playhead.start);
  };
  EXPECT_EQ(begins("3"), std::pair(std::string(kBase) + "s", int64_t{3}));
  EXPECT_EQ(begins("5"), std::pair(std::string(kBase) + "s-2", int64_t{0}));
  EXPECT_EQ(begins("10"), std::pair(std::string(kBase) + "s-2", int64_t{2}));
}

// As a worker asks that plays it: what an earlier segment tells may hold of this one.
TEST_F(StreamsTest, AWorkerGetsTheAnnotationsOfTheWholeStream) {
  for (const char* id : {"s", "s-1", "s-2", "r"}) {
    Recording recording = *node_.catalog.GetRecording(kBase + std::string(id));
    recording.annotations = {{.sample_start = 10 + recording.segment, .label = id}};
    node_.catalog.PutRecording(recording);
  }
  const auto dialer = storage_client::MakeStorageDialer({});
  const auto storage = dialer->Dial(node_.address, {}, "");
  const auto labels = [&](const std::string& id) {
    std::vector<std::string> all;
    const auto found = storage->GetRecording(kBase + id);
    EXPECT_TRUE(found.ok()) << found.status();
    if (!found.ok()) return all;
    for (const Annotation& one : found->annotations) all.push_back(one.label);
    return all;
  };
  EXPECT_THAT(labels("s-1"), ::testing::ElementsAre("s", "s-1", "s-2"));
  EXPECT_THAT(labels("r"), ::testing::ElementsAre("r"));
}

TEST_F(StreamsTest, WhatIsKeptOfAStreamIsSaid) {
  EXPECT_THAT(Run({"recordings", "show", "s"}).out, ContainsRegex("kept +-\n"));
  Recording segment = *node_.catalog.GetRecording(std::string(kBase) + "s-1");
  segment.kept = true;
  node_.catalog.PutRecording(segment);
  EXPECT_THAT(Run({"recordings", "show", "s"}).out, ContainsRegex("kept +1 of 3 segments\n"));
  EXPECT_THAT(Run({"recordings", "list"}).out,
              ContainsRegex("KEPT.*\n.*/s .* 1 of 3 segments +3\n"));
  EXPECT_THAT(Run({"recordings", "list", "--segments"}).out,
              ContainsRegex("/s-1 .* yes +1 of s\n.*/s .* - +0 of s\n"));
}

TEST_F(StreamsTest, ACopySaysWhyItsOriginalEnded) {
  Recording copy = *node_.catalog.GetRecording(std::string(kBase) + "r");
  copy.origin.original_cause = "the job was cancelled";
  node_.catalog.PutRecording(copy);
  EXPECT_THAT(Run({"recordings", "show", "r"}).out,
              ContainsRegex("original cause +the job was cancelled\n"));
}

TEST_F(StreamsTest, PlayTakesTheStreamOrOneSegment) {
  struct Case {
    std::vector<std::string> options;
    std::string target;
    bool stream;
    int64_t start;
  };
  for (const Case& one : std::vector<Case>{{{"s"}, "s", true, 0},
                                           {{"l0/c0/latest"}, "s", true, 0},
                                           {{"s", "--from-block", "9"}, "s-2", true, 1},
                                           {{"s", "--from-sample", "0"}, "s-2", true, 0},
                                           {{"s", "--segment", "0"}, "s", false, 0},
                                           {{"l0/c0/latest", "--segment", "1"}, "s-1", false, 0},
                                           {{"s-1"}, "s-1", false, 0},
                                           {{"s-1", "--stream"}, "s-1", true, 0},
                                           {{"r"}, "r", false, 0},
                                           {{"r", "--segment", "0"}, "r", false, 0}}) {
    std::vector<std::string> line = {"play", "--detach", "--sink", "null"};
    line.insert(line.end(), one.options.begin(), one.options.end());
    RunJson(line);
    const std::string text = testing::PrintToString(one.options);
    EXPECT_EQ(node_.jobs.last_transfer().target, kBase + one.target) << text;
    EXPECT_EQ(node_.jobs.last_playback().playhead.stream, one.stream) << text;
    EXPECT_EQ(node_.jobs.last_playback().playhead.start, one.start) << text;
  }
  EXPECT_EQ(RunJson({"play", "s", "--segment", "3", "--sink", "null"}, 3)["error"]["reason"],
            "RECORDING_NOT_FOUND");
}

TEST_F(StreamsTest, VerifyReadsAllThatIsClosed) {
  EXPECT_THAT(Run({"recordings", "verify", "s"}).out,
              HasSubstr("/s: 12 blocks in 3 segments, none damaged\n"));
  node_.catalog.AddSegment("s", 3, RecordingState::kRecording);
  json result = RunJson({"recordings", "verify", "s"});
  EXPECT_EQ(result["checked_blocks"], 12);
  EXPECT_EQ(result["segments"], 3);
  EXPECT_EQ(result["open_segments"], 1);
  node_.catalog.SetDamage({{.sequence = 2, .kind = DamageKind::kRot, .detail = "crc"}});
  result = RunJson({"recordings", "verify", "s"}, 1);
  ASSERT_EQ(result["damaged"].size(), 3u);
  EXPECT_EQ(result["damaged"][1]["recording"], std::string(kBase) + "s-1");
  result = RunJson({"recordings", "verify", "s", "--segment", "1"}, 1);
  EXPECT_EQ(result["recording"], std::string(kBase) + "s-1");
  EXPECT_EQ(result["damaged"].size(), 1u);
}

TEST_F(StreamsTest, VerifyCountsBlocksAndFilesApart) {
  std::vector<DamagedBlock> damage = {
      {.kind = services::DamageKind::kHeader, .detail = "index copy 0"},
      {.kind = services::DamageKind::kManifest, .detail = "manifest copy 0"}};
  node_.catalog.SetDamage(damage);
  const auto message = [&] {
    const json error = RunJson({"recordings", "verify", "r"}, 1)["error"];
    EXPECT_EQ(error["reason"], "BLOCK_DAMAGED");
    return error["message"].get<std::string>();
  };
  EXPECT_THAT(message(), HasSubstr("no block is damaged, but 2 pieces of its index and manifest"));
  for (uint64_t i = 0; i < 4; ++i) {
    damage.push_back({.sequence = i, .kind = services::DamageKind::kRot, .detail = "crc"});
  }
  node_.catalog.SetDamage(damage);
  EXPECT_THAT(message(), HasSubstr("4 of 4 blocks are damaged"));
  EXPECT_THAT(message(), HasSubstr("2 pieces of its index and manifest"));
  EXPECT_THAT(Run({"recordings", "verify", "r"}).out, ContainsRegex("- +header +index copy 0"));
}

TEST_F(StreamsTest, VerifyTakesAGapForWhatItIs) {
  node_.catalog.SetDamage(
      {{.sequence = 2, .kind = services::DamageKind::kMissing, .detail = "never came"}});
  const json result = RunJson({"recordings", "verify", "r"});
  EXPECT_EQ(result["missing_blocks"], 1);
  EXPECT_EQ(result["damaged"][0]["sequence"], 2);
  EXPECT_FALSE(result.contains("error"));
  const std::string text = Run({"recordings", "verify", "r"}).out;
  EXPECT_THAT(text, ContainsRegex("BLOCK +KIND +DETAIL\n2 +missing +never came\n"));
  EXPECT_THAT(text, HasSubstr("none damaged, 1 missing when it was closed\n"));
  node_.catalog.SetDamage(
      {{.sequence = 1, .kind = services::DamageKind::kRot, .detail = "crc"},
       {.sequence = 2, .kind = services::DamageKind::kMissing, .detail = "never came"}});
  EXPECT_THAT(Run({"recordings", "verify", "r"}).err,
              HasSubstr("1 of 4 blocks are damaged; the rest plays; 1 more were missing"));
}

TEST_F(StreamsTest, DeleteTakesAllOrNothing) {
  node_.catalog.AddSegment("s", 3, RecordingState::kRecording);
  EXPECT_EQ(RunJson({"recordings", "delete", "s"}, 1)["error"]["reason"], "RECORDING_BUSY");
  EXPECT_EQ(RunJson({"recordings", "show", "s"})["segments"], 4);
  node_.catalog.AddSegment("s", 3, RecordingState::kSealed);
  RunJson({"recordings", "delete", "s", "--segment", "1"});
  EXPECT_EQ(RunJson({"recordings", "show", "s"})["segments"], 3);
  EXPECT_EQ(RunJson({"recordings", "delete", "s"}, 2)["error"]["reason"], "ARGUMENT_INVALID");
  EXPECT_THAT(Run({"recordings", "delete", "s", "--yes"}).out, HasSubstr("/s with 3 segments\n"));
  EXPECT_EQ(RunJson({"recordings", "list"})["recordings"].size(), 1u);
}

}  // namespace
}  // namespace tapedeck::services::tapectl
