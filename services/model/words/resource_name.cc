#include "services/model/words/resource_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::services::model {
namespace {

constexpr size_t kMaxIdBytes = 63;

absl::Status BadName(absl::string_view name, absl::string_view problem) {
  // A hostile name may be long and not UTF-8, which a status message must be.
  const std::string shown = absl::CHexEscape(name.substr(0, 200));
  return NameInvalid(shown, absl::StrCat("name \"", shown, "\": ", problem));
}

bool IsIdByte(char c) { return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-'; }

std::string FormOf(const std::vector<absl::string_view>& collections) {
  std::string out;
  for (const absl::string_view collection : collections) {
    const absl::string_view noun = collection.substr(0, collection.size() - 1);
    absl::StrAppend(&out, out.empty() ? "" : "/", collection, "/{", noun, "}");
  }
  return out;
}

}  // namespace

absl::Status CheckId(absl::string_view id) {
  if (id.empty() || id.size() > kMaxIdBytes || !absl::ascii_isalnum(id[0]) ||
      !std::all_of(id.begin(), id.end(), IsIdByte)) {
    return BadName(id, "must be 1 to 63 of [A-Za-z0-9._-], the first of them a letter or a digit");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ParseName(
    absl::string_view name, const std::vector<absl::string_view>& collections, Wildcard wildcard) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  bool fits = parts.size() == 2 * collections.size();
  for (size_t i = 0; fits && i < collections.size(); ++i) fits = parts[2 * i] == collections[i];
  if (!fits) return BadName(name, absl::StrCat("must have the form ", FormOf(collections)));

  std::vector<std::string> ids;
  for (size_t i = 1; i < parts.size(); i += 2) {
    const bool any = wildcard == Wildcard::kAllowed && parts[i] == "-";
    if (!any) TD_RETURN_IF_ERROR(CheckId(parts[i]));
    ids.push_back(parts[i]);
  }
  return ids;
}

absl::Status CheckLunName(absl::string_view name, Wildcard wildcard) {
  return ParseName(name, {"luns"}, wildcard).status();
}

absl::Status CheckChannelName(absl::string_view name, Wildcard wildcard) {
  return ParseName(name, {"luns", "channels"}, wildcard).status();
}

absl::Status CheckRecordingName(absl::string_view name) {
  return ParseName(name, {"luns", "channels", "recordings"}).status();
}

absl::Status CheckJobName(absl::string_view name) { return ParseName(name, {"jobs"}).status(); }

// `text` is a full name already if it starts with the first collection.
absl::StatusOr<std::string> ExpandName(const std::string& text,
                                       const std::vector<absl::string_view>& collections) {
  std::string name = text;
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  if (parts.size() == collections.size()) {
    name.clear();
    for (size_t i = 0; i < parts.size(); ++i) {
      absl::StrAppend(&name, i == 0 ? "" : "/", collections[i], "/", parts[i]);
    }
  }
  TD_RETURN_IF_ERROR(ParseName(name, collections).status());
  return name;
}

}  // namespace tapedeck::services::model
