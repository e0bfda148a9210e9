#include "services/signal/sigmf/core_keys.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"

namespace tapedeck::services::sigmf {
namespace {

using nlohmann::json;

constexpr double kMostCoreHertz = 1e12;
constexpr size_t kShaDigits = 128;
constexpr size_t kMaxValueBytes = 64;

enum class Kind { kText, kCount, kPositive, kRate, kHertz, kFlag, kObject, kExtensions, kSha };

struct Key {
  const char* name;
  Kind kind;
};

constexpr Key kGlobal[] = {{"core:datatype", Kind::kText},
                           {"core:version", Kind::kText},
                           {"core:sample_rate", Kind::kRate},
                           {"core:author", Kind::kText},
                           {"core:collection", Kind::kText},
                           {"core:dataset", Kind::kText},
                           {"core:data_doi", Kind::kText},
                           {"core:description", Kind::kText},
                           {"core:hw", Kind::kText},
                           {"core:license", Kind::kText},
                           {"core:metadata_only", Kind::kFlag},
                           {"core:meta_doi", Kind::kText},
                           {"core:num_channels", Kind::kPositive},
                           {"core:offset", Kind::kCount},
                           {"core:recorder", Kind::kText},
                           {"core:sha512", Kind::kSha},
                           {"core:trailing_bytes", Kind::kCount},
                           {"core:geolocation", Kind::kObject},
                           {"core:extensions", Kind::kExtensions}};
constexpr Key kCaptures[] = {
    {"core:sample_start", Kind::kCount}, {"core:datetime", Kind::kText},
    {"core:frequency", Kind::kHertz},    {"core:global_index", Kind::kCount},
    {"core:header_bytes", Kind::kCount}, {"core:geolocation", Kind::kObject}};
constexpr Key kAnnotations[] = {{"core:sample_start", Kind::kCount},
                                {"core:sample_count", Kind::kCount},
                                {"core:freq_lower_edge", Kind::kHertz},
                                {"core:freq_upper_edge", Kind::kHertz},
                                {"core:label", Kind::kText},
                                {"core:comment", Kind::kText},
                                {"core:description", Kind::kText},
                                {"core:generator", Kind::kText},
                                {"core:uuid", Kind::kText}};

// Some writers have all numbers as floats.
std::optional<uint64_t> CountOf(const json& value) {
  if (value.is_number_unsigned()) {
    const auto count = value.get<uint64_t>();
    return count <= kMostSamples ? std::optional(count) : std::nullopt;
  }
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (!(number >= 0 && number <= static_cast<double>(kMostSamples))) return std::nullopt;
  if (number != std::floor(number)) return std::nullopt;
  return static_cast<uint64_t>(number);
}

// What it must be, as in "is no string"; empty: it is.
std::string ProblemOf(Kind kind, const json& value) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  switch (kind) {
    case Kind::kText:
      return value.is_string() ? "" : "is not a string";
    case Kind::kCount:
      return CountOf(value).has_value() ? "" : "is not a whole number from 0 to 2^58";
    case Kind::kPositive:
      return CountOf(value).value_or(0) > 0 ? "" : "is not a whole number above 0";
    case Kind::kRate:
      return number > 0 && number <= kMostCoreHertz ? "" : "is not a rate above 0 and up to 1e12";
    case Kind::kHertz:
      return std::abs(number) <= kMostCoreHertz ? "" : "is not a frequency from -1e12 to 1e12";
    case Kind::kFlag:
      return value.is_boolean() ? "" : "is neither true nor false";
    case Kind::kObject:
      return value.is_object() ? "" : "is not an object";
    case Kind::kExtensions:  // before the specification 1.0 names and versions
      return value.is_array() || value.is_object() ? "" : "is not a list";
    case Kind::kSha: {
      if (!value.is_string()) return "is not a string";
      const auto& text = value.get_ref<const std::string&>();
      const bool digits = text.size() == kShaDigits && absl::c_all_of(text, absl::ascii_isxdigit);
      return digits ? "" : "is not a SHA-512 of 128 hex digits";
    }
  }
  return "";
}

absl::Status Wrong(const std::string& path, const std::string& place, const json& value,
                   absl::string_view why) {
  const std::string shown = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return files::Invalid(
      path, absl::StrCat(place, ": ", dataplane::Printable(shown, kMaxValueBytes), " ", why));
}

absl::Status CheckObject(const std::string& path, const std::string& place, const json& object,
                         std::span<const Key> keys) {
  if (!object.is_object()) return Wrong(path, place, object, "is not an object");
  for (const Key& key : keys) {
    const auto found = object.find(key.name);
    if (found == object.end() || found->is_null()) continue;
    const std::string problem = ProblemOf(key.kind, *found);
    if (problem.empty()) continue;
    return Wrong(path, absl::StrCat(place, ".", key.name), *found, problem);
  }
  return absl::OkStatus();
}

absl::Status CheckList(const std::string& path, const char* name, const json& object,
                       std::span<const Key> keys) {
  const auto list = object.find(name);
  if (list == object.end() || list->is_null()) return absl::OkStatus();
  if (!list->is_array()) return Wrong(path, name, *list, "is not a list");
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string place = absl::StrCat(name, "[", i, "]");
    TD_RETURN_IF_ERROR(CheckObject(path, place, (*list)[i], keys));
    if (CountIn((*list)[i], "core:sample_start").has_value()) continue;
    return files::Invalid(path, absl::StrCat(place, ": core:sample_start is missing"));
  }
  return absl::OkStatus();
}

