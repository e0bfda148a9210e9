#include "services/base/command_line/help.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "services/base/command_line/columns.h"
#include "services/base/command_line/command_line.h"
#include "services/base/command_line/complaint.h"

namespace tapedeck::services::command_line {
namespace {

constexpr int kUsualColumns = 80;
constexpr int kLeastColumns = 40;
constexpr int kMostColumns = 100;

// Of terms and what they are: "  --blocks N    Stop after ...".
constexpr int kTermIndent = 2;
constexpr int kTextColumn = 26;
// Where the terminal is too narrow for two columns, the text has lines of its own.
constexpr int kTwoColumns = 60;
constexpr int kTextIndent = 6;

void AddSentence(std::string* text, const std::string& sentence) {
  if (!text->empty() && !absl::EndsWith(*text, ".") && !absl::EndsWith(*text, "?")) {
    absl::StrAppend(text, ".");
  }
  absl::StrAppend(text, text->empty() ? "" : " ", sentence);
}

std::string NamesOf(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);
  return absl::StrJoin(names, ", ");
}

std::string TermLine(const std::string& term, const std::string& text) {
  const int columns = HelpColumns();
  const int indent = columns < kTwoColumns ? kTextIndent : kTextColumn;
  const std::string shown = Wrapped(term, 2 * kTermIndent, kTermIndent, columns);
  std::string out = absl::StrCat(std::string(kTermIndent, ' '), shown);
  int column = kTermIndent + ColumnsOf(shown);
  if (text.empty()) return out + "\n";
  if (column + 2 > indent || absl::StrContains(shown, '\n')) {
    absl::StrAppend(&out, "\n");
    column = 0;
  }
  absl::StrAppend(&out, std::string(static_cast<size_t>(indent - column), ' '));
  return absl::StrCat(out, Wrapped(text, indent, indent, columns), "\n");
}

CLI::App& CommandAt(CLI::App& program, const std::string& path) {
  CLI::App* command = &program;
  const std::vector<std::string> words = absl::StrSplit(path, ' ', absl::SkipEmpty());
  for (const std::string& word : words) command = command->get_subcommand(word);
  return *command;
}

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string more) : more_(std::move(more)) {
    label("Positionals", "Arguments");
  }

  std::string make_description(const CLI::App* app) const override {
    std::string text = app->get_description();
    AddSentence(&text, "");
    return absl::StrCat(Wrapped(absl::StripAsciiWhitespace(text), 0, 0, HelpColumns()), "\n\n");
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = absl::StrCat("Usage: ", name);
    const bool has_options =
        !app->get_options([](const CLI::Option* option) { return option->nonpositional(); })
             .empty();
    if (has_options) absl::StrAppend(&usage, " [OPTION...]");
    for (const CLI::Option* option :
         app->get_options([](const CLI::Option* one) { return one->get_positional(); })) {
      absl::StrAppend(&usage, " ", make_option_usage(option));
    }
    if (!app->get_subcommands({}).empty()) absl::StrAppend(&usage, " COMMAND ...");
    return Wrapped(usage, kTextIndent, 0, HelpColumns()) + "\n";
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = absl::StrCat("\n", group, ":\n");
    for (const CLI::Option* option : options) {
      absl::StrAppend(&text, make_option(option, is_positional));
    }
    return text;
  }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    // CLI11 puts an empty line behind each group but the last, and each begins with one.
    const std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    return CLI::detail::find_and_replace(text, "\n\n\n", "\n\n");
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string term = make_option_name(option, is_positional);
    const std::string type = option->get_type_name();
    if (!is_positional && option->get_items_expected_max() > 0 && !type.empty()) {
      absl::StrAppend(&term, " ", type);
    }
    return TermLine(term, DescriptionOf(*option));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return TermLine(command->get_name(), command->get_description());
  }

  std::string make_footer(const CLI::App* app) const override {
    std::string text;
    if (!app->get_footer().empty()) {
      absl::StrAppend(&text, "Examples:\n");
      for (const absl::string_view line : absl::StrSplit(app->get_footer(), '\n')) {
        absl::StrAppend(&text, "  ", line, "\n");
      }
    }
    std::string more = more_;
    if (app->get_parent() != nullptr) {
      const CLI::App* program = app;
      while (program->get_parent() != nullptr) program = program->get_parent();
      more =
          absl::StrCat(program->get_name(), " --help shows the options that every command takes.");
    }
    if (more.empty()) return text;
    return absl::StrCat(text, text.empty() ? "" : "\n", Wrapped(more, 0, 0, HelpColumns()), "\n");
  }

 private:
  const std::string more_;
};

}  // namespace

