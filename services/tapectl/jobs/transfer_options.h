// What the commands record and play take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/model/job_spec.h"
#include "services/model/playhead.h"
#include "services/model/words/timing.h"
#include "services/tapectl/jobs/group_jobs.h"
#include "services/tapectl/jobs/job_options.h"

namespace tapedeck::services::tapectl {

// What both share.
struct TransferOptions : JobOptions {
  std::string name;
  std::vector<std::string> rails;
  std::optional<dataplane::TransferOp> op;
};

struct RecordOptions : TransferOptions {
  model::Update<RecordSpec> record;
  std::vector<std::string> standbys;
  std::optional<uint64_t> seed;
  bool loop = false;
  std::string to;    // inlet of another worker; empty: none
  std::string also;  // channel; empty: none
  std::vector<std::string> also_transforms;
  GroupOptions group;
};

struct PlayOptions : TransferOptions {
  std::optional<uint64_t> segment;
  bool replace = false;
  model::Playhead playhead;
  model::Pacing pacing;
  bool loop = false;
  GroupOptions group;
};

}  // namespace tapedeck::services::tapectl
