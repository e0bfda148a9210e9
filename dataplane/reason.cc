#include "dataplane/reason.h"

#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tapedeck::dataplane {
namespace {

// Lines: the reason, then key=value, each C-escaped so that a value may hold a line end.
constexpr char kPayloadUrl[] = "tapedeck.v1/ErrorInfo";

// With the payloads of `from`.
absl::Status Like(const absl::Status& from, absl::StatusCode code, absl::string_view text) {
  absl::Status out(code, text);
  from.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { out.SetPayload(url, payload); });
  return out;
}

}  // namespace

absl::Status WithReason(absl::Status status, absl::string_view reason,
                        std::map<std::string, std::string> metadata) {
  std::string text(reason);
  for (const auto& [key, value] : metadata) {
    absl::StrAppend(&text, "\n", key, "=", absl::CEscape(value));
  }
  status.SetPayload(kPayloadUrl, absl::Cord(text));
  return status;
}

std::optional<ErrorReason> ReasonOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return std::nullopt;
  const std::vector<std::string> lines = absl::StrSplit(std::string(*payload), '\n');
  ErrorReason out{.reason = lines[0]};
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::pair<std::string, std::string> entry =
        absl::StrSplit(lines[i], absl::MaxSplits('=', 1));
    absl::CUnescape(entry.second, &out.metadata[entry.first]);
  }
  return out;
}

absl::Status Prefixed(absl::string_view prefix, const absl::Status& status) {
  return Like(status, status.code(), absl::StrCat(prefix, std::string(status.message())));
}

absl::Status Recoded(absl::StatusCode code, const absl::Status& status) {
  return Like(status, code, status.message());
}

}  // namespace tapedeck::dataplane
