#include "services/tapectl/failure.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/printable.h"
#include "services/errors.h"

namespace tapedeck::services::tapectl {
namespace {

absl::string_view RemedyOf(absl::string_view what, absl::string_view reason) {
  const auto* found =
      std::find_if(std::begin(kRemedies), std::end(kRemedies), [&](const Remedy& remedy) {
        const std::vector<absl::string_view> commands = absl::StrSplit(remedy.commands, ", ");
        return remedy.reason == reason &&
               (remedy.commands.empty() || std::ranges::find(commands, what) != commands.end());
      });
  return found == std::end(kRemedies) ? "" : found->text;
}

}  // namespace

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
  std::string line = absl::StrCat("tapectl: ", what, ": ", dataplane::Printable(status.message()));
  if (reason.has_value()) {
    absl::StrAppend(&line, " [", reason->reason, "]");
    const absl::string_view remedy = RemedyOf(what, reason->reason);
    if (!remedy.empty()) absl::StrAppend(&line, " — ", remedy);
  } else {
    absl::StrAppend(&line, " [", absl::StatusCodeToString(status.code()), "]");
  }
  return line;
}

}  // namespace tapedeck::services::tapectl
