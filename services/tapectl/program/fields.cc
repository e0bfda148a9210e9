#include "services/tapectl/program/fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "dataplane/printable.h"
#include "services/site/json.h"
#include "services/site/names.h"
#include "services/site/streams.h"
#include "services/site/units.h"

namespace tapedeck::services::tapectl {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// With the exact number where the unit's digits do not say it.
std::string BytesWithAll(uint64_t bytes) {
  const std::string exact = command_line::BytesText(bytes);
  const bool whole = bytes % 1024 == 0 && exact.size() <= 7;
  return whole ? FormatBytes(bytes) : absl::StrCat(FormatBytes(bytes), " (", bytes, " bytes)");
}

std::string SecondsText(double seconds) {
  return absl::FormatDuration(absl::Trunc(absl::Seconds(seconds), absl::Microseconds(1)));
}

// How numbers whose names end so are written; the end says their unit, and goes.
struct Unit {
  absl::string_view end;
  std::string (*text)(double number);
};
constexpr Unit kUnits[] = {
    {"_bytes_per_second",
     [](double number) { return absl::StrCat(FormatBytes(static_cast<uint64_t>(number)), "/s"); }},
    {"_mb_per_s", [](double number) { return absl::StrFormat("%.1f MB/s", number); }},
    {"_bytes", [](double number) { return BytesWithAll(static_cast<uint64_t>(number)); }},
    {"_percent", [](double number) { return absl::StrFormat("%g %%", number); }},
    {"_rate", [](double number) { return FormatSampleRate(number); }},
    {"_s", SecondsText},
};

// A member of an object, as people read it.
struct Named {
  std::string name;
  std::string text;
};

std::string NumberText(const Json& value) {
  return value.is_number_float() ? absl::StrFormat("%.10g", value.get<double>()) : value.dump();
}

bool IsUnset(const Json& value) {
  return value.is_null() || ((value.is_string() || value.is_structured()) && value.empty()) ||
         value == "";
}

// Members that hold names; what users write is in others.
constexpr absl::string_view kNameMembers[] = {"name", "recording", "original", "move_to"};

std::string TextOf(const Json& value);

Named NamedOf(absl::string_view key, const Json& value) {
  std::string text = TextOf(value);
  if (std::ranges::find(kNameMembers, key) != std::end(kNameMembers)) text = ShortName(text);
  if (value.is_number()) {
    if (key == "bytes") text = BytesWithAll(value.get<uint64_t>());
    if (key == "progress") text = FormatShare(value.get<double>());
    if (key == "mb_per_s") return {"rate", absl::StrFormat("%.1f MB/s", value.get<double>())};
    const auto unit =
        std::ranges::find_if(kUnits, [&](const Unit& one) { return absl::EndsWith(key, one.end); });
    if (unit != std::end(kUnits)) {
      text = unit->text(value.get<double>());
      if (unit->end != "_rate") key.remove_suffix(unit->end.size());
    }
  }
  return {absl::StrReplaceAll(key, {{"_", " "}}), std::move(text)};
}

std::string MembersText(const Json& object) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : object.items()) {
    if (IsUnset(value)) continue;
    const Named named = NamedOf(key, value);
    parts.push_back(absl::StrCat(named.name, " ", named.text));
  }
  return absl::StrJoin(parts, ", ");
}

std::string TextOf(const Json& value) {
  if (value.is_string()) return dataplane::Printable(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) return NumberText(value);
  if (value.is_object()) return MembersText(value);
  std::vector<std::string> parts;
  for (const Json& item : value) parts.push_back(TextOf(item));
  return absl::StrJoin(parts, ", ");
}

// A list of objects has a row for each; its name stands in the first.
Rows RowsOf(const Json& object) {
  Rows rows;
  for (const auto& [key, value] : object.items()) {
    if (IsUnset(value)) continue;
    const Named named = NamedOf(key, value);
    if (!value.is_array() || !value.front().is_object()) {
      rows.push_back({named.name, named.text});
      continue;
    }
    for (const Json& item : value) {
      rows.push_back({item == value.front() ? named.name : "", TextOf(item)});
    }
  }
  return rows;
}

void AddIfAny(Rows& rows, const char* name, const std::string& text) {
  if (!text.empty()) rows.push_back({name, dataplane::Printable(text)});
}

}  // namespace

Rows FieldsOf(const Lun& lun) { return RowsOf(ToJson(lun)); }
Rows FieldsOf(const Channel& channel) { return RowsOf(ToJson(channel)); }

Rows FieldsOf(const Stream& stream) {
  const model::Origin& origin = stream.segments.front().origin;
  Json object = ToJson(stream);
  object["origin"] = model::OriginText(origin);
  if (stream.segmented) object["kept"] = KeptText(stream);
  Rows rows = RowsOf(object);
  AddIfAny(rows, "original cause", origin.original_cause);
  AddIfAny(rows, "metadata", origin.metadata);
  return rows;
}

Rows FieldsOf(const Job& job) {
  Json object = ToJson(job);
  object["notes"] = model::TextsOf(job.notes);
  return RowsOf(object);
}

}  // namespace tapedeck::services::tapectl
