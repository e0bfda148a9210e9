// Help is as wide as the terminal, and says the rules of an option in words.
#include "services/base/command_line/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_split.h"
#include "services/base/command_line/command_line.h"

namespace tapedeck::services::command_line {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A program with commands whose help is long.
class HelpTest : public ::testing::Test {
 protected:
  HelpTest() : line_({.name = "prog", .purpose = "Tests"}) {
    const Command record =
        line_.program().AddCommand("lun", "Volumes").AddCommand("create", "Make a volume");
    record.AddOption("NAME", name_, "The name of the volume").Required();
    const Option blocks = record.AddOption("--blocks", blocks_, "Stop after this many blocks");
    record
        .AddOption("--an-option-with-a-long-name", text_,
                   "Words that do not fit into one line of a terminal of forty columns, nor of "
                   "sixty, and in which Zürich counts as six letters")
        .Excludes(blocks)
        .FromEnvironment("LONG")
        .ShowDefault();
  }
  ~HelpTest() override { unsetenv("COLUMNS"); }

  std::string HelpAt(const char* columns) {
    setenv("COLUMNS", columns, 1);
    return line_.HelpOf({"lun", "create"}).value_or("");
  }

  CommandLine line_;
  std::string name_;
  std::string text_ = "none";
  uint64_t blocks_ = 0;
};

TEST_F(HelpTest, NoLineIsWiderThanTheTerminal) {
  for (const char* columns : {"40", "60", "80"}) {
    const std::vector<std::string> lines = absl::StrSplit(HelpAt(columns), '\n');
    for (const std::string& text : lines) {
      const size_t letters = text.size() - (text.find("ü") == std::string::npos ? 0 : 1);
      EXPECT_LE(letters, static_cast<size_t>(atoi(columns))) << text;
    }
  }
}

TEST_F(HelpTest, ATextStandsBesideItsTermOrBelow) {
  EXPECT_THAT(HelpAt("80"), HasSubstr("\n  NAME                    The name of the volume\n"));
  EXPECT_THAT(HelpAt("80"), HasSubstr("\n  --an-option-with-a-long-name TEXT\n        "));
  EXPECT_THAT(HelpAt("40"), HasSubstr("\n  NAME\n      The name of the volume\n"));
}

TEST_F(HelpTest, RulesAreWords) {
  const std::string help = HelpAt("100");
  EXPECT_THAT(help, HasSubstr("letters. Not with --blocks."));
  EXPECT_THAT(help, HasSubstr("Default: none. Environment: LONG."));
  EXPECT_THAT(help, HasSubstr("Usage: prog lun create [OPTION...] NAME\n"));
  EXPECT_THAT(help, Not(HasSubstr("Examples")));
}

TEST_F(HelpTest, ExamplesStandInHelpAndManual) {
  line_.AddExamples("lun create", {"prog lun create l0", "prog lun create l1 --blocks 3"});
  EXPECT_THAT(HelpAt("80"),
              HasSubstr("\nExamples:\n  prog lun create l0\n  prog lun create l1 --blocks 3\n"));
  const std::vector<ManualPage> pages = line_.Manual({});
  EXPECT_THAT(pages.back().roff, HasSubstr("prog lun create l1 \\-\\-blocks 3\n"));
}

TEST_F(HelpTest, WordsThatNameNoCommandAreRefused) {
  const absl::Status status = line_.HelpOf({"lun", "craete"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("did you mean \"create\"?"));
  EXPECT_THAT(line_.HelpOf({}).value_or(""), HasSubstr("Usage: prog"));
}

}  // namespace
}  // namespace tapedeck::services::command_line
