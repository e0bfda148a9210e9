#include "services/base/config/fault.h"

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "services/base/errors.h"

namespace tapedeck::services::config {

std::string PlaceText(const Place& place) {
  std::string text(place.file);
  if (place.line > 0) absl::StrAppend(&text, ":", place.line);
  if (!place.path.empty()) absl::StrAppend(&text, ": ", place.path);
  return text;
}

absl::Status Fault(const Place& place, absl::string_view why) {
  return ArgumentInvalid(place.path, absl::StrCat(PlaceText(place), ": ", why));
}

std::string Quoted(absl::string_view text) {
  constexpr size_t kMost = 64;
  return absl::StrCat("\"", dataplane::Printable(text, kMost), "\"");
}

Place Places::Of(const std::string& path) const {
  const auto line = lines_.find(path);
  return {file_, line == lines_.end() ? 0 : line->second, path};
}

}  // namespace tapedeck::services::config
