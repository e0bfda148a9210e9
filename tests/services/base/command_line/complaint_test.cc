// What a program says of a misspelt command or option.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/base/command_line/command_line.h"

namespace tapedeck::services::command_line {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// prog lun create NAME --store ... | lun delete NAME --force | record CHANNEL --source ...
struct Recorder {
  explicit Recorder(const About& about) : line(about) {
    const Command program = line.program();
    program.AddOption("--storage", storage, "Where");
    program.AddOption("--output", output, "How").OneOf({"table", "json"});
    const Command lun = program.AddCommand("lun", "LUNs");
    const Command create = lun.AddCommand("create", "Make one");
    create.AddOption("NAME", name, "LUN").Required();
    create.AddChoice("--store", store, {{"posix", true}, {"block", false}}, "Kind");
    const Command remove = lun.AddCommand("delete", "Remove one");
    remove.AddOption("NAME", name, "LUN").Required();
    remove.AddFlag("--force", force, "Whatever it holds");
    const Command record = program.AddCommand("record", "Record");
    record.AddOption("CHANNEL", name, "Channel").Required();
    record.AddOption("--source", source, "From where").Required();
  }

  CommandLine line;
  std::string storage;
  std::string output;
  std::string name;
  std::string source;
  bool store = false;
  bool force = false;
};

struct Complaint {
  std::optional<int> status;
  std::string out;
  std::string text;
};

Complaint ComplaintOf(std::vector<std::string> arguments,
                      const About& about = {
                          .name = "prog", .one_line_errors = true, .options_anywhere = true}) {
  Recorder program(about);
  arguments.insert(arguments.begin(), "prog");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const std::optional<int> status = program.line.Parse(static_cast<int>(argv.size()), argv.data());
  const std::string out = ::testing::internal::GetCapturedStdout();
  return {status, out, ::testing::internal::GetCapturedStderr()};
}

using Rows = std::vector<std::pair<std::vector<std::string>, std::string>>;

void ExpectComplaints(const Rows& rows) {
  for (const auto& [arguments, text] : rows) {
    const Complaint complaint = ComplaintOf(arguments);
    EXPECT_EQ(complaint.status, 2) << text;
    EXPECT_EQ(complaint.out, "");
    EXPECT_EQ(complaint.text, "prog: " + text + "\n");
  }
}

TEST(Complaint, NamesTheNearestCommand) {
  ExpectComplaints(
      {{{"recrod"}, "no command \"recrod\"; did you mean \"record\"? see prog --help"},
       {{"recrod", "l0/c0", "--source", "synth"},
        "no command \"recrod\"; did you mean \"record\"? see prog --help"},
       {{"lun", "craete"},
        "lun has no command \"craete\"; did you mean \"create\"? see prog lun --help"},
       {{"zzz"}, "no command \"zzz\"; the commands are lun, record; see prog --help"},
       {{"lun", "zzz", "l0"},
        "lun has no command \"zzz\"; the commands are create, delete; see prog lun --help"}});
}

TEST(Complaint, AWordBeforeACommandIsOneOfItsLevel) {
  ExpectComplaints(
      {{{"lnu", "record", "l0"}, "no command \"lnu\"; did you mean \"lun\"? see prog --help"},
       {{"lun", "detele", "create", "l0"},
        "lun has no command \"detele\"; did you mean \"delete\"? see prog lun --help"}});
}

TEST(Complaint, NamesTheCommandsWhereOneIsMissing) {
  ExpectComplaints(
      {{{}, "a command must follow \"prog\": lun, record; see prog --help"},
       {{"lun"}, "a command must follow \"prog lun\": create, delete; see prog lun --help"},
       // What follows "--" is no command.
       {{"--", "lun"}, "a command must follow \"prog\": lun, record; see prog --help"}});
}

TEST(Complaint, NamesTheNearestOption) {
  ExpectComplaints(
      {{{"--stroage", "x", "recrod"},
        "no option \"--stroage\"; did you mean \"--storage\"? see prog --help"},
       {{"lun", "delete", "l0", "--stroage=x"},
        "lun delete has no option \"--stroage\"; did you mean \"--storage\"? see prog --help"},
       {{"lun", "delete", "--froce", "l0"},
        "lun delete has no option \"--froce\"; did you mean \"--force\"? see prog lun delete "
        "--help"},
       // Rather than that --source is missing.
       {{"record", "l0/c0", "--surce", "synth"},
        "record has no option \"--surce\"; did you mean \"--source\"? see prog record --help"},
       {{"lun", "delete", "l0", "extra", "--zzz"},
        "lun delete has no option \"--zzz\"; see prog lun delete --help"},
       {{"-x"}, "no option \"-x\"; see prog --help"},
       {{"--hlep"}, "no option \"--hlep\"; did you mean \"--help\"? see prog --help"}});
}

TEST(Complaint, SaysWhereAnOptionGoes) {
  ExpectComplaints({{{"--force", "lun", "delete", "l0"},
                     "option \"--force\" goes after \"prog lun delete\"; see prog lun delete "
                     "--help"}});
}

TEST(Complaint, OtherMistakesKeepTheirWords) {
  ExpectComplaints(
      {{{"lun", "delete", "l0", "extra"},
        "The following argument was not expected: extra; see prog --help"},
       {{"record", "l0/c0"}, "--source is required; see prog --help"},
       {{"--storage"}, "--storage: 1 required TEXT missing; see prog --help"},
       {{"--output", "tabel", "lun", "delete", "l0"},
        "--output: tabel not in {table,json}; did you mean \"table\"? see prog --help"},
       {{"--output", "xml", "lun", "delete", "l0"},
        "--output: xml not in {table,json}; see prog --help"}});
  EXPECT_THAT(ComplaintOf({"lun", "create", "l0", "--store", "psoix"}).text,
              EndsWith("FAILED; did you mean \"posix\"? see prog --help\n"));
}

TEST(Complaint, ShowsNoControlCharactersAndCutsLongWords) {
  EXPECT_THAT(ComplaintOf({"rec\x1b[2J\xc2\x9bord\n"}).text,
              StartsWith("prog: no command \"rec\\x1b[2J\\xc2\\x9bord \"; "));
  EXPECT_THAT(ComplaintOf({"lun", "delete", "l0", "\x1b[2J"}).text,
              HasSubstr("not expected: \\x1b[2J; see"));
  const std::string long_word(100'000, 'x');
  EXPECT_THAT(ComplaintOf({long_word}).text, HasSubstr("no command \"" + std::string(64, 'x') +
                                                       "...\"; the commands are lun, record;"));
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--" + long_word},
                                             {"lun", long_word},
                                             {"lun", "delete", "l0", long_word},
                                             {"lun", "delete", "l0", "--output", long_word}}) {
    const Complaint complaint = ComplaintOf(arguments);
    EXPECT_EQ(complaint.status, 2);
    EXPECT_LT(complaint.text.size(), 600u);
    EXPECT_THAT(complaint.text, HasSubstr("xxx..."));
  }
}

