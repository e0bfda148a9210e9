#include "services/tapectl/jobs/watch_to_end.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/reason.h"
#include "services/rpc/limits.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr absl::Duration kBetweenTries = absl::Milliseconds(200);
// A worker may have been silent for so long when its connection breaks.
constexpr absl::Duration kSilence = absl::Milliseconds(kKeepaliveTimeMs + kKeepaliveTimeoutMs);

// The worker has ended: no patience brings its jobs back.
bool IsRefused(const absl::Status& status) {
  return absl::StrContains(status.message(), "Connection refused");
}

absl::Status OutOfSight(const Program& program, const std::string& name,
                        const absl::Status& status) {
  return dataplane::Prefixed(
      absl::StrCat(name, " may go on without tapectl; follow it with: tapectl --worker ",
                   program.worker, " jobs attach ", name, "; cause: "),
      status);
}

}  // namespace

absl::StatusOr<Job> WatchToEnd(const Program& program, client::JobsClient& jobs,
                               const std::string& name, dataplane::Deadline deadline,
                               const std::function<void(const Job&)>& report) {
  std::optional<dataplane::Deadline> patience;
  while (true) {
    const auto last = jobs.WatchJob(name, deadline.left(), [&](const Job& now) {
      patience.reset();
      report(now);
    });
    if (!absl::IsUnavailable(last.status())) return last;
    if (!patience.has_value()) {
      patience = dataplane::Deadline::In(program.call_timeout() - kSilence);
    }
    if (IsRefused(last.status()) || patience->passed()) {
      return OutOfSight(program, name, last.status());
    }
    absl::SleepFor(kBetweenTries);
  }
}

}  // namespace tapedeck::services::tapectl
