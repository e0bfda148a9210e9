#include "services/session/serving/phases.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::session {
namespace {

struct PhaseLimit {
  Phase phase;
  int64_t limit_ns;
  const char* name;
  const char* what;  // did not happen
  const char* reason = "SESSION_STALLED";
};

constexpr PhaseLimit kPhaseLimits[] = {
    {Phase::kOpen, kOpenDeadlineNs, "open", "the worker has not opened the session"},
    {Phase::kAdmit, kAdmitNs, "admit",
     "the LUN's disks and this machine's memory have made no progress for the session",
     "LUN_NOT_RESPONDING"},
    {Phase::kConnect, kConnectPhaseNs, "connect", "the worker has connected no rail"},
    {Phase::kRest, kRestNs, "rest", "blocks that the worker had counted did not come"},
    {Phase::kConsume, kConsumeNs, "consume", "the worker has not confirmed the blocks it was sent"},
};

absl::Status PhaseOver(const PhaseLimit& limit, const std::string& at) {
  const std::string seconds = absl::StrCat(limit.limit_ns / dataplane::kSecondNs);
  return WithReason(
      absl::DeadlineExceededError(absl::StrCat(limit.what, " in ", seconds, " s",
                                               at.empty() ? "" : absl::StrCat(": ", at))),
      limit.reason, {{"phase", limit.name}, {"seconds", seconds}});
}

}  // namespace

absl::Status PhaseWatch::Look(const PhaseState& state, int64_t now_ns) {
  if (state.phase != last_.phase || state.done != last_.done) entered_ns_ = now_ns;
  if (state.phase == Phase::kAdmit) heard_ns_ = now_ns;  // it waits for this end
  last_ = state;
  for (const PhaseLimit& limit : kPhaseLimits) {
    if (limit.phase == state.phase && now_ns - entered_ns_ >= limit.limit_ns) {
      return PhaseOver(limit, state.at);
    }
  }
  if (state.rail_up || now_ns - heard_ns_ < kSilenceNs) return absl::OkStatus();
  return PeerLost("worker", absl::StrCat("the worker has no rail up and has said nothing for ",
                                         kSilenceNs / dataplane::kSecondNs, " s"));
}

}  // namespace tapedeck::services::session
