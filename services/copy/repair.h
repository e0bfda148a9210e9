// A recording of which two storage nodes have all blocks each (services/session/parts), made whole
// on both: a part that lacks some, or has damaged ones, is written anew from what both have. One
// thread that may wait.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/copy/part_state.h"

namespace tapedeck::services::copying {

struct RepairRequest {
  std::array<PartNode, 2> nodes;
  std::string name;          // luns/L/channels/C/recordings/R, on both
  uint64_t bytes_per_s = 0;  // as CopyRequest has it
  absl::Duration timeout;    // of each reading where blocks lie
  std::string state;         // folder where the checkpoint of a copy is kept; empty: nowhere
  bool only_look = false;    // nothing is changed
  bool leave_gaps = false;   // also where no part has a block whole: what is good of it goes
  // Called again and again: what is done on which node, bytes of blocks that are done, of all.
  // False ends it.
  std::function<bool(const std::string& step, uint64_t bytes, uint64_t all)> progress;
};

enum class PartFinding {
  kWhole,    // it has all that there is
  kDamaged,  // it lacks blocks that the other part has, or has bytes that are wrong
  kAbsent
};

struct RepairedPart {
  std::string node;
  PartFinding finding = PartFinding::kWhole;
  BlockSet damaged;  // of the stream
  BlockSet lacking;  // that the other part has and this one has not, without those
  bool repaired = false;
  std::string why_not;  // it could not be; empty: it was, or needs none
};

struct Repaired {
  std::string recording;
  uint64_t blocks = 0;  // of the stream, as far as any part knows
  BlockSet lost;        // damaged in one part, and whole in none
  std::array<RepairedPart, 2> parts;
};

// INVALID_ARGUMENT (ARGUMENT_INVALID): it is no recording of which each of two nodes has all;
// NOT_FOUND (RECORDING_NOT_FOUND): neither has it. CANCELLED (JOB_CANCELLED); what reading or
// recording fails with: parts that were whole are so still, and another call goes on. What cannot
// be mended since no part has it is told of in the result.
absl::StatusOr<Repaired> Repair(const RepairRequest& request);

}  // namespace tapedeck::services::copying
