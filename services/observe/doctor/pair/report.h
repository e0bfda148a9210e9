// What is known of the two nodes of a pair, and the checks that need both. To add one: a file, its
// line here and in list.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/observe/doctor/finding.h"

namespace tapedeck::services::doctor::pair {

// How far a node's clock is ahead of the asker's, give or take.
struct ClockOffset {
  int64_t offset_ns = 0;
  int64_t uncertainty_ns = 0;
};

// A question for the time: when it was asked and answered here, and what the node said.
struct RoundTrip {
  int64_t asked_ns = 0;
  int64_t answered_ns = 0;
  int64_t node_ns = 0;
};

// Of the quickest of them: the node has read its clock at some time between the two ends, so the
// middle is wrong by half the way at most. None of none.
std::optional<ClockOffset> OffsetOf(const std::vector<RoundTrip>& round_trips);

struct NodeReport {
  std::string role;  // "storage" or "worker"
  uint32_t protocol_version = 0;
  std::vector<RailFacts> rails;
  std::optional<ClockOffset> clock;
};

// Of the second against the first; none if one is not known.
std::optional<ClockOffset> OffsetBetween(const NodeReport& first, const NodeReport& second);

Findings CheckPair(const NodeReport& storage, const NodeReport& worker);

void CheckVersions(const NodeReport& storage, const NodeReport& worker, Findings& findings);
void CheckRails(const NodeReport& storage, const NodeReport& worker, Findings& findings);
void CheckSubnets(const NodeReport& storage, const NodeReport& worker, Findings& findings);
void CheckPorts(const NodeReport& storage, const NodeReport& worker, Findings& findings);
void CheckClocks(const NodeReport& storage, const NodeReport& worker, Findings& findings);

// A rail of both, as each has it.
struct SharedRail {
  const RailFacts& storage;
  const RailFacts& worker;
};

// Those of one name and transport.
std::vector<SharedRail> SharedRails(const NodeReport& storage, const NodeReport& worker);

}  // namespace tapedeck::services::doctor::pair
