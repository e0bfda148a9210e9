#include "services/tapectl/terminal/failure.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dataplane/printable.h"
#include "services/base/files/errors.h"
#include "services/site/names.h"

namespace tapedeck::services::tapectl {
namespace {

bool Lists(absl::string_view commands, absl::string_view command) {
  const std::vector<absl::string_view> all = absl::StrSplit(commands, ", ");
  return std::ranges::find(all, command) != all.end();
}

bool Holds(const ErrorReason& reason, absl::string_view wanted) {
  const std::pair<std::string, std::string> entry = absl::StrSplit(wanted, absl::MaxSplits('=', 1));
  const auto it = reason.metadata.find(entry.first);
  return it != reason.metadata.end() && (entry.second.empty() || entry.second == it->second);
}

// "record" is not named by "tapectl recordings delete".
bool Names(absl::string_view text, absl::string_view command) {
  const std::string words = absl::StrCat("tapectl ", command);
  for (size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1)) {
    const size_t end = at + words.size();
    if (end == text.size() || !absl::ascii_isalpha(text[end])) return true;
  }
  return false;
}

// As the user knows it: by options, and of his own Ctrl-C.
std::string MessageOf(const std::string& command, const absl::Status& status,
                      const std::optional<ErrorReason>& reason) {
  std::string message(status.message());
  if (!reason.has_value()) return message;
  if (reason->reason == "JOB_CANCELLED" && !reason->metadata.contains("job")) {
    return absl::StrReplaceAll(message, {{"the job was cancelled", "it was interrupted"}});
  }
  const auto field = reason->metadata.find("field");
  if (reason->reason != "ARGUMENT_INVALID" || field == reason->metadata.end()) return message;
  if (field->second == "update_mask") return "nothing to change: give at least one option";
  for (const OptionOfField& one : kOptionsOfFields) {
    absl::string_view rest = message;
    if (one.field != field->second || !Lists(one.commands, command)) continue;
    if (!absl::ConsumePrefix(&rest, one.field) || rest.find_first_of(" :") != 0) continue;
    return absl::StrCat(one.option, rest);
  }
  return message;
}

bool Fits(const Remedy& remedy, absl::string_view command, const ErrorReason& reason, Side side) {
  return remedy.reason == reason.reason && (remedy.side == Side::kAny || remedy.side == side) &&
         (remedy.commands.empty() ||
          std::ranges::find(remedy.commands, command) != remedy.commands.end()) &&
         (remedy.metadata.empty() || Holds(reason, remedy.metadata));
}

}  // namespace

absl::string_view RemedyOf(absl::string_view command, const ErrorReason& reason, Side side) {
  const auto found = std::ranges::find_if(
      Remedies(), [&](const Remedy& remedy) { return Fits(remedy, command, reason, side); });
  if (found == Remedies().end() || Names(found->text, command)) return "";
  return found->text;
}

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kInvalidArgument:
      return 2;
    case absl::StatusCode::kNotFound:
      return 3;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return 4;
    case absl::StatusCode::kUnavailable:
      return 5;
    case absl::StatusCode::kDeadlineExceeded:
      return 124;
    default:
      return 1;
  }
}

std::string FailureLine(const std::string& what, const absl::Status& status) {
  const auto reason = ReasonOf(status);
  const std::string message =
      WithShortNames(MessageOf(what, status, reason), !files::IsHere(status));
  std::string line = absl::StrCat("tapectl: ", what, ": ", dataplane::Printable(message));
  if (reason.has_value()) {
    absl::StrAppend(&line, " [", reason->reason, "]");
    const Side side = files::IsHere(status) ? Side::kHere : Side::kNode;
    const absl::string_view remedy = RemedyOf(what, *reason, side);
    const bool said = absl::StrContains(message, absl::StripPrefix(remedy, "see "));
    if (!remedy.empty() && !said) absl::StrAppend(&line, " — ", remedy);
  } else {
    absl::StrAppend(&line, " [", absl::StatusCodeToString(status.code()), "]");
  }
  return line;
}

}  // namespace tapedeck::services::tapectl