TEST(Complaint, IsTheSameOfEveryProgram) {
  const About plain = {.name = "prog"};
  EXPECT_EQ(ComplaintOf({"recrod"}, plain).text,
            "prog: no command \"recrod\"; did you mean \"record\"? see prog --help\n");
  EXPECT_EQ(ComplaintOf({"record", "--surce", "x"}, plain).text,
            "prog: record has no option \"--surce\"; did you mean \"--source\"? see prog record "
            "--help\n");
  EXPECT_THAT(ComplaintOf({"record", "x\n"}, plain).text,
              StartsWith("--source is required\nRun with --help"));
  const About by_kind = {.name = "prog", .usage_error = std::nullopt};
  EXPECT_GE(ComplaintOf({"recrod"}, by_kind).status.value_or(0), 100);
  EXPECT_GE(ComplaintOf({"lnu", "record", "x"}, by_kind).status.value_or(0), 100);
}

TEST(Complaint, ThereIsNoHelpOfAMisspeltCommand) {
  const std::string record = "no command \"recrod\"; did you mean \"record\"? see prog --help";
  ExpectComplaints(
      {{{"recrod", "--help"}, record},
       {{"recrod", "l0/c0", "--help"}, record},
       {{"--help", "recrod"}, record},
       {{"lun", "craete", "--help"},
        "lun has no command \"craete\"; did you mean \"create\"? see prog lun --help"}});
}

TEST(Complaint, HelpOfACommandIsGivenWhateverElseIsWrong) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--help"},
                                             {"lun", "--help"},
                                             {"--stroage", "--help"},
                                             {"record", "--surce", "synth", "--help"},
                                             {"lun", "create", "l0", "l1", "--help"}}) {
    const Complaint complaint = ComplaintOf(arguments);
    EXPECT_EQ(complaint.status, 0) << testing::PrintToString(arguments);
    EXPECT_THAT(complaint.out, HasSubstr("Usage: prog"));
    EXPECT_EQ(complaint.text, "");
  }
}

}  // namespace
}  // namespace tapedeck::services::command_line
