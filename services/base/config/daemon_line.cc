#include "services/base/config/daemon_line.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "services/base/config/fault.h"
#include "services/base/config/option_text.h"
#include "services/base/config/yaml.h"
#include "services/base/errors.h"

namespace tapedeck::services::config {
namespace {

using command_line::Substitute;
using command_line::Substitutes;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr char kConfig[] = "--config";

std::string VariableOf(const std::string& prefix, const std::string& option) {
  const std::string name = absl::StrReplaceAll(absl::StripPrefix(option, "--"), {{"-", "_"}});
  return absl::StrCat(prefix, absl::AsciiStrToUpper(name));
}

// What a file has for the option of a field.
std::vector<Substitute> InFile(const Message& message, const FieldDescriptor& field,
                               const Places& places) {
  if (!field.is_repeated()) {
    return {{.text = OptionText(message, field), .from = PlaceText(places.Of(field.name()))}};
  }
  std::vector<Substitute> texts;
  for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
    texts.push_back({.text = OptionText(message, field, i),
                     .from = PlaceText(places.Of(absl::StrCat(field.name(), "[", i, "]")))});
  }
  return texts;
}

// "TEXT [REASON]".
std::string WithItsReason(const absl::Status& status) {
  const std::optional<ErrorReason> reason = ReasonOf(status);
  return absl::StrCat(absl::string_view(status.message()),
                      reason.has_value() ? absl::StrCat(" [", reason->reason, "]") : "");
}

}  // namespace

DaemonLine::DaemonLine(Daemon daemon) : daemon_(std::move(daemon)), line_(daemon_.about) {
  program().AddSubstitutes(
      kConfig, VariableOf(daemon_.variables, kConfig),
      [this](const std::string& file) { return Open(file); },
      "YAML or JSON file of options by name; the command line overrides the environment, the "
      "environment overrides the file");
  program().AddFlag("--check-config", check_,
                    "Check the settings and the files that they name, start and change nothing, "
                    "then exit: 2 if a start would fail");
  program().AddFlag("--print-config", print_,
                    "Print the effective settings as YAML for --config without reading the files "
                    "they name, then exit: 2 if anything is wrong");
}

DaemonLine::~DaemonLine() = default;

absl::StatusOr<Substitutes> DaemonLine::Open(const std::string& file) {
  const auto find = [this](const std::string& option) { return Find(option); };
  if (file.empty()) return find;
  const auto message = NewConfig(daemon_.role);
  TD_ASSIGN_OR_RETURN(const Places places, ReadFile(file, *message));
  for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message->GetDescriptor()->field(i);
    if (places.Has(field.name())) in_file_[OptionOf(field)] = InFile(*message, field, places);
  }
  return find;
}

std::vector<Substitute> DaemonLine::OfEnvironment(const std::string& option) const {
  const FieldDescriptor* const field = FieldOf(daemon_.role, option);
  if (field == nullptr) return {};
  std::vector<std::string> variables;
  const auto more = daemon_.more_variables.find(option);
  if (more != daemon_.more_variables.end()) variables.push_back(more->second);
  variables.push_back(VariableOf(daemon_.variables, option));
  for (const std::string& variable : variables) {
    const char* const text = std::getenv(variable.c_str());
    if (text == nullptr || *text == '\0') continue;
    if (!field->is_repeated()) return {{.text = text, .from = variable}};
    std::vector<Substitute> texts;
    for (const absl::string_view one : absl::StrSplit(text, ',')) {
      texts.push_back({.text = std::string(one), .from = variable});
    }
    return texts;
  }
  return {};
}

std::vector<Substitute> DaemonLine::Find(const std::string& option) {
  std::vector<Substitute> texts = OfEnvironment(option);
  const auto in_file = in_file_.find(option);
  if (texts.empty() && in_file != in_file_.end()) texts = in_file->second;
  if (!texts.empty()) used_[option] = texts;
  return texts;
}

absl::StatusOr<std::string> DaemonLine::Effective() const {
  const auto message = NewConfig(daemon_.role);
  for (const command_line::Value& value : line_.Values()) {
    const FieldDescriptor* const field = FieldOf(daemon_.role, value.option);
    if (field == nullptr) continue;
    const auto used = used_.find(value.option);
    for (size_t i = 0; i < value.texts.size(); ++i) {
      const absl::Status set = SetOption(value.texts[i], *field, *message);
      if (set.ok()) continue;
      const bool elsewhere = used != used_.end() && i < used->second.size();
      return absl::InvalidArgumentError(
          absl::StrCat(elsewhere ? used->second[i].from : value.option, ": ", set.message()));
    }
  }
  return WriteYaml(*message);
}

std::optional<int> DaemonLine::Refuse(const Faults& faults) const {
  std::optional<int> refused;
  std::set<std::string> said;
  for (const absl::Status& fault : faults) {
    const std::string text = WithItsReason(fault);
    if (said.insert(text).second) refused = line_.Refuse(text);
  }
  return refused;
}

void DaemonLine::PrintSound(const Looked& looked) const {
  for (const absl::Status& warning : looked.warnings) {
    std::fprintf(stderr, "%s: warning: %s\n", daemon_.about.name.c_str(),
                 WithItsReason(warning).c_str());
  }
  // With --print-config the output is YAML.
  if (print_) return;
  std::printf("configuration is sound: %s\n", absl::StrJoin(looked.checked, ", ").c_str());
}

std::optional<int> DaemonLine::Parse(int argc, char** argv, const std::function<Faults()>& check,
                                     const std::function<Looked()>& look) {
  const std::optional<int> ended = line_.Parse(argc, argv);
  if (ended.has_value()) return ended;
  const absl::StatusOr<std::string> effective = Effective();
  if (!effective.ok()) return line_.Refuse(std::string(effective.status().message()));
  Faults faults = check();
  Looked looked;
  if (check_) looked = look();
  AddFaults(faults, looked.faults);
  if (const std::optional<int> refused = Refuse(faults); refused.has_value()) return refused;
  if (check_) PrintSound(looked);
  if (print_) std::printf("%s", effective->c_str());
  if (print_ || check_) return 0;
  return std::nullopt;
}

}  // namespace tapedeck::services::config