int HelpColumns() {
  int columns = 0;
  const char* told = std::getenv("COLUMNS");
  if (told == nullptr || !absl::SimpleAtoi(told, &columns)) {
    winsize window = {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) columns = window.ws_col;
  }
  return columns <= 0 ? kUsualColumns : std::clamp(columns, kLeastColumns, kMostColumns);
}

std::string Wrapped(absl::string_view text, int indent, int column, int columns) {
  std::string out;
  bool begins = true;
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const int width = ColumnsOf(word);
    if (!begins && column + 1 + width > columns) {
      absl::StrAppend(&out, "\n", std::string(static_cast<size_t>(indent), ' '));
      column = indent;
      begins = true;
    }
    absl::StrAppend(&out, begins ? "" : " ", word);
    column += width + (begins ? 0 : 1);
    begins = false;
  }
  return out;
}

std::string DescriptionOf(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required() && !option.get_positional()) AddSentence(&text, "Required.");
  if (!option.get_needs().empty()) {
    AddSentence(&text, absl::StrCat("Only with ", NamesOf(option.get_needs()), "."));
  }
  if (!option.get_excludes().empty()) {
    AddSentence(&text, absl::StrCat("Not with ", NamesOf(option.get_excludes()), "."));
  }
  if (!option.get_default_str().empty()) {
    AddSentence(&text, absl::StrCat("Default: ", option.get_default_str(), "."));
  }
  if (!option.get_envname().empty()) {
    AddSentence(&text, absl::StrCat("Environment: ", option.get_envname(), "."));
  }
  return text;
}

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter(const std::string& more) {
  return std::make_shared<HelpFormatter>(more);
}

absl::StatusOr<std::string> CommandLine::HelpOf(const std::vector<std::string>& words) const {
  CLI::App* command = app_.get();
  std::string name = command->get_name();
  for (const std::string& word : words) {
    const std::vector<CLI::App*> commands = command->get_subcommands({});
    const auto next = std::ranges::find(commands, word, &CLI::App::get_name);
    if (next == commands.end()) return absl::InvalidArgumentError(ComplaintOfWord(*command, word));
    command = *next;
    absl::StrAppend(&name, " ", word);
  }
  // Not App::help, which gives the help of the command on the line.
  return command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal);
}

void CommandLine::AddExamples(const std::string& path,
                              const std::vector<std::string>& lines) const {
  CommandAt(*app_, path).footer(absl::StrJoin(lines, "\n"));
}

void CommandLine::AddHeading(const std::string& path, const std::string& heading,
                             const std::vector<std::string>& options) const {
  CLI::App& command = CommandAt(*app_, path);
  for (const std::string& option : options) command.get_option(option)->group(heading);
}

std::vector<std::string> CommandLine::Commands() const {
  std::vector<std::string> paths;
  for (const CLI::App* command : app_->get_subcommands({})) {
    const std::vector<const CLI::App*> verbs = command->get_subcommands({});
    if (verbs.empty()) paths.push_back(command->get_name());
    for (const CLI::App* verb : verbs) {
      paths.push_back(absl::StrCat(command->get_name(), " ", verb->get_name()));
    }
  }
  return paths;
}

}  // namespace tapedeck::services::command_line
