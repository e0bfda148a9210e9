#include "services/tapectl/program/field_options.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "dataplane/status_macros.h"
#include "services/site/units.h"

namespace tapedeck::services::tapectl {

absl::Status ParseValue(const model::FieldTraits&, absl::string_view text, std::string& to) {
  to = std::string(text);
  return absl::OkStatus();
}

absl::Status ParseValue(const model::FieldTraits&, absl::string_view text, double& to) {
  TD_ASSIGN_OR_RETURN(to, ParseRate(text));
  return absl::OkStatus();
}

absl::Status ParseValue(const model::FieldTraits& field, absl::string_view text, uint64_t& to) {
  if (field.unit == model::Unit::kBytes) {
    TD_ASSIGN_OR_RETURN(to, ParseBytes(text));
    return absl::OkStatus();
  }
  if (absl::SimpleAtoi(text, &to) && to <= field.most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a whole number from 0 to ", field.most));
}

absl::Status ParseValue(const model::FieldTraits& field, absl::string_view text, uint32_t& to) {
  model::FieldTraits bounded = field;
  bounded.most = std::min<uint64_t>(field.most, UINT32_MAX);
  uint64_t value = 0;
  TD_RETURN_IF_ERROR(ParseValue(bounded, text, value));
  to = static_cast<uint32_t>(value);
  return absl::OkStatus();
}

absl::Status ParseValue(const model::FieldTraits& field, absl::string_view text, int64_t& to) {
  const bool is_time = field.unit == model::Unit::kTime;
  TD_ASSIGN_OR_RETURN(to, is_time ? ParseTimeNs(text) : ParseDurationOrZeroNs(text));
  return absl::OkStatus();
}

absl::Status ParseValue(const model::FieldTraits&, absl::string_view text, model::Labels& to) {
  if (text == "none") {
    to.clear();
    return absl::OkStatus();
  }
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos || equals == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not a label: write NAME=VALUE"));
  }
  to[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
  return absl::OkStatus();
}

absl::Status ParseLabel(absl::string_view field, absl::string_view text,
                        std::set<std::string>* fields, model::Labels* to) {
  const size_t equals = text.find('=');
  const bool removes = equals == absl::string_view::npos && text.size() > 1 && text.back() == '-';
  if (removes) {
    text.remove_suffix(1);
    to->erase(std::string(text));
  } else {
    TD_RETURN_IF_ERROR(ParseValue({}, text, *to));
    if (text != "none") text = text.substr(0, equals);
  }
  const bool all = !removes && text == "none" && equals == absl::string_view::npos;
  fields->insert(all ? std::string(field) : absl::StrCat(field, ".", text));
  return absl::OkStatus();
}

std::string HelpOf(const model::FieldTraits& field, Purpose purpose, absl::string_view nothing) {
  if (purpose == Purpose::kUpdate) {
    return field.zero.empty() ? std::string(field.help)
                              : absl::StrCat(field.help, "; ", nothing, ": ", field.zero);
  }
  const absl::string_view otherwise = field.initial.empty() ? field.zero : field.initial;
  return otherwise.empty() ? std::string(field.help)
                           : absl::StrCat(field.help, "; default ", otherwise);
}

}  // namespace tapedeck::services::tapectl
