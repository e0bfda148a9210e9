#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/site/names.h"
#include "services/site/positions.h"
#include "services/site/units.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/program/sample_range.h"

namespace tapedeck::services::tapectl {
namespace {

struct TriggerOptions {
  std::string name;
  Trigger trigger;
};

struct AnnotateOptions {
  RecordingChoice choice;
  Annotation annotation;
  SampleRange samples;
};

absl::Status RunTrigger(Program& program, const TriggerOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string channel, ChannelNameOf(options.name));
  TD_ASSIGN_OR_RETURN(const std::vector<Capture> captures,
                      program.Recorder()->TriggerRecording(channel, options.trigger));
  std::vector<Row> rows;
  for (const Capture& capture : captures) {
    // None is made before the sample comes.
    rows.push_back({capture.recording.empty() ? "-" : capture.recording,
                    absl::StrCat(capture.first_sample), absl::StrCat(capture.trigger_sample),
                    absl::StrCat(capture.end_sample)});
  }
  program.Print(AnswerOf(captures), {"RECORDING", "FIRST", "TRIGGER", "END"}, rows);
  return absl::OkStatus();
}

struct KeepOptions {
  RecordingChoice choice;
  bool release = false;
};

absl::Status RunKeep(Program& program, const KeepOptions& options) {
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Stream stream,
                      StreamNamed(model::Use::kKeep, options.choice, *catalog));
  TD_RETURN_IF_ERROR(CheckNamed(options.choice.name, stream.segments.front()));
  const auto recorder = program.Recorder();
  for (const Recording& segment : stream.segments) {
    TD_RETURN_IF_ERROR(recorder->KeepRecording(segment.name, !options.release));
  }
  const std::string done = options.release ? "released" : "kept";
  program.Print(AnswerOf(done, stream.name), absl::StrCat(done, " ", DoneText(stream)));
  return absl::OkStatus();
}

absl::Status RunAnnotate(Program& program, const AnnotateOptions& options) {
  Annotation annotation = options.annotation;
  TD_ASSIGN_OR_RETURN(annotation.sample_count, options.samples.count());
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Stream stream,
                      StreamNamed(model::Use::kAnnotate, options.choice, *catalog));
  TD_RETURN_IF_ERROR(CheckNamed(options.choice.name, stream.segments.front()));
  TD_ASSIGN_OR_RETURN(
      const SamplePlace place,
      PlaceOfSample(stream, static_cast<uint64_t>(options.samples.from), *program.View()));
  annotation.sample_start = place.sample;
  TD_RETURN_IF_ERROR(program.Recorder()->AnnotateRecording(place.recording, annotation));
  program.Print(AnswerOf("annotated", place.recording),
                absl::StrCat("annotated ", ShortName(place.recording)));
  return absl::OkStatus();
}

void AddText(Command command, std::string& label, std::string& comment) {
  command.AddOption("--label", label, "Short label, e.g. burst");
  command.AddOption("--comment", comment, "Comment for people");
}

}  // namespace

void AddRecorderCommands(Command tapectl, Program& program) {
  auto trigger_options = std::make_shared<TriggerOptions>();
  const Command trigger = tapectl.AddCommand(
      "trigger", "Trigger a channel: keep the samples that it holds and those that follow");
  trigger.AddOption("CHANNEL", trigger_options->name, "LUN/CHANNEL").Required();
  trigger.AddOption("--sample", trigger_options->trigger.sample,
                    "Sample that triggers; default the newest");
  AddText(trigger, trigger_options->trigger.label, trigger_options->trigger.comment);
  SetRun<TriggerOptions>(trigger, program, "trigger", trigger_options, RunTrigger);

  auto keep_options = std::make_shared<KeepOptions>();
  const Command keep = tapectl.AddCommand("keep", "Protect a recording from the LUN's policies");
  AddRecordingChoice(keep, keep_options->choice,
                     absl::StrCat(kWhichRecording, "; running or closed"));
  keep.AddFlag("--release", keep_options->release, "End the protection");
  SetRun<KeepOptions>(keep, program, "keep", keep_options, RunKeep);

  auto annotate_options = std::make_shared<AnnotateOptions>();
  const Command annotate = tapectl.AddCommand("annotate", "Add a marker to a recording");
  AddRecordingChoice(annotate, annotate_options->choice,
                     absl::StrCat(kWhichRecording, "; running or closed"));
  annotate
      .AddParsed(kFromSample, annotate_options->samples.from, ParseNumber,
                 "First sample of the marker, counted from 0 at the start of RECORDING")
      .Required();
  annotate.AddParsed(kToSample, annotate_options->samples.to, ParseCount,
                     "Sample behind the marker; default a marker at one point");
  AddText(annotate, annotate_options->annotation.label, annotate_options->annotation.comment);
  SetRun<AnnotateOptions>(annotate, program, "annotate", annotate_options, RunAnnotate);
}

}  // namespace tapedeck::services::tapectl
