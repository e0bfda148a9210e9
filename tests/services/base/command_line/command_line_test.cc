#include "services/base/command_line/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/status/statusor.h"

namespace tapedeck::services::command_line {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

enum class Color { kRed = 1, kGreen = 2 };

absl::StatusOr<int> ParseDozen(const std::string& text) {
  if (text == "dozen") return 12;
  return absl::InvalidArgumentError(text + " is no dozen");
}

struct Outcome {
  std::optional<int> status;
  std::string out;
  std::string err;
};

Outcome Parse(CommandLine& line, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "prog");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.status = line.Parse(static_cast<int>(argv.size()), argv.data());
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.err = ::testing::internal::GetCapturedStderr();
  return outcome;
}

// A program with an option of each kind.
struct Fixture {
  explicit Fixture(const About& about = {.name = "prog", .purpose = "Tests.", .version = "1.2"})
      : line(about) {
    const Command program = line.program();
    program.AddOption("NAME", name, "Who");
    const Option blocks_option = program.AddOption("--blocks", blocks, "How many");
    program.AddOption("--sample", sample, "Which").Excludes(blocks_option);
    program.AddOption("--rails", rails, "Names").SeparatedBy(',');
    program.AddOption("--memory", bytes, "Room").InBytes().ShowDefault();
    program.AddOption("--threads", threads, "Threads").Within(1, 8);
    program.AddOption("--format", format, "Form").OneOf({"table", "json"}).FromEnvironment("FORM");
    program.AddFlag("--loop", loop, "Again");
    program.AddParsed("--eggs", eggs, ParseDozen, "Eggs");
    program.AddChoice("--color", color, {{"red", Color::kRed}, {"green", Color::kGreen}}, "Color",
                      Letters::kAnyCase);
  }

  CommandLine line;
  std::string name;
  uint64_t blocks = 0;
  std::optional<uint64_t> sample;
  std::vector<std::string> rails;
  uint64_t bytes = 4096;
  int threads = 1;
  std::string format = "table";
  bool loop = false;
  int eggs = 0;
  Color color = Color::kRed;
};

TEST(CommandLine, FillsTheVariables) {
  Fixture program;
  const Outcome outcome =
      Parse(program.line, {"me", "--sample", "7", "--rails", "r0,r1", "--memory", "2KiB",
                           "--threads", "8", "--loop", "--eggs", "dozen", "--color", "GREEN"});
  EXPECT_EQ(outcome.status, std::nullopt) << outcome.err;
  EXPECT_EQ(program.name, "me");
  EXPECT_EQ(program.sample, 7u);
  EXPECT_THAT(program.rails, ElementsAre("r0", "r1"));
  EXPECT_EQ(program.bytes, 2048u);
  EXPECT_EQ(program.threads, 8);
  EXPECT_TRUE(program.loop);
  EXPECT_EQ(program.eggs, 12);
  EXPECT_EQ(program.color, Color::kGreen);
}

TEST(CommandLine, RefusesWhatIsWrong) {
  for (const auto& [arguments, message] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--blocks", "x"}, "--blocks"},
           {{"--blocks", "1", "--sample", "1"}, "excludes"},
           {{"--threads", "9"}, "not in range 1 to 8"},
           {{"--format", "xml"}, "xml not in {table,json}"},
           {{"--eggs", "ten"}, "--eggs: ten is no dozen"},
           {{"--color", "blue"}, "Check blue"},
           {{"--nothing"}, "--nothing"}}) {
    Fixture program;
    const Outcome outcome = Parse(program.line, arguments);
    EXPECT_EQ(outcome.status, 2) << message;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

TEST(CommandLine, ErrorsAndTheirStatusAreChosen) {
  Fixture one_line({.name = "prog", .one_line_errors = true});
  const Outcome outcome = Parse(one_line.line, {"--eggs", "ten"});
  EXPECT_EQ(outcome.err, "prog: --eggs: ten is no dozen; see prog --help\n");
  Fixture by_kind({.name = "prog", .usage_error = std::nullopt});
  EXPECT_GE(Parse(by_kind.line, {"--eggs", "ten"}).status.value_or(0), 100);
}

TEST(CommandLine, HelpAndVersionEndWithoutError) {
  Fixture program;
  const Outcome help = Parse(program.line, {"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, StartsWith("Tests.\n"));
  EXPECT_THAT(help.out, HasSubstr("Default: 4096."));
  EXPECT_EQ(Parse(program.line, {"--version"}).out, "1.2\n");
}

TEST(CommandLine, ReadsTheEnvironment) {
  ASSERT_EQ(setenv("FORM", "json", 1), 0);
  Fixture program;
  EXPECT_EQ(Parse(program.line, {}).status, std::nullopt);
  EXPECT_EQ(program.format, "json");
  ASSERT_EQ(unsetenv("FORM"), 0);
}

TEST(CommandLine, OneSubcommandIsCalled) {
  CommandLine line({.name = "prog", .options_anywhere = true});
  bool verbose = false;
  std::string given;
  line.program().AddFlag("--verbose", verbose, "Say more");
  for (const std::string name : {"go", "stop"}) {
    line.program().AddCommand(name, "Do it").WhenGiven([&given, name] { given = name; });
  }
  EXPECT_EQ(Parse(line, {"stop", "--verbose"}).status, std::nullopt);
  EXPECT_EQ(given, "stop");
  EXPECT_TRUE(verbose);
  EXPECT_EQ(Parse(line, {}).status, 2);
}

TEST(UnsignedOptionTest, RefusesNegativeNumbers) {
  for (const char* text : {"-1", " -1", "-0"}) {
    for (const std::string option : {"--wide", "--narrow", "--maybe"}) {
      CommandLine line({.name = "p", .purpose = "x"});
      uint64_t wide = 7;
      uint32_t narrow = 7;
      std::optional<uint64_t> maybe;
      line.program().AddOption("--wide", wide, "");
      line.program().AddOption("--narrow", narrow, "");
      line.program().AddOption("--maybe", maybe, "");
      std::vector<std::string> words = {"p", option, text};
      EXPECT_EQ(line.Parse(words), 2) << option << " " << text;
      EXPECT_EQ(wide, 7u);
      EXPECT_FALSE(maybe.has_value());
    }
  }
}

}  // namespace
}  // namespace tapedeck::services::command_line