// What is added to it for the samples does not overflow.
constexpr int64_t kLatestNs = int64_t{1} << 62;
constexpr int64_t kSecondNs = 1'000'000'000;

}  // namespace

absl::Status CheckCoreKeys(const std::string& path, const json& object) {
  const auto global = object.find("global");
  if (global == object.end()) return files::Invalid(path, "no object \"global\"");
  TD_RETURN_IF_ERROR(CheckObject(path, "global", *global, kGlobal));
  TD_RETURN_IF_ERROR(CheckList(path, "captures", object, kCaptures));
  TD_RETURN_IF_ERROR(CheckList(path, "annotations", object, kAnnotations));
  if (TextIn(*global, "core:datatype").has_value()) return absl::OkStatus();
  return files::Invalid(path, "global: core:datatype is missing");
}

std::optional<uint64_t> CountIn(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::nullopt : CountOf(*found);
}

std::optional<double> NumberIn(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<std::string> TextIn(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<Datetime> ParseDatetime(std::string text) {
  constexpr char kWithoutZone[] = "%Y-%m-%d%ET%H:%M:%E*S";
  constexpr size_t kDateBytes = 10;
  if (text.size() > kDateBytes && text[kDateBytes] == ' ') text[kDateBytes] = 'T';
  std::ranges::replace(text, ',', '.');
  Datetime out;
  constexpr size_t kSecondsAt = 17;
  out.leap = text.size() >= kSecondsAt + 2 && text.compare(kSecondsAt, 2, "60") == 0;
  if (out.leap) text.replace(kSecondsAt, 2, "59");  // else absl drops its fraction
  absl::Time time;
  out.zoned = absl::ParseTime(absl::RFC3339_full, text, &time, nullptr);
  if (!out.zoned && !absl::ParseTime(kWithoutZone, text, absl::UTCTimeZone(), &time, nullptr)) {
    return std::nullopt;
  }
  if (time >= absl::FromUnixNanos(kLatestNs) || time <= absl::FromUnixNanos(-kLatestNs)) {
    return std::nullopt;
  }
  out.time_ns = absl::ToUnixNanos(time) + (out.leap ? kSecondNs : 0);
  out.grain_ns = kSecondNs;
  for (size_t at = text.find('.') + 1; at > 0 && at < text.size() && absl::ascii_isdigit(text[at]);
       ++at) {
    out.grain_ns = std::max<int64_t>(out.grain_ns / 10, 1);
  }
  return out;
}

}  // namespace tapedeck::services::sigmf
