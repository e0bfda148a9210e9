// watch and top: what a terminal shows, what a pipe gets, and how fast things go between two looks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "services/tapectl/program/load.h"
#include "services/tapectl/terminal/screen.h"
#include "tests/services/loopback_node.h"
#include "tests/services/tapectl/process.h"

namespace tapedeck::services::tapectl {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ScreenTest, ATerminalIsWrittenOver) {
  std::ostringstream out;
  Screen screen(out);
  screen.Show("a\nb\n", {.rows = 24, .columns = 80});
  EXPECT_EQ(out.str(), "\033[2J\033[Ha\033[K\nb\033[K\n\033[J");
  out.str("");
  screen.Show("a\n", {.rows = 24, .columns = 80});
  EXPECT_EQ(out.str(), "\033[Ha\033[K\n\033[J") << "cleared once";
}

TEST(ScreenTest, ATerminalWithoutEscapesGetsEachTextBelowTheOther) {
  std::ostringstream out;
  Screen screen(out, /*escapes=*/false);
  screen.Show("a\nb\n", {.rows = 24, .columns = 80});
  screen.Show("a\nb\n", {.rows = 24, .columns = 80});
  EXPECT_EQ(out.str(), "a\nb\n\na\nb\n");
}

TEST(ScreenTest, ATextIsCutToOneScreen) {
  EXPECT_EQ(FitTo("abcdef\nx\n", {.rows = 24, .columns = 3}), "abc\nx\n");
  EXPECT_EQ(FitTo("ä±…x", {.rows = 24, .columns = 3}), "ä±…\n");
  EXPECT_EQ(FitTo("測試x", {.rows = 24, .columns = 3}), "測\n") << "a wide one has two columns";
  EXPECT_EQ(FitTo("a\nb\nc\nd\n", {.rows = 4, .columns = 80}), "a\nb\n… 2 more lines\n");
  EXPECT_EQ(FitTo("a\nb\nc\n", {.rows = 4, .columns = 80}), "a\nb\nc\n");
}

TEST(ScreenTest, ElsewhereOnlyWhatIsNewIsWritten) {
  std::ostringstream out;
  Screen screen(out);
  screen.Show("HEAD\na 1\nb 1\n", {});
  screen.Show("HEAD\na 2\nb 1\n", {});
  screen.Show("HEAD\na 2\nb 1\n", {});
  EXPECT_EQ(out.str(), "HEAD\na 1\nb 1\na 2\n");
}

TEST(LoadMeterTest, TellsRatesSinceTheLastLook) {
  LoadMeter meter;
  Job job{.name = "jobs/1", .bytes = 100'000'000, .elapsed_ns = 10'000'000'000, .lost_blocks = 2};
  job.rails = {{.name = "r0", .bytes = 100'000'000}};
  Lun lun{.name = "luns/l0", .capacity_bytes = 1'000'000'000, .used_bytes = 500'000'000};
  const absl::Time start = absl::UnixEpoch();
  Load load = meter.Look({job}, {lun}, start);
  EXPECT_DOUBLE_EQ(load.mb_per_s, 10) << "since it began";
  EXPECT_FALSE(load.luns[0].until_full.has_value());
  job.bytes += 400'000'000;
  job.rails[0].bytes += 400'000'000;
  lun.used_bytes += 100'000'000;
  load = meter.Look({job}, {lun}, start + absl::Seconds(2));
  EXPECT_DOUBLE_EQ(load.mb_per_s, 200);
  EXPECT_DOUBLE_EQ(load.jobs[0].rail_mb_per_s[0], 200);
  EXPECT_EQ(load.lost_blocks, 2u);
  EXPECT_DOUBLE_EQ(load.luns[0].mb_per_s, 50);
  EXPECT_EQ(load.luns[0].until_full, absl::Seconds(8));
  lun.full_policy = FullPolicy::kRing;
  job.state = JobState::kSucceeded;
  load = meter.Look({job}, {lun}, start + absl::Seconds(3));
  EXPECT_TRUE(load.jobs.empty()) << "it has ended";
  EXPECT_FALSE(load.luns[0].until_full.has_value()) << "a ring never is";
  lun.used_bytes = 0;
  EXPECT_EQ(meter.Look({}, {lun}, start + absl::Seconds(4)).luns[0].mb_per_s, 0);
}

class WatchTest : public ::testing::Test {
 protected:
  Outcome Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(),
                     {"--every", "10ms", "--storage", node_.address, "--worker", node_.address});
    return RunTapectl(arguments);
  }

  LoopbackNode node_;
};

TEST_F(WatchTest, AListIsShownAgainWhereItChanged) {
  node_.catalog.AddRecording("r", 1);
  const Outcome still = Run({"watch", "recordings", "l0/c0", "--count", "3"});
  EXPECT_EQ(still.exit_code, 0) << still.err;
  EXPECT_EQ(std::count(still.out.begin(), still.out.end(), '\n'), 2) << "a head and a row, once";
  EXPECT_THAT(still.out, StartsWith("NAME "));
  const Outcome lines = Run({"watch", "recordings", "--count", "2", "--output", "jsonl"});
  EXPECT_EQ(json::parse(lines.out)["name"], "luns/l0/channels/c0/recordings/r");
  EXPECT_EQ(Run({"watch", "lun", "--count", "1"}).exit_code, 0);
  EXPECT_EQ(Run({"watch", "channel", "l0", "--count", "1"}).exit_code, 0);
  EXPECT_THAT(Run({"watch", "nodes", "--count", "1"}).out, StartsWith("ADDRESS"));
  EXPECT_EQ(Run({"watch", "jobs", "--count", "0"}).exit_code, 2);
  EXPECT_EQ(RunTapectl({"watch", "jobs", "--worker", "127.0.0.1:1"}).exit_code, 5);
}

TEST_F(WatchTest, TopIsALineForEachLook) {
  RunTapectl({"record", "l0/endless", "--source", "synth", "--duration", "1h", "--detach",
              "--worker", node_.address});
  const Outcome top = Run({"top", "--count", "2"});
  EXPECT_EQ(top.exit_code, 0) << top.err;
  EXPECT_THAT(top.out, ContainsRegex("Z  1 job, 0.0 MB/s, lost 0\n$"));
  const Outcome lines = Run({"top", "--count", "1", "--output", "json"});
  const json load = json::parse(lines.out);
  EXPECT_EQ(load["jobs"][0]["name"], "jobs/j1");
  EXPECT_EQ(load["luns"], json::array());
}

// When it ended is not known, nor how many blocks it lacks.
TEST(DiedJobTest, ItHasEndedWithAtLeastItsBlocks) {
  LoopbackNode node;
  node.jobs.Add({.name = "jobs/7",
                 .state = JobState::kFailed,
                 .blocks = 429,
                 .start_time_ns = 1,
                 .error = absl::AbortedError("the worker died")});
  const auto run = [&](const std::string& verb, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"jobs", verb, "--worker", node.address};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTapectl(arguments);
  };
  const Outcome attached = run("attach", {"7", "--timeout", "60s"});
  EXPECT_EQ(attached.exit_code, 1) << "it is not waited for";
  EXPECT_THAT(attached.out, HasSubstr("lost an unknown number of blocks"));
  EXPECT_TRUE(json::parse(run("show", {"7", "--output=json"}).out)["end_time"].is_null());
  EXPECT_THAT(run("list", {}).out, ContainsRegex("jobs/7 +FAILED +- +429\\+ .* - +-"));
}

}  // namespace
}  // namespace tapedeck::services::tapectl
