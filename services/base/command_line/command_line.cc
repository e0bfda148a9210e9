#include "services/base/command_line/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dataplane/printable.h"
#include "services/base/command_line/complaint.h"
#include "services/base/command_line/help.h"
#include "services/base/command_line/nearest.h"
#include "services/base/command_line/units.h"

namespace tapedeck::services::command_line {
namespace {

// Of an error's text, which may hold what was typed.
constexpr size_t kMostOfText = 512;

constexpr int kWrongValueStatus = static_cast<int>(CLI::ExitCodes::ValidationError);
constexpr int kUnknownCommandStatus = static_cast<int>(CLI::ExitCodes::ExtrasError);

std::string TextOf(const CLI::Error& error) {
  return dataplane::Printable(error.what(), kMostOfText);
}

std::string OneLine(const std::string& name, const CLI::Error& error) {
  const std::string text = TextOf(error);
  const std::string end = absl::EndsWith(text, "?") ? " see " : "; see ";
  return absl::StrCat(name, ": ", text, end, name, " --help\n");
}

// What `choices` says of a text that is none of them, with `words` that are near to it.
CLI::Validator NamesTheNearest(const CLI::Validator& choices, std::vector<std::string> words) {
  const auto check = [choices, words = std::move(words)](std::string& text) {
    const std::string typed = text;
    const std::string wrong = choices(text);
    const std::vector<std::string> nearest = Nearest(typed, words);
    return wrong.empty() || nearest.empty() ? wrong
                                            : absl::StrCat(wrong, "; ", DidYouMean(nearest));
  };
  return {check, choices.get_description()};
}

std::unique_ptr<CLI::App> MakeApp(const About& about) {
  auto app = std::make_unique<CLI::App>(about.purpose, about.name);
  if (!about.version.empty()) app->set_version_flag("--version", about.version);
  app->fallthrough(about.options_anywhere);
  app->formatter(MakeHelpFormatter(about.more));
  app->failure_message([about](const CLI::App* program, const CLI::Error& error) {
    if (about.one_line_errors) return OneLine(about.name, error);
    return CLI::FailureMessage::simple(program, CLI::Error(error.get_name(), TextOf(error)));
  });
  return app;
}

void Take(const std::string& name, const TextFunction& take, const std::string& text) {
  const absl::Status taken = take(text);
  if (!taken.ok()) throw CLI::ValidationError(name, std::string(taken.message()));
}

CLI::ValidationError Wrong(const absl::Status& status) {
  return CLI::ValidationError(std::string(status.message()));
}

// CLI11 takes the number modulo 2^64.
std::string WhyNegative(const std::string& text) {
  if (!absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "-")) return "";
  return absl::StrCat("\"", text, "\" is negative: write a number of 0 or more");
}

// The rules of an option for one text; empty: it keeps them.
std::string WhyWrong(CLI::Option& option, std::string text) {
  for (int i = 0;; ++i) {
    try {
      const std::string wrong = (*option.get_validator(i))(text);
      if (!wrong.empty()) return wrong;
    } catch (const CLI::OptionNotFound&) {
      return "";  // there is no further rule
    }
  }
}

bool HelpIsAsked(const CLI::App& command) {
  const auto asks = [](const CLI::App* next) { return next->parsed() && HelpIsAsked(*next); };
  return command.get_help_ptr()->count() > 0 ||
         std::ranges::any_of(command.get_subcommands({}), asks);
}

// Gives an option what the line does not have. Each text of a list is looked at by itself, so that
// the error has the place of that one.
void Fill(CLI::Option& option, const std::vector<Substitute>& substitutes) {
  if (substitutes.empty()) return;
  for (const Substitute& substitute : substitutes) {
    const std::string wrong = WhyWrong(option, substitute.text);
    if (!wrong.empty()) throw CLI::ValidationError(substitute.from, wrong);
    option.add_result(substitute.text);
  }
  try {
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    const std::string text = error.what();
    const absl::string_view why = absl::StripPrefix(text, option.get_name() + ": ");
    throw CLI::ValidationError(substitutes.front().from, std::string(why));
  }
}

// What the option holds, as it would be typed.
std::vector<std::string> TextsOf(CLI::Option& option) {
  const bool list = option.get_items_expected_max() > 1;
  if (list && option.count() > 0) return option.results();
  option.default_str("");
  option.capture_default_str();
  const std::string text = option.get_default_str();
  // CLI11 writes what a list holds as [a,b].
  if (list)
    return absl::StrSplit(absl::StripSuffix(absl::StripPrefix(text, "["), "]"), ',',
                          absl::SkipEmpty());
  return text.empty() ? option.results() : std::vector<std::string>{text};
}

}  // namespace

