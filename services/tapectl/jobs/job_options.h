// What the commands share that start a job: its stages, its ring, and whether they wait for its
// end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/model/job_spec.h"
#include "services/model/words/stage_spec.h"
#include "services/model/words/update.h"
#include "services/rpc/client/jobs_client.h"
#include "services/tapectl/jobs/follow.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/program/program.h"
#include "services/tapectl/terminal/interrupt.h"

namespace tapedeck::services::tapectl {

// What an interrupt says before there is a job to cancel.
inline constexpr char kWhileAsking[] =
    "tapectl: interrupted while starting a job; tapectl jobs list shows whether it runs";

struct JobOptions {
  StageSpec end;            // source or sink
  uint64_t fft_points = 0;  // 0: none
  std::vector<std::string> transforms;
  std::string device;
  model::Update<TransferSpec> transfer;
  bool detach = false;
};

// All but the end and the device, whose words depend on the command.
void AddJobOptions(Command command, JobOptions& options);

// What the texts say, behind what is there.
absl::Status AddStages(const std::vector<std::string>& texts, std::vector<StageSpec>& stages);
absl::Status AddTransforms(const JobOptions& options, std::vector<StageSpec>& stages);

// Prints how to get at the jobs, or follows them to their ends.
absl::Status LeaveOrFollow(Program& program, InterruptWatch& interrupt, client::JobsClient& jobs,
                           const std::vector<Job>& started, const JobOptions& options,
                           Impatience impatience);

}  // namespace tapedeck::services::tapectl
