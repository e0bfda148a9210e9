// Options for the fields of a struct of the model, made of their list
// (services/model/words/field.h).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/base/command_line/command_line.h"
#include "services/model/words/description.h"
#include "services/model/words/field.h"
#include "services/model/words/names.h"
#include "services/model/words/update.h"

namespace tapedeck::services::tapectl {

// A value as people write it; the error says how to. Numbers of bytes as ParseBytes, durations as
// ParseDurationOrZeroNs, times as ParseTimeNs, a double as ParseRate (units.h).
absl::Status ParseValue(const model::FieldTraits& field, absl::string_view text, std::string& to);
absl::Status ParseValue(const model::FieldTraits& field, absl::string_view text, double& to);
absl::Status ParseValue(const model::FieldTraits& field, absl::string_view text, uint32_t& to);
absl::Status ParseValue(const model::FieldTraits& field, absl::string_view text, uint64_t& to);
absl::Status ParseValue(const model::FieldTraits& field, absl::string_view text, int64_t& to);
// NAME=VALUE, which is added; none: no labels.
absl::Status ParseValue(const model::FieldTraits& field, absl::string_view text, model::Labels& to);
// The same of an update, in which NAME- removes a label: what it names is in `*fields`, as in
// model::Update.
absl::Status ParseLabel(absl::string_view field, absl::string_view text,
                        std::set<std::string>* fields, model::Labels* to);

template <typename Enum>
requires std::is_enum_v<Enum> absl::Status ParseValue(const model::FieldTraits&,
                                                      absl::string_view text, Enum& to) {
  const auto value = model::EnumNamed<Enum>(text);
  if (value.ok()) to = *value;
  return value.status();
}

template <typename Enum>
requires std::is_enum_v<Enum> absl::Status ParseValue(const model::FieldTraits& field,
                                                      absl::string_view text,
                                                      std::optional<Enum>& to) {
  to.reset();
  return text == "none" ? absl::OkStatus() : ParseValue(field, text, to.emplace());
}

// The words that a value may be; none: it is no enum.
template <typename Value>
std::vector<std::string> WordsOf() {
  std::vector<std::string> words;
  if constexpr (std::is_enum_v<Value>) {
    for (const auto& [value, name] : model::EnumNames<Value>::kTable) words.emplace_back(name);
  } else if constexpr (requires {
                         typename Value::value_type;
                         requires std::is_enum_v<typename Value::value_type>;
                       }) {
    words = WordsOf<typename Value::value_type>();
    words.emplace_back("none");
  }
  return words;
}

enum class Purpose { kCreate, kUpdate };

// What to give the option, and what it means to give nothing.
std::string HelpOf(const model::FieldTraits& field, Purpose purpose, absl::string_view nothing);

// One option for each field that has one and is chosen then; what is given is in `*update`. For a
// new thing it gets first what the fields have initially.
template <typename Struct>
void AddFieldOptions(command_line::Command command, Purpose purpose,
                     model::Update<Struct>& update) {
  const auto add = [&](const auto& field) {
    const bool chosen = purpose == Purpose::kCreate ? field.chosen_when_made() : field.settable();
    if (field.option.empty() || !chosen) return;
    auto& value = update.to.*field.member;
    if constexpr (requires { ParseValue(field, "", value); }) {
      constexpr bool kRepeated = std::is_same_v<decltype(value), model::Labels&>;
      const auto take = [&field, &value, &update, purpose](const std::string& text) {
        if constexpr (kRepeated) {
          if (purpose == Purpose::kUpdate) {
            return ParseLabel(field.name, text, &update.fields, &value);
          }
        }
        update.fields.emplace(field.name);
        return ParseValue(field, text, value);
      };
      constexpr bool kCanBeNone = kRepeated || requires { value.has_value(); };
      if (purpose == Purpose::kCreate && !field.initial.empty()) {
        take(std::string(field.initial)).IgnoreError();  // the list's own value is valid
      }
      const std::string name = absl::StrCat("--", field.option);
      const std::string help = HelpOf(field, purpose, kCanBeNone ? "none" : "0");
      if constexpr (kRepeated) {
        const bool updates = purpose == Purpose::kUpdate;
        command.AddRepeatedOption(
            name, take, absl::StrCat(help, updates ? ". NAME- removes one, all others stay" : ""));
      } else {
        const command_line::Option option = command.AddTextOption(name, take, help);
        const auto words = WordsOf<std::decay_t<decltype(value)>>();
        if (!words.empty()) option.Suggest(words);
      }
    }
  };
  model::ForEachField<Struct>(add);
}

}  // namespace tapedeck::services::tapectl
