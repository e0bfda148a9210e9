// The command line of a program: options, flags and subcommands, with the help made of them. Built
// and parsed by one thread. Commands and options are handles, valid as long as their CommandLine;
// the variables they fill must live until it has been parsed. CLI11 does the work and is slow to
// compile, so that only command_line.cc sees it.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/base/command_line/completion.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tapedeck::services::command_line {

// A manual page made from the tree of commands and their help: of the program, or of one of its
// commands.
struct ManualPage {
  std::string name;  // "tapectl-lun"
  std::string roff;  // with the macros of man(7)
};

// What the help does not say.
struct ManualSection {
  std::string title;                                         // in capitals
  std::vector<std::pair<std::string, std::string>> entries;  // a term and what it is
};

// `version` as "0.1.0"; the sections stand on the page of the program.
std::vector<ManualPage> ManualOf(CLI::App& program, const std::string& version,
                                 const std::vector<ManualSection>& sections);

// Looks at, or takes, the text of an option; an error's message becomes the usage error.
using TextFunction = std::function<absl::Status(const std::string& text)>;

template <typename T, typename... Ts>
concept OneOfTypes = (std::same_as<T, Ts> || ...);
template <typename T>
concept OptionValue = OneOfTypes < T,
        std::string, std::vector<std::string>,
int, uint32_t, uint64_t, double, std::optional < uint64_t >> ;

// A value of an option that the command line does not have.
struct Substitute {
  std::string text;
  std::string from;  // where it stands, for whoever has to correct it
};
// Those of the option "--NAME"; none: it has its default.
using Substitutes = std::function<std::vector<Substitute>(const std::string& option)>;
// Gets the text of the option that names a file; empty: it was not given.
using OpenSubstitutes = std::function<absl::StatusOr<Substitutes>(const std::string& file)>;

enum class Letters { kExact, kAnyCase };

// Each call adds one rule, or one word of help, and returns the same option.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option Required() const;
  // The help shows what the variable holds now.
  Option ShowDefault() const;
  // Read where the command line does not have the option.
  Option FromEnvironment(const std::string& variable) const;
  Option Excludes(Option other) const;
  Option Needs(Option other) const;
  Option Within(int least, int most) const;
  Option OneOf(const std::vector<std::string>& texts) const;
  // What is completed; the option has a rule of its own for what it takes.
  Option Suggest(const std::vector<std::string>& texts) const;
  // The help shows `format`.
  Option Check(TextFunction check, const std::string& format = "") const;
  // A number of bytes, as ParseBytes of units.h takes it.
  Option InBytes() const;
  // Of a list: every use of the option adds one value, and what follows that is no part of it.
  Option OneEach() const;
  // One text may hold several values.
  Option SeparatedBy(char separator) const;

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  // A command with subcommands must be followed by exactly one of them.
  Command AddCommand(const std::string& name, const std::string& help) const;
  // Called once the whole line has been found right and has this command.
  void WhenGiven(std::function<void()> call) const;

  // `name` is --NAME, or for a positional argument NAME.
  template <OptionValue T>
  Option AddOption(const std::string& name, T& target, const std::string& help) const;
  Option AddFlag(const std::string& name, bool& target, const std::string& help) const;
  // An option that names a file of values: those of all options that the line does not have are
  // asked of what `open` returns, and are read as the line's are, with errors that begin with where
  // they stand. Called also where neither line nor `variable` of the environment have the option,
  // but not where help is asked for. Goes before all others.
  void AddSubstitutes(const std::string& name, const std::string& variable, OpenSubstitutes open,
                      const std::string& help) const;
  // `take` gets the text.
  Option AddTextOption(const std::string& name, TextFunction take, const std::string& help) const;
  // The same for one that may be given again and again.
  Option AddRepeatedOption(const std::string& name, TextFunction take,
                           const std::string& help) const;
  // `parse` makes an absl::StatusOr of the text.
  template <typename T, typename Parse>
  Option AddParsed(const std::string& name, T& target, Parse parse, const std::string& help) const {
    const auto take = [&target, parse](const std::string& text) -> absl::Status {
      const auto value = parse(text);
      if (value.ok()) target = *value;
      return value.status();
    };
    return AddTextOption(name, take, help);
  }
  // One of `choices`, by its word or its number. T is an enum or bool.
  template <typename T>
  Option AddChoice(const std::string& name, T& target, const std::map<std::string, T>& choices,
                   const std::string& help, Letters letters = Letters::kExact) const {
    return AddChosen(name, target, choices, help, letters);
  }
  // The same where none may be given.
  template <typename T>
  Option AddChoice(const std::string& name, std::optional<T>& target,
                   const std::map<std::string, T>& choices, const std::string& help,
                   Letters letters = Letters::kExact) const {
    return AddChosen(name, target, choices, help, letters);
  }

 private:
  struct Numbered {
    std::string type;  // in the help
    std::map<std::string, int64_t> numbers;
    Letters letters;
  };
  template <typename Target, typename T>
  Option AddChosen(const std::string& name, Target& target, const std::map<std::string, T>& choices,
                   const std::string& help, Letters letters) const {
    std::map<std::string, int64_t> numbers;
    for (const auto& [word, value] : choices) numbers.emplace(word, static_cast<int64_t>(value));
    const auto take = [&target](int64_t number) { target = static_cast<T>(number); };
    const auto held = [&target] { return NumberOf(target); };
    return AddNumbered(name, {take, held},
                       {std::is_enum_v<T> ? "ENUM" : "BOOLEAN", numbers, letters}, help);
  }
  template <typename T>
  static std::optional<int64_t> NumberOf(const T& value) {
    return static_cast<int64_t>(value);
  }
  template <typename T>
  static std::optional<int64_t> NumberOf(const std::optional<T>& value) {
    return value.has_value() ? NumberOf(*value) : std::nullopt;
  }
  // The variable of a choice.
  struct ChoiceVariable {
    std::function<void(int64_t)> take;
    std::function<std::optional<int64_t>()> number;
  };
  Option AddNumbered(const std::string& name, const ChoiceVariable& held, const Numbered& choices,
                     const std::string& help) const;

  CLI::App* app_;
};

