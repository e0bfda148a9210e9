#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/site/names.h"
#include "services/tapectl/program/commands.h"

namespace tapedeck::services::tapectl {
namespace {

bool IsJob(const std::string& text) {
  return absl::StartsWith(text, "jobs/") || std::ranges::all_of(text, absl::ascii_isdigit);
}

absl::Status PrintExplained(Program& program, const std::string& kind, const Explained& explained) {
  if (explained.explanation.stages.empty()) return StagesUnknown(kind, explained.name);
  program.Print(AnswerOf(explained), absl::StrCat(ShortName(explained.name),
                                                  explained.running ? ", still running\n" : "\n",
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
                         .running = !model::HasEnded(job),
                         .explanation = explain::Explain(job.stage_times, job.direction)});
}

// Of a stream the sums of its segments: lists do not have them.
absl::Status ExplainRecording(Program& program, const RecordingChoice& choice) {
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Stream stream, StreamThere(model::Use::kExplain, choice, *catalog));
  model::StageTimes times;
  for (const Recording& segment : stream.segments) {
    const auto recording = catalog->GetRecording(segment.name);
    if (absl::IsNotFound(recording.status()) && stream.segmented) continue;  // a ring was faster
    TD_RETURN_IF_ERROR(recording.status());
    model::Add(recording->stage_times, times);
  }
  constexpr auto kRecord = dataplane::Direction::kRecord;
  return PrintExplained(program, "recording",
                        {.name = stream.name,
                         .direction = kRecord,
                         .running = Joined(stream).state == RecordingState::kRecording,
                         .explanation = explain::Explain(times, kRecord)});
}

absl::Status Explain(Program& program, const RecordingChoice& choice) {
  return IsJob(choice.name) ? ExplainJob(program, choice.name) : ExplainRecording(program, choice);
}

}  // namespace

void AddExplainCommand(Command tapectl, Program& program) {
  auto options = std::make_shared<RecordingChoice>();
  const Command command =
      tapectl.AddCommand("explain", "Explain which stage limited the rate of a recording or a job");
  command
      .AddOption("NAME", options->name,
                 absl::StrCat("A recording: ", kWhichRecording, "; or a job: JOB or jobs/JOB"))
      .Required();
  AddSegmentChoice(command, *options);
  SetRun<RecordingChoice>(command, program, "explain", options, Explain);
}

}  // namespace tapedeck::services::tapectl
