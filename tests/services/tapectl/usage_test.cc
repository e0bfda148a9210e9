// What the command line answers without any node: misspelt and impossible arguments, nobody there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "services/files/errors.h"
#include "services/tapectl/failure.h"
#include "tests/services/tapectl/process.h"

namespace tapedeck::services::tapectl {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
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

// Commands that a remedy names are there, and have the options that it names; one that names none
// is about its own commands.
TEST(TapectlUsageTest, RemediesNameWhatThereIs) {
  std::map<std::string, std::string> helps;
  const auto help_of = [&](const std::string& command) -> const std::string& {
    auto [help, is_new] = helps.try_emplace(command);
    if (!is_new) return help->second;
    std::vector<std::string> line = absl::StrSplit(command, ' ');
    line.push_back("--help");
    const Outcome outcome = RunTapectl(line);
    EXPECT_EQ(outcome.exit_code, 0) << command;
    EXPECT_THAT(outcome.out, HasSubstr(command)) << "not the help of it";
    return help->second = outcome.out;
  };
  int named = 0;
  for (const Remedy& remedy : kRemedies) {
    std::vector<std::string> commands;
    if (!remedy.commands.empty()) commands = absl::StrSplit(remedy.commands, ", ");
    for (const std::string& command : commands) help_of(command);
    for (const std::string& part : std::vector<std::string>(absl::StrSplit(remedy.text, "; "))) {
      std::vector<std::string> words = absl::StrSplit(part, absl::ByAnyChar(" ,:"));
      const auto tapectl = std::ranges::find(words, "tapectl");
      if (tapectl != words.end()) {
        const bool alone = tapectl + 1 != words.end() && *(tapectl + 1) == "nodes";
        commands = {absl::StrJoin(tapectl + 1, tapectl + (alone ? 2 : 3), " ")};
        help_of(commands.front());
        ++named;
      }
      for (const std::string& word : words) {
        if (!absl::StartsWith(word, "--") || absl::StrContains(part, "the worker with")) continue;
        EXPECT_THAT(commands, Not(IsEmpty())) << remedy.text;
        for (const std::string& command : commands) {
          EXPECT_THAT(help_of(command), HasSubstr(word)) << remedy.reason << ": " << command;
        }
        ++named;
      }
    }
  }
  EXPECT_GT(named, 10);
}

TEST(TapectlUsageTest, ARemedyIsThatOfItsCommand) {
  const std::string path = "/no/such/file";
  const auto line_of = [&](const std::string& what) {
    return FailureLine(what, files::NotFound(path, "open", ENOENT));
  };
  EXPECT_THAT(line_of("record"), HasSubstr("on the worker's machine"));
  EXPECT_THAT(line_of("recordings import"), HasSubstr("on this machine"));
  EXPECT_THAT(FailureLine("recordings export", files::Exists(path)), Not(HasSubstr("--replace")));
  EXPECT_THAT(FailureLine("play", files::Exists(path)), HasSubstr("--replace"));
}

}  // namespace
}  // namespace tapedeck::services::tapectl