struct About {
  std::string name;
  std::string purpose;
  std::string version;  // empty: no --version
  std::string more;     // the last line of the program's own help
  // Exit status of a wrong command line; none: one from 100 on for each kind of error.
  std::optional<int> usage_error = 2;
  bool one_line_errors = false;   // "NAME: what is wrong; see NAME --help"
  bool options_anywhere = false;  // a command's options may also follow its subcommand
};

// What an option of the program itself holds once the line was parsed.
struct Value {
  std::string option;  // "--NAME"
  std::vector<std::string> texts;
};

class CommandLine {
 public:
  explicit CommandLine(const About& about);
  ~CommandLine();

  // The program itself.
  Command program() const { return Command(*app_); }

  // Before Parse: what may come next on a line that ends with the last of these words.
  Completion Complete(const std::vector<std::string>& words) const;

  // The help of the command that these words name, as --help prints it. NOT_FOUND: there is none.
  absl::StatusOr<std::string> HelpOf(const std::vector<std::string>& words) const;

  // Lines that can be typed, in the help and the manual of the command "NOUN VERB", which is there.
  void AddExamples(const std::string& path, const std::vector<std::string>& lines) const;

  // Options of the command "NOUN VERB", or of the program (""), that its help and manual show
  // below `heading`; those of no heading come first. Each option and the command are there.
  void AddHeading(const std::string& path, const std::string& heading,
                  const std::vector<std::string>& options) const;

  // "NOUN VERB" of each command that can be given, in the order of the help.
  std::vector<std::string> Commands() const;

  // Its manual pages.
  std::vector<ManualPage> Manual(const std::vector<ManualSection>& sections) const;

  // Fills the variables and calls what the given commands have set. The status to end the process
  // with if help or the version was asked for or the line is wrong, which has then been printed: of
  // a command or option that there is none of, with those that are near to it. What was typed is
  // printed without control characters, and cut where it is long.
  std::optional<int> Parse(int argc, char** argv);
  // The same of words, of which the first is the program.
  std::optional<int> Parse(std::vector<std::string>& words);

  // After that: of each option what was given, else its default, as it would be typed. None of one
  // that has neither.
  std::vector<Value> Values() const;

  // The line is wrong in a way that only its user can tell: prints why, as Parse does, and returns
  // the status to end the process with.
  int Refuse(const std::string& complaint) const;

 private:
  // Prints it; `status` is the kind of error.
  int Refuse(const std::string& complaint, int status) const;

  const std::unique_ptr<CLI::App> app_;
  const std::optional<int> usage_error_;
  const std::string version_;
};

}  // namespace tapedeck::services::command_line
