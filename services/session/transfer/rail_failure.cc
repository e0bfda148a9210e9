#include "services/session/transfer/rail_failure.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "dataplane/clock.h"
#include "dataplane/deadline.h"
#include "services/base/errors.h"

namespace tapedeck::services::session {

using dataplane::Link;

namespace {

// Back-off of a failed link: 1, 2, 4 … 60 s, so that a port that stays away for hours costs
// nothing. With no other rail there is nothing to spare: the grace period is running.
constexpr int64_t kFirstRetryNs = dataplane::kSecondNs;
constexpr int64_t kLastRetryNs = 60 * dataplane::kSecondNs;
constexpr int64_t kGraceRetryNs = 250 * dataplane::kMillisecondNs;

}  // namespace

int64_t RetryDelayNs(const Link& link, uint32_t failures, bool others_up) {
  const int64_t base = others_up
                           ? dataplane::BackoffAfter(failures + 1, kFirstRetryNs, kLastRetryNs)
                           : kGraceRetryNs;
  const uint32_t hash =
      (static_cast<uint32_t>(link.index()) * 40503u + link.generation()) * 2654435761u;
  return base * 3 / 4 + base / 2 * (hash >> 16) / 65536;
}

bool PortIsAway(const absl::Status& cause) {
  const auto reason = dataplane::ReasonOf(cause);
  return reason.has_value() &&
         (reason->reason == "PORT_DOWN" || reason->reason == "NO_ROCE_V2_GID");
}

absl::Status Unreachable(const Link& link, const absl::Status& cause) {
  if (ReasonOf(cause).has_value()) return cause;  // the transport knows better
  if (cause.code() == absl::StatusCode::kUnauthenticated) {
    return WithReason(cause, "TOKEN_INVALID", {{"rail", link.rail().name}});
  }
  return RailUnreachable(
      link.rail().name, link.rail().address,
      absl::StrCat(std::string(cause.message()),
                   "; check that both addresses are up and routed, or leave the rail out"));
}

}  // namespace tapedeck::services::session
