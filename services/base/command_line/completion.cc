#include "services/base/command_line/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::command_line {
namespace {

constexpr char kWords[] = "words:";

bool StartsOption(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

// None: any value.
std::vector<std::string> ValuesOf(CLI::Option& option) {
  for (int i = 0;; ++i) {
    try {
      absl::string_view name = option.get_validator(i)->get_name();
      if (absl::ConsumePrefix(&name, kWords)) return absl::StrSplit(name, ',');
    } catch (const CLI::OptionNotFound&) {
      return {};  // there is no further rule
    }
  }
}

// Goes along the words of a line.
class Walk {
 public:
  explicit Walk(CLI::App& program) : path_{&program} {}

  void Pass(const std::string& word);
  Completion End(const std::string& last);

 private:
  CLI::App& command() const { return *path_.back(); }
  // The option of this name that the commands so far have, the last first; null if none has.
  CLI::Option* Find(const std::string& name, bool* of_program) const;
  CLI::Option* Argument() const;
  CLI::App* CommandNamed(const std::string& name) const;
  void PassOption(const std::string& word);
  void AddOptions();
  void AddCommands();
  void AddValues(CLI::Option& option, const std::string& name);
  void Add(const std::string& text, const std::string& help);

  std::vector<CLI::App*> path_;
  CLI::Option* pending_ = nullptr;  // its value comes next
  std::string pending_name_;
  bool pending_of_program_ = false;
  bool only_values_ = false;  // "--" was there
  size_t arguments_ = 0;      // of the last command
  std::string last_;
  Completion found_;
};

CLI::Option* Walk::Find(const std::string& name, bool* of_program) const {
  for (auto app = path_.rbegin(); app != path_.rend(); ++app) {
    for (CLI::Option* const option : (*app)->get_options()) {
      const std::vector<std::string> names = NamesOf(*option);
      if (std::ranges::find(names, name) == names.end()) continue;
      *of_program = *app == path_.front();
      return option;
    }
  }
  return nullptr;
}

CLI::Option* Walk::Argument() const {
  size_t at = 0;
  for (CLI::Option* const option : command().get_options()) {
    if (!option->get_positional()) continue;
    const bool takes_more = option->get_items_expected_max() > 1;
    if (at == arguments_ || (takes_more && at < arguments_)) return option;
    ++at;
  }
  return nullptr;
}

CLI::App* Walk::CommandNamed(const std::string& name) const {
  for (CLI::App* const next : command().get_subcommands({})) {
    if (next->get_name() == name) return next;
  }
  return nullptr;
}

void Walk::PassOption(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  bool of_program = false;
  CLI::Option* const option = Find(name, &of_program);
  if (option == nullptr) return;
  const bool has_value = name.size() != word.size();
  if (TakesValue(*option) && !has_value) {
    pending_ = option;
    pending_name_ = name;
    pending_of_program_ = of_program;
  } else if (of_program && TakesValue(*option)) {
    found_.of_program.push_back(word);
  }
}

void Walk::Pass(const std::string& word) {
  if (pending_ != nullptr) {
    if (pending_of_program_) found_.of_program.push_back(absl::StrCat(pending_name_, "=", word));
    pending_ = nullptr;
  } else if (!only_values_ && word == "--") {
    only_values_ = true;
  } else if (!only_values_ && StartsOption(word)) {
    PassOption(word);
  } else if (CLI::App* const next = CommandNamed(word); next != nullptr) {
    path_.push_back(next);
    arguments_ = 0;
  } else {
    ++arguments_;
  }
}

void Walk::Add(const std::string& text, const std::string& help) {
  if (absl::StartsWith(text, last_)) found_.words.push_back({text, help});
}

void Walk::AddOptions() {
  for (auto app = path_.rbegin(); app != path_.rend(); ++app) {
    for (const CLI::Option* option : (*app)->get_options()) {
      if (option->get_positional()) continue;
      // The help of a command is not that of another one.
      if (option == (*app)->get_help_ptr() && app != path_.rbegin()) continue;
      for (const std::string& name : NamesOf(*option)) Add(name, option->get_description());
    }
  }
}

void Walk::AddCommands() {
  for (const CLI::App* next : command().get_subcommands({})) {
    Add(next->get_name(), next->get_description());
  }
}

void Walk::AddValues(CLI::Option& option, const std::string& name) {
  found_.value = name;
  found_.typed = last_.substr(found_.before.size());
  for (const std::string& value : ValuesOf(option)) Add(found_.before + value, "");
}

Completion Walk::End(const std::string& last) {
  last_ = last;
  found_.command = absl::StrJoin(
      path_.begin() + 1, path_.end(), " ",
      [](std::string* out, const CLI::App* app) { absl::StrAppend(out, app->get_name()); });
  const size_t equals = last.find('=');
  bool of_program = false;
  if (pending_ != nullptr) {
    AddValues(*pending_, pending_name_);
  } else if (!only_values_ && absl::StartsWith(last, "-")) {
    CLI::Option* const option =
        equals == std::string::npos ? nullptr : Find(last.substr(0, equals), &of_program);
    if (equals == std::string::npos) AddOptions();
    if (option == nullptr || !TakesValue(*option)) return std::move(found_);
    found_.before = last.substr(0, equals + 1);
    AddValues(*option, last.substr(0, equals));
  } else if (CLI::Option* const argument = Argument(); argument != nullptr) {
    AddValues(*argument, argument->get_name(/*positional=*/true));
  } else {
    AddCommands();
  }
  return std::move(found_);
}

}  // namespace

std::string NameOfWords(const std::vector<std::string>& words) {
  return absl::StrCat(kWords, absl::StrJoin(words, ","));
}

Completion Complete(CLI::App& program, const std::vector<std::string>& words) {
  Walk walk(program);
  for (size_t i = 0; i + 1 < words.size(); ++i) walk.Pass(words[i]);
  return walk.End(words.empty() ? "" : words.back());
}

}  // namespace tapedeck::services::command_line
