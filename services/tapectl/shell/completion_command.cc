#include <iostream>

#include "services/tapectl/program/commands.h"
#include "services/tapectl/shell/completion_scripts.h"
#include "services/tapectl/shell/value_names.h"

namespace tapedeck::services::tapectl {
namespace {

// A name may hold neither, a description of a user's may.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

// A line for each: the word, a tab, what it is.
absl::Status PrintWords(Program& program, const command_line::Completion& completion) {
  Words words = completion.words;
  if (words.empty() && !completion.value.empty()) words = ValueNames(program, completion);
  for (const auto& word : words) std::cout << word.text << "\t" << OneLine(word.help) << "\n";
  std::cout << std::flush;
  return absl::OkStatus();
}

}  // namespace

void AddCompletionCommand(Command tapectl, Program& program,
                          const command_line::Completion& completion) {
  const Command command =
      tapectl.AddCommand("completion",
                         "Complete commands, options and names by Tab: eval \"$(tapectl completion "
                         "bash)\"");
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    command.AddCommand(shell, "Print what " + shell + " needs for it").WhenGiven([&program, shell] {
      program.what = "completion " + shell;
      program.run = [shell](Program&) {
        std::cout << CompletionScript(shell) << std::flush;
        return absl::OkStatus();
      };
    });
  }
  command
      .AddCommand("words", "WORD...: what may come next on a line; what the shells need asks this")
      .WhenGiven([&program, &completion] {
        program.what = "completion words";
        program.run = [&completion](Program& self) { return PrintWords(self, completion); };
      });
}

std::optional<std::vector<std::string>> LineToComplete(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2 || words[0] != "completion" || words[1] != "words") return std::nullopt;
  const bool dashes = words.size() > 2 && words[2] == "--";
  return std::vector<std::string>(words.begin() + (dashes ? 3 : 2), words.end());
}

}  // namespace tapedeck::services::tapectl
