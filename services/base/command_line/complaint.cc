#include "services/base/command_line/complaint.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/printable.h"
#include "services/base/command_line/nearest.h"

namespace tapedeck::services::command_line {
namespace {

constexpr size_t kMostOfWord = 64;

using Words = std::vector<std::string>;
// The program, a command of it, a command of that, and so on.
using Path = std::vector<const CLI::App*>;

Path PathTo(const CLI::App& command) {
  Path path;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    path.insert(path.begin(), app);
  }
  return path;
}

// To the last command that was found on the line.
Path Given(const CLI::App& program) {
  const CLI::App* last = &program;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  return PathTo(*last);
}

std::string NameOf(const CLI::App& command) {
  return absl::StrJoin(PathTo(command), " ", [](std::string* out, const CLI::App* app) {
    absl::StrAppend(out, app->get_name());
  });
}

std::string Quoted(const std::string& word) {
  return absl::StrCat("\"", dataplane::Printable(word, kMostOfWord), "\"");
}

std::string SeeHelp(const CLI::App& command) {
  return absl::StrCat("see ", NameOf(command), " --help");
}

bool Has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Words CommandsOf(const CLI::App& command) {
  Words names;
  for (const CLI::App* app : command.get_subcommands({})) names.push_back(app->get_name());
  return names;
}

Words OptionsOf(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

bool IsOption(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// What no command or option has taken, as far as it may be one: what follows "--" may not.
Words Unmatched(const Path& path) {
  for (const CLI::App* command : path) {
    Words words = command->remaining();
    words.erase(std::find(words.begin(), words.end(), "--"), words.end());
    if (!words.empty()) return words;
  }
  return {};
}

// "lun has no command", or for the program itself "no command".
std::string HasNo(const Path& path, const std::string& what, const std::string& word) {
  const std::string command = absl::StrJoin(
      path.begin() + 1, path.end(), " ",
      [](std::string* out, const CLI::App* app) { absl::StrAppend(out, app->get_name()); });
  return absl::StrCat(command, command.empty() ? "" : " has ", "no ", what, " ", Quoted(word));
}

std::string NoCommand(const Path& path, const std::string& word) {
  const Words commands = CommandsOf(*path.back());
  const Words nearest = Nearest(word, commands);
  const std::string hint =
      nearest.empty() ? absl::StrCat("the commands are ", absl::StrJoin(commands, ", "), "; ")
                      : absl::StrCat(DidYouMean(nearest), " ");
  return absl::StrCat(HasNo(path, "command", word), "; ", hint, SeeHelp(*path.back()));
}

// The last of the commands that have the option; the last of all if none has.
const CLI::App& OwnerOf(const std::string& option, const Path& path) {
  const auto owner = std::find_if(path.rbegin(), path.rend(), [&option](const CLI::App* command) {
    return Has(OptionsOf(*command), option);
  });
  return owner == path.rend() ? *path.back() : **owner;
}

std::string NoOption(const Path& path, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  Words options;
  for (const CLI::App* command : path) {
    for (const std::string& name : OptionsOf(*command)) {
      if (!Has(options, name)) options.push_back(name);
    }
  }
  if (Has(options, option)) {
    const CLI::App& owner = OwnerOf(option, path);
    return absl::StrCat("option ", Quoted(option), " goes after \"", NameOf(owner), "\"; ",
                        SeeHelp(owner));
  }
  const Words nearest = Nearest(option, options);
  if (nearest.empty()) {
    return absl::StrCat(HasNo(path, "option", option), "; ", SeeHelp(*path.back()));
  }
  return absl::StrCat(HasNo(path, "option", option), "; ", DidYouMean(nearest), " ",
                      SeeHelp(OwnerOf(nearest.front(), path)));
}

std::optional<std::string> ComplaintOfUnmatched(const Path& given) {
  const Words words = Unmatched(given);
  const Words commands = CommandsOf(*given.back());
  // Where no command may follow, a word is a value too many and not the mistake of a name.
  const auto word =
      commands.empty() ? std::find_if(words.begin(), words.end(), IsOption) : words.begin();
  if (word == words.end() || Has(commands, *word)) return std::nullopt;
  return IsOption(*word) ? NoOption(given, *word) : NoCommand(given, *word);
}

std::optional<std::string> ComplaintOfMissing(const Path& given) {
  const Words commands = CommandsOf(*given.back());
  if (commands.empty()) return std::nullopt;
  return absl::StrCat("a command must follow \"", NameOf(*given.back()),
                      "\": ", absl::StrJoin(commands, ", "), "; ", SeeHelp(*given.back()));
}

}  // namespace

void RefuseWordsBefore(const CLI::App& command) {
  const Path level = PathTo(*command.get_parent());
  const Words words = Unmatched(level);
  if (words.empty() || IsOption(words.front())) return;
  throw UnknownCommand(NoCommand(level, words.front()));
}

std::optional<std::string> ComplaintOf(const CLI::App& program, const CLI::ParseError& error) {
  const Path given = Given(program);
  std::optional<std::string> complaint = ComplaintOfUnmatched(given);
  if (complaint.has_value() || error.get_name() != "RequiredError") return complaint;
  return ComplaintOfMissing(given);
}

std::optional<std::string> ComplaintOfHelp(const CLI::App& program) {
  const Path given = Given(program);
  const Words words = Unmatched(given);
  const Words commands = CommandsOf(*given.back());
  if (words.empty() || commands.empty() || IsOption(words.front())) return std::nullopt;
  return NoCommand(given, words.front());
}

std::string ComplaintOfWord(const CLI::App& command, const std::string& word) {
  return NoCommand(PathTo(command), word);
}

}  // namespace tapedeck::services::command_line
