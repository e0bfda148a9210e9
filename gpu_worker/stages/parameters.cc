#include "gpu_worker/stages/parameters.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "dataplane/printable.h"
#include "services/base/command_line/nearest.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages {
namespace {

using services::ParameterValue;

// Bytes of a value that an error shows.
constexpr size_t kMostShown = 80;

std::string Digits(double number) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), number).ptr};
}

// As people would write it.
struct Shower {
  std::string operator()(int64_t number) const { return absl::StrCat(number); }
  std::string operator()(uint64_t number) const { return absl::StrCat(number); }
  std::string operator()(double number) const { return Digits(number); }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(const std::string& text) const {
    return absl::StrCat("\"", dataplane::Printable(text, kMostShown), "\"");
  }
  std::string operator()(const std::vector<double>& numbers) const {
    const auto append = [](std::string* out, double number) { out->append(Digits(number)); };
    return numbers.empty() ? "an empty list"
                           : dataplane::Printable(absl::StrJoin(numbers, ",", append), kMostShown);
  }
};

std::string Shown(const ParameterValue* value) {
  return value == nullptr ? "missing" : std::visit(Shower{}, *value);
}

std::optional<uint64_t> WholeOf(const ParameterValue& value) {
  if (const auto* number = std::get_if<uint64_t>(&value)) return *number;
  if (const auto* number = std::get_if<int64_t>(&value); number != nullptr && *number >= 0) {
    return static_cast<uint64_t>(*number);
  }
  uint64_t read = 0;
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr && absl::SimpleAtoi(*text, &read) ? std::optional(read) : std::nullopt;
}

std::optional<double> NumberOf(const ParameterValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<int64_t>(&value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<uint64_t>(&value)) return static_cast<double>(*number);
  double read = 0;
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr && absl::SimpleAtod(*text, &read) ? std::optional(read) : std::nullopt;
}

std::optional<std::vector<double>> NumbersOf(const ParameterValue& value) {
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) return *numbers;
  const auto* text = std::get_if<std::string>(&value);
  std::vector<double> read;
  if (text == nullptr) {
    const auto one = NumberOf(value);
    return one.has_value() ? std::optional(std::vector<double>{*one}) : std::nullopt;
  }
  for (const absl::string_view part : absl::StrSplit(*text, ',', absl::SkipEmpty())) {
    if (!absl::SimpleAtod(part, &read.emplace_back())) return std::nullopt;
  }
  return read;
}

std::optional<bool> FlagOf(const ParameterValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr || (*text != "true" && *text != "false")) return std::nullopt;
  return *text == "true";
}

}  // namespace

const ParameterValue* ParameterReader::Find(absl::string_view name) {
  known_.emplace_back(name);
  const auto found = parameters_.find(known_.back());
  return found == parameters_.end() ? nullptr : &found->second;
}

void ParameterReader::ReadWhole(absl::string_view name, uint64_t& value, uint64_t most) {
  const ParameterValue* const given = Find(name);
  if (given == nullptr) return;
  const auto read = WholeOf(*given);
  const bool fits = read.has_value() && *read <= most;
  Require(fits, name, absl::StrCat("a whole number from 0 to ", most));
  if (fits) value = *read;
}

void ParameterReader::Number(absl::string_view name, double& value, double least, double most) {
  const ParameterValue* const given = Find(name);
  if (given == nullptr) return;
  const auto read = NumberOf(*given);
  const bool fits = read.has_value() && *read >= least && *read <= most;
  Require(fits, name, absl::StrCat("a number from ", Digits(least), " to ", Digits(most)));
  if (fits) value = *read;
}

void ParameterReader::Numbers(absl::string_view name, std::vector<double>& values, double least,
                              double most, size_t most_values) {
  const ParameterValue* const given = Find(name);
  if (given == nullptr) return;
  auto read = NumbersOf(*given);
  const auto in_range = [&](double value) { return value >= least && value <= most; };
  const bool fit =
      read.has_value() && read->size() <= most_values && absl::c_all_of(*read, in_range);
  Require(
      fit, name,
      absl::StrCat("at most ", most_values, " numbers from ", Digits(least), " to ", Digits(most)));
  if (fit) values = *std::move(read);
}

void ParameterReader::Flag(absl::string_view name, bool& value) {
  const ParameterValue* const given = Find(name);
  if (given == nullptr) return;
  const auto read = FlagOf(*given);
  Require(read.has_value(), name, "true or false");
  value = read.value_or(value);
}

void ParameterReader::Text(absl::string_view name, std::string& value) {
  const ParameterValue* const given = Find(name);
  if (given == nullptr) return;
  const auto* const text = std::get_if<std::string>(given);
  Require(text != nullptr, name, "a text");
  if (text != nullptr) value = *text;
}

void ParameterReader::Require(bool kept, absl::string_view name, absl::string_view allowed) {
  if (kept || !error_.ok()) return;
  const auto given = parameters_.find(std::string(name));
  error_ = Wrong(name, absl::StrCat(stage_, ": ", name, " is ",
                                    Shown(given == parameters_.end() ? nullptr : &given->second),
                                    "; it must be ", allowed));
}

absl::Status ParameterReader::Finish() const {
  for (const auto& [name, value] : parameters_) {
    if (!absl::c_linear_search(known_, name)) return Unknown(name);
  }
  return error_;
}

absl::Status ParameterReader::Wrong(absl::string_view name, absl::string_view text) const {
  return services::ArgumentInvalid(absl::StrCat(stage_, ".", name), text);
}

absl::Status ParameterReader::Unknown(const std::string& name) const {
  const std::string shown = Shower{}(name);
  const std::vector<std::string> nearest = services::command_line::Nearest(name, known_);
  const std::string rather = !nearest.empty() ? services::command_line::DidYouMean(nearest)
                             : known_.empty()
                                 ? "it has none"
                                 : absl::StrCat("it has ", absl::StrJoin(known_, ", "));
  return Wrong(name, absl::StrCat(stage_, " has no parameter ", shown, "; ", rather));
}

}  // namespace tapedeck::gpu_worker::stages
