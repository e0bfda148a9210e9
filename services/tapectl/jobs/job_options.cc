#include "services/tapectl/jobs/job_options.h"

#include "dataplane/status_macros.h"
#include "services/tapectl/jobs/stage_option.h"
#include "services/tapectl/program/field_options.h"

namespace tapedeck::services::tapectl {

void AddJobOptions(Command command, JobOptions& options) {
  const Option fft =
      command.AddOption("--fft", options.fft_points, "Points of the FFT, 2 to 65536; default none");
  command
      .AddOption("--transform", options.transforms,
                 "Transform of the worker, e.g. fft:points=1024; repeat it for more, in this order")
      .OneEach()
      .Check([](const std::string& text) { return ParseStage(text).status(); }, kStageForm)
      .Excludes(fft);
  AddFieldOptions(command, Purpose::kCreate, options.transfer);
  command.AddFlag("--detach", options.detach,
                  "Start the job and return; tapectl jobs attach follows it");
}

absl::Status AddStages(const std::vector<std::string>& texts, std::vector<StageSpec>& stages) {
  for (const std::string& text : texts) {
    TD_ASSIGN_OR_RETURN(stages.emplace_back(), ParseStage(text));
  }
  return absl::OkStatus();
}

absl::Status AddTransforms(const JobOptions& options, std::vector<StageSpec>& stages) {
  if (options.fft_points != 0) stages.push_back({"fft", {{"points", options.fft_points}}});
  return AddStages(options.transforms, stages);
}

absl::Status LeaveOrFollow(Program& program, InterruptWatch& interrupt, client::JobsClient& jobs,
                           const std::vector<Job>& started, const JobOptions& options,
                           Impatience impatience) {
  if (options.detach) {
    Leave(program, started);
    return absl::OkStatus();
  }
  TD_ASSIGN_OR_RETURN(const std::vector<Job> ended,
                      Follow(program, interrupt, jobs, started, impatience));
  return Conclude(program, ended);
}

}  // namespace tapedeck::services::tapectl
