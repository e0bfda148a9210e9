#include "services/signal/sigmf/metadata.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "services/base/errors.h"
#include "services/model/recording/recording.h"
#include "services/signal/sigmf/core_keys.h"
#include "services/signal/sigmf/counted.h"
#include "services/signal/sigmf/text.h"

namespace tapedeck::services::sigmf {

using nlohmann::json;

namespace {

constexpr size_t kMaxVersionBytes = 32;

// What the recording has fields for, or the data file alone.
bool IsUsed(const std::string& key, const json& value) {
  static constexpr const char* kKeys[] = {"core:datatype", "core:version",       "core:sample_rate",
                                          "core:dataset",  "core:num_channels",  "core:offset",
                                          "core:sha512",   "core:trailing_bytes"};
  if (key == "core:recorder") return value == "Tapedeck";
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

// The extensions of others. Before the specification 1.0 they were an object of versions by names.
json OthersOf(const json& extensions, model::Notes* notes) {
  json others = json::array();
  Counted needed;
  for (const auto& [key, value] : extensions.items()) {
    json one = value;
    if (extensions.is_object()) one = {{"name", key}, {"version", value}, {"optional", true}};
    const json name = one.is_object() ? one.value("name", json()) : json();
    if (name == "tapedeck") continue;
    if (one.is_object() && one.value("optional", json()) == false) {
      needed.Add(name.is_string() ? name.get<std::string>() : Dumped(name));
    }
    others.push_back(std::move(one));
  }
  needed.Tell("SIGMF_EXTENSIONS_KEPT",
              "extensions are required by the file, and Tapedeck only keeps their keys", notes);
  return others;
}

// Of the first number of a version the meaning of keys may change.
void NoteVersion(absl::string_view version, model::Notes* notes) {
  int major = 0;
  if (!absl::SimpleAtoi(version.substr(0, version.find('.')), &major) || major <= 1) return;
  const std::string shown = dataplane::Printable(version, kMaxVersionBytes);
  notes->push_back(MakeNote(
      "SIGMF_VERSION", absl::StrCat("global.core:version: \"", shown, "\" is read as ", kVersion),
      {{"version", shown}, {"read_as", std::string(kVersion)}}));
}

}  // namespace

std::string Dumped(const json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

absl::StatusOr<std::string> MetadataOf(const SigmfRecording& meta, model::Notes* notes) {
  json object = json::object();
  for (const auto& [key, value] : meta.object.items()) {
    if (key != "captures" && key != "annotations" && key != "global") object[key] = value;
  }
  json global = json::object();
  Counted own;
  for (const auto& [key, value] : meta.object.at("global").items()) {
    const bool is_own = absl::StartsWith(key, kOwnKey);
    if (is_own) own.Add(key);
    if (!is_own && !IsUsed(key, value)) global[key] = value;
  }
  own.Tell("SIGMF_OWN_KEYS", "keys describe the recording that Tapedeck exported and are left out",
           notes);
  NoteVersion(TextIn(meta.object.at("global"), "core:version").value_or(""), notes);
  if (const auto list = global.find("core:extensions"); list != global.end()) {
    *list = OthersOf(*list, notes);
    if (list->empty()) global.erase(list);
  }
  if (!global.empty()) object["global"] = std::move(global);
  std::string text = object.empty() ? "" : Dumped(object);
  if (text.size() <= model::kMaxOriginMetadataBytes) return text;
  return LimitReached(
      model::kMaxOriginMetadataBytes, "bytes of metadata",
      absl::StrCat(meta.path, ": its \"global\" has ", text.size(),
                   " bytes that are neither captures nor annotations; a recording keeps ",
                   model::kMaxOriginMetadataBytes, ": shorten the longest of its values"));
}

}  // namespace tapedeck::services::sigmf