Option Option::Required() const {
  option_->required();
  return *this;
}

Option Option::ShowDefault() const {
  option_->capture_default_str();
  return *this;
}

Option Option::FromEnvironment(const std::string& variable) const {
  option_->envname(variable);
  return *this;
}

Option Option::Excludes(Option other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::Needs(Option other) const {
  option_->needs(other.option_);
  return *this;
}

Option Option::Within(int least, int most) const {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option Option::OneOf(const std::vector<std::string>& texts) const {
  option_->check(NamesTheNearest(CLI::IsMember(texts), texts));
  return Suggest(texts);
}

Option Option::Suggest(const std::vector<std::string>& texts) const {
  const auto take_all = [](const std::string&) { return std::string(); };
  option_->check(CLI::Validator(take_all, "", NameOfWords(texts)));
  return *this;
}

Option Option::Check(TextFunction check, const std::string& format) const {
  option_->check([check = std::move(check)](
                     const std::string& text) { return std::string(check(text).message()); },
                 format);
  return *this;
}

Option Option::InBytes() const {
  const auto in_bytes = [](std::string& text) {
    const absl::StatusOr<uint64_t> bytes = ParseBytes(text);
    if (bytes.ok()) text = absl::StrCat(*bytes);
    return std::string(bytes.status().message());
  };
  option_->transform(CLI::Validator(in_bytes, "SIZE"));
  return *this;
}

Option Option::OneEach() const {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::SeparatedBy(char separator) const {
  option_->delimiter(separator);
  return *this;
}

Command Command::AddCommand(const std::string& name, const std::string& help) const {
  app_->require_subcommand(1);
  CLI::App* command = app_->add_subcommand(name, help)->group("Commands");
  command->preparse_callback([command](size_t) { RefuseWordsBefore(*command); });
  return Command(*command);
}

void Command::WhenGiven(std::function<void()> call) const { app_->callback(std::move(call)); }

template <OptionValue T>
Option Command::AddOption(const std::string& name, T& target, const std::string& help) const {
  CLI::Option& option = *app_->add_option(name, target, help);
  if constexpr (OneOfTypes<T, uint32_t, uint64_t, std::optional<uint64_t>>) {
    option.check(CLI::Validator(WhyNegative, ""));
  }
  return Option(option);
}

template Option Command::AddOption(const std::string&, std::string&, const std::string&) const;
template Option Command::AddOption(const std::string&, std::vector<std::string>&,
                                   const std::string&) const;
template Option Command::AddOption(const std::string&, int&, const std::string&) const;
template Option Command::AddOption(const std::string&, uint32_t&, const std::string&) const;
template Option Command::AddOption(const std::string&, uint64_t&, const std::string&) const;
template Option Command::AddOption(const std::string&, double&, const std::string&) const;
template Option Command::AddOption(const std::string&, std::optional<uint64_t>&,
                                   const std::string&) const;

Option Command::AddFlag(const std::string& name, bool& target, const std::string& help) const {
  return Option(*app_->add_flag(name, target, help));
}

Option Command::AddTextOption(const std::string& name, TextFunction take,
                              const std::string& help) const {
  const auto call = [name, take = std::move(take)](const std::string& text) {
    Take(name, take, text);
  };
  return Option(*app_->add_option_function<std::string>(name, call, help));
}

Option Command::AddRepeatedOption(const std::string& name, TextFunction take,
                                  const std::string& help) const {
  const auto call = [name, take = std::move(take)](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) Take(name, take, text);
  };
  return Option(*app_->add_option_function<std::vector<std::string>>(name, call, help)
                     ->allow_extra_args(false));
}

Option Command::AddNumbered(const std::string& name, const ChoiceVariable& held,
                            const Numbered& choices, const std::string& help) const {
  CLI::Option& option = *app_->add_option_function<int64_t>(
      name, [take = held.take](const int64_t& number) { take(number); }, help);
  option.default_function([number = held.number, numbers = choices.numbers] {
    for (const auto& [word, value] : numbers) {
      if (number() == value) return word;
    }
    return std::string();
  });
  option.type_name(choices.type);
  const auto known = choices.letters == Letters::kAnyCase
                         ? CLI::CheckedTransformer(choices.numbers, CLI::ignore_case)
                         : CLI::CheckedTransformer(choices.numbers);
  std::vector<std::string> words;
  for (const auto& [word, number] : choices.numbers) words.push_back(word);
  option.transform(NamesTheNearest(known, words));
  return Option(option).Suggest(words);
}

void Command::AddSubstitutes(const std::string& name, const std::string& variable,
                             OpenSubstitutes open, const std::string& help) const {
  CLI::App* const app = app_;
  CLI::Option* const option = app->add_option_function<std::string>(
      name,
      [app, name, open = std::move(open)](const std::string& file) {
        if (HelpIsAsked(*app)) return;
        const absl::StatusOr<Substitutes> substitutes = open(file);
        if (!substitutes.ok()) throw Wrong(substitutes.status());
        for (CLI::Option* const other : app->get_options()) {
          if (other->count() == 0) Fill(*other, (*substitutes)(other->get_name()));
        }
      },
      help);
  option->envname(variable)->force_callback();
}

CommandLine::CommandLine(const About& about)
    : app_(MakeApp(about)), usage_error_(about.usage_error), version_(about.version) {}

CommandLine::~CommandLine() = default;

Completion CommandLine::Complete(const std::vector<std::string>& words) const {
  return command_line::Complete(*app_, words);
}

std::vector<ManualPage> CommandLine::Manual(const std::vector<ManualSection>& sections) const {
  return ManualOf(*app_, version_, sections);
}

int CommandLine::Refuse(const std::string& complaint) const {
  return Refuse(complaint, kWrongValueStatus);
}

int CommandLine::Refuse(const std::string& complaint, int status) const {
  std::cerr << app_->get_name() << ": " << complaint << std::endl;
  return usage_error_.value_or(status);
}

std::vector<Value> CommandLine::Values() const {
  std::vector<Value> values;
  for (CLI::Option* const option : app_->get_options()) {
    values.push_back({.option = option->get_name(), .texts = TextsOf(*option)});
  }
  return values;
}

std::optional<int> CommandLine::Parse(std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return Parse(static_cast<int>(words.size()), argv.data());
}

std::optional<int> CommandLine::Parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const UnknownCommand& unknown) {
    return Refuse(unknown.what(), kUnknownCommandStatus);
  } catch (const CLI::CallForHelp& asked) {
    const std::optional<std::string> complaint = ComplaintOfHelp(*app_);
    if (complaint.has_value()) return Refuse(*complaint, kUnknownCommandStatus);
    return app_->exit(asked);
  } catch (const CLI::Success& asked) {
    return app_->exit(asked);
  } catch (const CLI::ParseError& error) {
    const std::optional<std::string> complaint = ComplaintOf(*app_, error);
    if (complaint.has_value()) return Refuse(*complaint, error.get_exit_code());
    const int status = app_->exit(error);
    return usage_error_.value_or(status);
  }
  return std::nullopt;
}

}  // namespace tapedeck::services::command_line
