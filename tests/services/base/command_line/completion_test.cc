// What may come next on a line, by the tree of commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "services/base/command_line/command_line.h"

namespace tapedeck::services::command_line {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Line = std::vector<std::string>;

// prog [--storage ADDRESS] lun delete NAME [--force] | play RECORDING [--op OP] [--rails R...]
class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() {
    const Command program = line_.program();
    program.AddOption("--storage", text_, "Where");
    program.AddOption("--output", text_, "How").OneOf({"table", "json"});
    const Command remove = program.AddCommand("lun", "LUNs").AddCommand("delete", "Remove one");
    remove.AddOption("NAME", text_, "LUN").Required();
    remove.AddFlag("--force", flag_, "Whatever it holds");
    const Command play = program.AddCommand("play", "Play");
    play.AddOption("RECORDING", text_, "Which").Required();
    play.AddOption("--op", text_, "How it moves").Suggest({"READ", "SEND"});
  }
  std::vector<std::string> Words(const Line& line) const {
    std::vector<std::string> words;
    for (const auto& word : line_.Complete(line).words) words.push_back(word.text);
    return words;
  }

  CommandLine line_{{.name = "prog", .options_anywhere = true}};
  std::string text_;
  bool flag_ = false;
};

TEST_F(CompletionTest, CommandsOptionsAndListedValues) {
  EXPECT_THAT(Words({""}), ElementsAre("lun", "play"));
  EXPECT_THAT(Words({"p"}), ElementsAre("play"));
  EXPECT_THAT(Words({"lun", ""}), ElementsAre("delete"));
  EXPECT_THAT(Words({"lun", "delete", "--f"}), ElementsAre("--force"));
  EXPECT_THAT(Words({"lun", "delete", "--o"}), ElementsAre("--output"));
  EXPECT_THAT(Words({"play", "r", "--op", ""}), ElementsAre("READ", "SEND"));
  EXPECT_THAT(Words({"play", "--op=S"}), ElementsAre("--op=SEND"));
  EXPECT_THAT(Words({"--output", "j"}), ElementsAre("json"));
  EXPECT_EQ(line_.Complete({"p"}).words[0].help, "Play");
}

TEST_F(CompletionTest, ValuesAreNamedWithTheirCommand) {
  const Completion name = line_.Complete({"lun", "delete", "--force", "l"});
  EXPECT_EQ(name.value, "NAME");
  EXPECT_EQ(name.typed, "l");
  EXPECT_EQ(name.command, "lun delete");
  const Completion after = line_.Complete({"play", "--op", "READ", "a"});
  EXPECT_EQ(after.value, "RECORDING") << "READ is the value of --op";
  EXPECT_EQ(line_.Complete({"play", "r", "x"}).value, "") << "there is one recording";
  const Completion equals = line_.Complete({"--storage=ho"});
  EXPECT_EQ(equals.value, "--storage");
  EXPECT_EQ(equals.typed, "ho");
  EXPECT_EQ(equals.before, "--storage=");
}

TEST_F(CompletionTest, OptionsOfTheProgramAreKept) {
  EXPECT_THAT(line_.Complete({"--storage", "a:1", "lun", "--output=json", ""}).of_program,
              ElementsAre("--storage=a:1", "--output=json"));
  EXPECT_THAT(line_.Complete({"play", "--op", "READ", "--storage"}).of_program, IsEmpty());
}

TEST_F(CompletionTest, WhatIsWrongHasNoCompletion) {
  EXPECT_THAT(Words({"nul", ""}), ElementsAre("lun", "play"));
  EXPECT_THAT(Words({"--none=x"}), IsEmpty());
  EXPECT_THAT(Words({"play", "--", "--op", ""}), IsEmpty());
  EXPECT_THAT(Words({}), ElementsAre("lun", "play"));
}

}  // namespace
}  // namespace tapedeck::services::command_line
