#include "services/observe/doctor/finding.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::doctor {

Finding Found(CodeId code, std::string what) {
  return Found(code, code->severity, std::move(what));
}

Finding Found(CodeId code, Severity severity, std::string what) {
  return {.code = std::string(code->name),
          .severity = severity,
          .what = std::move(what),
          .why = std::string(code->why),
          .fix = std::string(code->fix)};
}

Finding FoundError(const absl::Status& error, CodeId otherwise, absl::string_view what) {
  const std::string text = absl::StrCat(what, ": ", error.message());
  const auto reason = ReasonOf(error);
  for (size_t i = 0; reason.has_value() && i < kCodes.size(); ++i) {
    if (kCodes[i].name == reason->reason) {
      return Found(CodeId::Listed(i), text);
    }
  }
  return Found(otherwise, text);
}

void SortByWorst(Findings& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
}

std::optional<Severity> WorstOf(const Findings& findings) {
  std::optional<Severity> worst;
  for (const Finding& finding : findings) {
    worst = std::max(worst.value_or(finding.severity), finding.severity);
  }
  return worst;
}

}  // namespace tapedeck::services::doctor
