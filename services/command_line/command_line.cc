#include "services/command_line/command_line.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace tapedeck::services::command_line {
namespace {

std::unique_ptr<CLI::App> MakeApp(const About& about) {
  auto app = std::make_unique<CLI::App>(about.purpose, about.name);
  if (!about.version.empty()) app->set_version_flag("--version", about.version);
  app->fallthrough(about.options_anywhere);
  if (about.one_line_errors) {
    app->failure_message([name = about.name](const CLI::App*, const CLI::Error& error) {
      return name + ": " + error.what() + "; see " + name + " --help\n";
    });
  }
  return app;
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
  option_->check(CLI::IsMember(texts));
  return *this;
}

Option Option::Check(TextFunction check, const std::string& format) const {
  option_->check([check = std::move(check)](
                     const std::string& text) { return std::string(check(text).message()); },
                 format);
  return *this;
}

Option Option::InBytes() const {
  option_->transform(CLI::AsSizeValue(/*kb_is_1000=*/false));
  return *this;
}

Option Option::SeparatedBy(char separator) const {
  option_->delimiter(separator);
  return *this;
}

Command Command::AddCommand(const std::string& name, const std::string& help) const {
  app_->require_subcommand(1);
  return Command(*app_->add_subcommand(name, help));
}

void Command::WhenGiven(std::function<void()> call) const { app_->callback(std::move(call)); }

template <OptionValue T>
Option Command::AddOption(const std::string& name, T& target, const std::string& help) const {
  return Option(*app_->add_option(name, target, help));
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
    const absl::Status taken = take(text);
    if (!taken.ok()) throw CLI::ValidationError(name, std::string(taken.message()));
  };
  return Option(*app_->add_option_function<std::string>(name, call, help));
}

Option Command::AddNumbered(const std::string& name, std::function<void(int64_t)> take,
                            const Numbered& choices, const std::string& help) const {
  CLI::Option& option = *app_->add_option_function<int64_t>(
      name, [take = std::move(take)](const int64_t& number) { take(number); }, help);
  option.type_name(choices.type);
  option.transform(choices.letters == Letters::kAnyCase
                       ? CLI::CheckedTransformer(choices.numbers, CLI::ignore_case)
                       : CLI::CheckedTransformer(choices.numbers));
  return Option(option);
}

CommandLine::CommandLine(const About& about)
    : app_(MakeApp(about)), usage_error_(about.usage_error) {}

CommandLine::~CommandLine() = default;

std::optional<int> CommandLine::Parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app_->exit(error);
    return status == 0 ? 0 : usage_error_.value_or(status);
  }
  return std::nullopt;
}

}  // namespace tapedeck::services::command_line
