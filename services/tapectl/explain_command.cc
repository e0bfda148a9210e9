#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "services/tapectl/commands.h"
#include "services/tapectl/names.h"

namespace tapedeck::services::tapectl {
namespace {

bool IsJob(const std::string& text) {
  return absl::StartsWith(text, "jobs/") || std::ranges::all_of(text, absl::ascii_isdigit);
}

absl::Status PrintExplained(Program& program, const std::string& kind, const Explained& explained) {
  if (explained.explanation.stages.empty()) return StagesUnknown(kind, explained.name);
  program.Print(AnswerOf(explained),
                absl::StrCat(explained.name, explained.running ? ", which goes on\n" : "\n",
                             explain::TextOf(explained.explanation)));
  return absl::OkStatus();
}

absl::Status ExplainJob(Program& program, const std::string& text) {
  TD_ASSIGN_OR_RETURN(const std::string name, JobNameOf(text));
  const auto jobs = program.Jobs();
  TD_ASSIGN_OR_RETURN(const Job job, jobs->GetJob(name));
  return PrintExplained(program, "job",
                        {.name = job.name,
                         .direction = job.direction,
                         .running = job.end_time_ns == 0,
                         .explanation = explain::Explain(job.stage_times, job.direction)});
}

absl::Status ExplainRecording(Program& program, const std::string& text) {
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const std::string name, RecordingNameOf(text, *catalog));
  TD_ASSIGN_OR_RETURN(const Recording recording, catalog->GetRecording(name));
  constexpr auto kRecord = dataplane::Direction::kRecord;
  return PrintExplained(program, "recording",
                        {.name = recording.name,
                         .direction = kRecord,
                         .running = recording.state == RecordingState::kRecording,
                         .explanation = explain::Explain(recording.stage_times, kRecord)});
}

absl::Status Explain(Program& program, const NameOptions& options) {
  return IsJob(options.name) ? ExplainJob(program, options.name)
                             : ExplainRecording(program, options.name);
}

}  // namespace

void AddExplainCommand(Command tapectl, Program& program) {
  auto options = std::make_shared<NameOptions>();
  const Command command =
      tapectl.AddCommand("explain", "Say which stage bounded the rate of a recording or a job");
  command
      .AddOption("NAME", options->name,
                 absl::StrCat("A recording: ", kWhichRecording, "; or a job: JOB or jobs/JOB"))
      .Required();
  SetRun<NameOptions>(command, program, "explain", options, Explain);
}

}  // namespace tapedeck::services::tapectl
