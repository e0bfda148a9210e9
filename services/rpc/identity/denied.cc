#include "services/rpc/identity/denied.h"

#include "services/base/errors.h"

namespace tapedeck::services::identity {

absl::Status AccessDenied(const Denial& denial, absl::string_view text) {
  return WithReason(
      absl::PermissionDeniedError(text), "ACCESS_DENIED",
      {{"identity", denial.identity}, {"role", denial.role}, {"resource", denial.resource}});
}

bool IsAccessDenied(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() && reason->reason == "ACCESS_DENIED";
}

}  // namespace tapedeck::services::identity
