#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "services/base/command_line/help.h"
#include "services/base/version.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/shell/examples.h"
#include "services/tapectl/shell/headings.h"
#include "services/tapectl/terminal/failure.h"

namespace tapedeck::services::tapectl {
namespace {

// Behind a status and two spaces.
constexpr int kMeaningColumn = 5;

struct HelpOptions {
  std::vector<std::string> words;
};

absl::Status ShowStatuses(Program& program) {
  std::vector<std::string> lines;
  for (const auto& [status, meaning] : kExitStatuses) {
    lines.push_back(absl::StrFormat("%3d  %s", status,
                                    command_line::Wrapped(meaning, kMeaningColumn, kMeaningColumn,
                                                          command_line::HelpColumns())));
  }
  const std::string text = absl::StrJoin(lines, "\n");
  program.Print(AnswerOf("help", text), text);
  return absl::OkStatus();
}

void AddHelp(Command tapectl, Program& program, const command_line::CommandLine& line) {
  auto options = std::make_shared<HelpOptions>();
  const Command help = tapectl.AddCommand("help", "Show the help of tapectl or of a command");
  help.AddOption("COMMAND", options->words,
                 "The words of the command, e.g. recordings export, or statuses: the exit "
                 "statuses");
  SetRun<HelpOptions>(help, program, "help", options,
                      [&line](Program& self, const HelpOptions& given) -> absl::Status {
                        if (given.words == std::vector<std::string>{"statuses"}) {
                          return ShowStatuses(self);
                        }
                        TD_ASSIGN_OR_RETURN(const std::string text, line.HelpOf(given.words));
                        self.Print(AnswerOf("help", text),
                                   std::string(absl::StripSuffix(text, "\n")));
                        return absl::OkStatus();
                      });
}

void AddVersion(Command tapectl, Program& program) {
  tapectl.AddCommand("version", "Show the version of tapectl").WhenGiven([&program] {
    program.what = "version";
    program.run = [](Program& self) {
      self.Print(AnswerOf("version", kVersion), kVersion);
      return absl::OkStatus();
    };
  });
}

}  // namespace

void AddHelpCommands(Command tapectl, Program& program, const command_line::CommandLine& line) {
  AddHelp(tapectl, program, line);
  AddVersion(tapectl, program);
  for (const Examples& examples : ExamplesOfCommands()) {
    std::vector<std::string> lines;
    for (const absl::string_view text : examples.lines) {
      if (!text.empty()) lines.emplace_back(text);
    }
    line.AddExamples(std::string(examples.command), lines);
  }
  for (const Heading& heading : HeadingsOfOptions()) {
    line.AddHeading(std::string(heading.command), std::string(heading.text),
                    absl::StrSplit(heading.options, ' '));
  }
}

}  // namespace tapedeck::services::tapectl
