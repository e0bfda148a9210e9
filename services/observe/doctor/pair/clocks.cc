// How far the nodes' clocks are apart.
#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_format.h"
#include "services/observe/doctor/pair/report.h"

namespace tapedeck::services::doctor::pair {
namespace {

// Clocks that are kept by NTP agree better than that; what is marked in one node's time is then
// found in the other's.
constexpr int64_t kMostApartNs = 50'000'000;

}  // namespace

std::optional<ClockOffset> OffsetOf(const std::vector<RoundTrip>& round_trips) {
  const auto length = [](const RoundTrip& trip) { return trip.answered_ns - trip.asked_ns; };
  const auto quickest = std::ranges::min_element(round_trips, {}, length);
  if (quickest == round_trips.end()) return std::nullopt;
  const int64_t half_ns = length(*quickest) / 2;
  return ClockOffset{.offset_ns = quickest->node_ns - (quickest->asked_ns + half_ns),
                     .uncertainty_ns = half_ns + 1};
}

std::optional<ClockOffset> OffsetBetween(const NodeReport& first, const NodeReport& second) {
  if (!first.clock.has_value() || !second.clock.has_value()) return std::nullopt;
  return ClockOffset{.offset_ns = second.clock->offset_ns - first.clock->offset_ns,
                     .uncertainty_ns = first.clock->uncertainty_ns + second.clock->uncertainty_ns};
}

void CheckClocks(const NodeReport& storage, const NodeReport& worker, Findings& findings) {
  const auto offset = OffsetBetween(storage, worker);
  if (!offset.has_value()) return;
  if (std::abs(offset->offset_ns) - offset->uncertainty_ns <= kMostApartNs) return;
  findings.push_back(
      Found("CLOCKS_DIFFER",
            absl::StrFormat("the worker's clock is %.3f s %s the storage node's (± %.3f s)",
                            std::abs(static_cast<double>(offset->offset_ns)) / 1e9,
                            offset->offset_ns > 0 ? "ahead of" : "behind",
                            static_cast<double>(offset->uncertainty_ns) / 1e9)));
}

}  // namespace tapedeck::services::doctor::pair
