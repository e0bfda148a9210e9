#include "services/session/opening/loss.h"

#include <algorithm>
#include <array>

#include "absl/strings/string_view.h"
#include "services/base/errors.h"

namespace tapedeck::services::session {
namespace {

constexpr std::array<absl::string_view, 5> kLosses = {
    "PEER_LOST", "NODE_UNREACHABLE", "ALL_RAILS_DOWN", "SESSION_STALLED", "DRAINING"};

constexpr std::array<absl::string_view, 5> kPassing = {
    "RAIL_UNREACHABLE", "LUN_OFFLINE", "LUN_NOT_RESPONDING", "RECORDING_BUSY", "LIMIT_REACHED"};

constexpr std::array<absl::string_view, 4> kElsewhere = {"STORE_IO", "LUN_NOT_FOUND",
                                                         "CHANNEL_NOT_FOUND", "MEMBER_UNUSABLE"};

template <size_t kSize>
bool IsOneOf(const absl::Status& status, const std::array<absl::string_view, kSize>& reasons) {
  const auto reason = ReasonOf(status);
  return reason.has_value() && std::ranges::find(reasons, reason->reason) != reasons.end();
}

}  // namespace

std::optional<std::string> WhyRefused(const absl::Status& refusal) {
  const auto reason = ReasonOf(refusal);
  if (!reason.has_value() || reason->reason != "RESUME_REFUSED") return std::nullopt;
  const auto why = reason->metadata.find("why");
  return why == reason->metadata.end() ? "" : why->second;
}

bool IsLoss(const absl::Status& cause) { return IsOneOf(cause, kLosses); }

bool MayBeElsewhere(const absl::Status& cause) { return IsOneOf(cause, kElsewhere); }

bool MayPass(const absl::Status& refusal) { return IsLoss(refusal) || IsOneOf(refusal, kPassing); }

}  // namespace tapedeck::services::session
