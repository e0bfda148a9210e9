#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "services/base/version.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/shell/examples.h"

namespace tapedeck::services::tapectl {
namespace {

struct HelpOptions {
  std::vector<std::string> words;
};

void AddHelp(Command tapectl, Program& program, const command_line::CommandLine& line) {
  auto options = std::make_shared<HelpOptions>();
  const Command help = tapectl.AddCommand("help", "Show the help of tapectl or of a command");
  help.AddOption("COMMAND", options->words, "The words of the command, e.g. recordings export");
  SetRun<HelpOptions>(help, program, "help", options,
                      [&line](Program& self, const HelpOptions& given) -> absl::Status {
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
}

}  // namespace tapedeck::services::tapectl
