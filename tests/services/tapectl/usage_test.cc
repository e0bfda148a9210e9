// What the command line answers without any node: misspelt and impossible arguments, nobody there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/services/tapectl/process.h"

namespace tapedeck::services::tapectl {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(TapectlUsageTest, UnreachableNodesAreNamed) {
  const Outcome outcome = RunTapectl({"lun", "list", "--storage", "127.0.0.1:1"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(outcome.err, HasSubstr("[NODE_UNREACHABLE]"));
}

TEST(TapectlUsageTest, MisspeltCommandsAndOptionsNameTheNearest) {
  for (const auto& [arguments, text] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"recrod"}, "no command \"recrod\"; did you mean \"record\"? see tapectl --help"},
           {{"lun", "craete", "l0"},
            "lun has no command \"craete\"; did you mean \"create\"? see tapectl lun --help"},
           {{"lun", "list", "--stroage", "localhost:1"},
            "lun list has no option \"--stroage\"; did you mean \"--storage\"? see tapectl --help"},
           {{"record", "l0/c0", "--surce", "synth"},
            "record has no option \"--surce\"; did you mean \"--source\"? see tapectl record "
            "--help"}}) {
    const Outcome outcome = RunTapectl(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "tapectl: " + text + "\n");
  }
}

TEST(TapectlUsageTest, UsageErrorsExitWithTwo) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {},
           {"lun"},
           {"lnu", "list"},
           {"lun", "create", "x"},
           {"lun", "create", "x", "--store", "memory", "--capacity", "lots"},
           {"lun", "create", "x", "--store", "posix", "--member", "/a", "--prewrite-files", "1001"},
           {"lun", "create", "x", "--store", "posix", "--member", "/a", "--max-fill", "101"},
           {"channel", "create", "a/b", "--commit", "maybe"},
           {"record", "a/b", "--source", "radio:", "--blocks", "1"},
           {"record", "a/b", "--source", "file:", "--blocks", "1"},
           {"record", "a/b", "--source", "synth:seed=1,seed=2", "--blocks", "1"},
           {"record", "a/b", "--source", "synth:seed=1", "--seed", "2", "--blocks", "1"},
           {"record", "a/b", "--source", "synth", "--transform", "=1", "--blocks", "1"},
           {"record", "a/b", "--source", "synth", "--fft", "64", "--transform", "fft:points=64"},
           {"play", "a", "--sink", "file"},
           {"record", "a/b", "--source", "synth", "--blocks", "1", "--duration", "1s"},
           {"record", "a/b", "--source", "synth", "--blocks", "-1"},
           {"annotate", "a", "--from-sample", "-1"},
           {"annotate", "a", "--from-sample", "1", "--to-sample", "-5"},
           {"view", "a", "--from-sample", "-1"},
           {"view", "a", "--from-sample", "7", "--to-sample", "7"},
           {"play", "a", "--sink", "null", "--loop"},
           {"play", "a", "--sink", "null", "--loop", "--to-sample", "9", "--from-block", "1"},
           {"play", "a", "--sink", "null", "--from-sample", "-1"},
           {"play", "a", "--sink", "null", "--no-such"},
           {"lun", "list", "--output", "xml"},
           {"lun", "list", "--timeout", "soon"}}) {
    const Outcome outcome = RunTapectl(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_THAT(outcome.err, StartsWith("tapectl: "));
  }
  EXPECT_EQ(RunTapectl({"--help"}).exit_code, 0);
  EXPECT_EQ(RunTapectl({"--version"}).exit_code, 0);
}

}  // namespace
}  // namespace tapedeck::services::tapectl
