#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/job/job.h"
#include "gpu_worker/job/job_pacing.h"
#include "gpu_worker/pipeline/device_crc.h"
#include "services/base/errors.h"
#include "services/model/seams/inlets.h"

namespace tapedeck::gpu_worker::job {

using dataplane::TransferOp;
using services::session::Direction;

namespace {

dataplane::flight::Trail TrailOf(const JobEnvironment& environment) {
  return environment.trail == nullptr ? dataplane::flight::Trail() : environment.trail->trail();
}

TransferOp OpOf(const services::Channel& channel) { return channel.op.value_or(TransferOp::kRead); }

pipeline::ChannelSettings SettingsOf(const services::Channel& channel) {
  return {.datatype = channel.datatype,
          .block_bytes = channel.block_bytes,
          .sample_rate = channel.sample_rate};
}

pipeline::ChannelSettings SettingsOf(const services::Recording& recording) {
  return {.datatype = recording.datatype,
          .block_bytes = recording.block_bytes,
          .sample_rate = recording.sample_rate};
}

void NoteClock(const services::PlaybackSpec& spec, services::Notes& notes) {
  if (spec.pacing.at_ns == 0) return;
  const pace::ClockError clock = pace::SystemClockErrorAt(spec.pacing.at_ns);
  notes.push_back(BeginNote(clock));
}

// A group counts samples from its instant.
absl::Status CheckRateOf(const services::RecordSpec& spec, const services::Channel& channel) {
  if (!spec.transfer.group.has_value() || channel.sample_rate > 0) return absl::OkStatus();
  return services::ArgumentInvalid(
      "group", absl::StrCat(channel.name,
                            " has no sample rate, by which a group counts from its instant: "
                            "tapectl channel update --sample-rate"));
}

Annotator::Into IntoWhat(const services::Channel& channel) {
  const bool in_memory = channel.triggered() && channel.commit == dataplane::CommitLevel::kReceived;
  return in_memory ? Annotator::Into::kCaptures : Annotator::Into::kRecording;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Job>> Job::StartRecord(const std::string& name,
                                                      const services::RecordSpec& spec,
                                                      const JobEnvironment& environment,
                                                      std::vector<JobNode> nodes) {
  TD_ASSIGN_OR_RETURN(pipeline::RecordStages stages, pipeline::ChooseStages(spec));
  TD_ASSIGN_OR_RETURN(const services::Channel channel, ChannelOfAll(nodes, spec.transfer.target));
  TD_RETURN_IF_ERROR(CheckRateOf(spec, channel));
  std::optional<services::Channel> second;
  if (!spec.outputs.empty()) {
    TD_ASSIGN_OR_RETURN(second, ChannelOfAll(nodes, spec.outputs.front().channel));
  }
  auto job = std::shared_ptr<Job>(new Job(name, Direction::kRecord, environment, std::move(nodes)));
  const auto meter =
      spec.at_ns == 0 ? nullptr : std::make_shared<pace::Meter>(/*samples_per_s=*/0, spec.at_ns);
  TD_ASSIGN_OR_RETURN(
      job->session_, job->NewSession({.op = spec.transfer.op.value_or(OpOf(channel)),
                                      .slots = spec.transfer.slots,
                                      .block_bytes = channel.block_bytes,
                                      .run = pipeline::BlocksAtOnce(stages, channel.block_bytes,
                                                                    *environment.device->device)}));
  const bool live = stages.source.description.waits || !stages.source.description.ends;
  pipeline::RecordSettings settings{.stages = std::move(stages),
                                    .spec = spec,
                                    .meter = meter,
                                    .channel = SettingsOf(channel),
                                    .files = environment.files,
                                    .device = environment.device,
                                    .ring = job->session_->ring(),
                                    .clock = &environment.executor->clock(),
                                    .executor = environment.executor,
                                    .trail = TrailOf(environment)};
  if (second.has_value()) {
    TD_ASSIGN_OR_RETURN(job->second_, job->NewSession({.op = OpOf(*second),
                                                       .block_bytes = second->block_bytes,
                                                       .whose = kSecondOutput}));
    settings.second_output = {SettingsOf(*second), channel.name, job->second_->ring()};
  }
  TD_ASSIGN_OR_RETURN(pipeline::Recording pipeline, pipeline::CreateRecording(std::move(settings)));
  std::optional<pipeline::SecondRecording> second_output = std::move(pipeline.second_output);
  job->meter_ = meter;
  const bool kept = !services::IsInletName(channel.name);
  if (pipeline.report != nullptr && kept) {
    job->report_ = pipeline.report;
    TD_ASSIGN_OR_RETURN(
        job->annotator_,
        Annotator::Create(job->report_, *FirstThere(job->nodes_).storage, IntoWhat(channel)));
  }
  if (second_output.has_value() && second_output->report != nullptr) {
    TD_ASSIGN_OR_RETURN(job->second_annotator_,
                        Annotator::Create(second_output->report, *FirstThere(job->nodes_).storage,
                                          IntoWhat(*second)));
  }
  if (live) job->stop_source_ = pipeline.source->Stopper();
  job->OpenRecording(spec, channel, std::move(pipeline));
  if (second.has_value()) job->OpenSecond(spec, *second, *std::move(second_output));
  return job;
}

absl::StatusOr<std::shared_ptr<Job>> Job::StartPlayback(const std::string& name,
                                                        const services::PlaybackSpec& spec,
                                                        const JobEnvironment& environment,
                                                        std::vector<JobNode> nodes) {
  TD_ASSIGN_OR_RETURN(pipeline::PlaybackStages stages, pipeline::ChooseStages(spec));
  TD_ASSIGN_OR_RETURN(FoundParts found, FindParts(nodes, spec.transfer.target));
  if (found.in_parts()) {
    return StartJoined(name, spec, environment, std::move(nodes), std::move(found));
  }
  const auto& [holder, recording, part] = found.parts.front();
  auto job = std::shared_ptr<Job>(new Job(name, Direction::kPlayback, environment, {holder}));
  TD_ASSIGN_OR_RETURN(job->session_,
                      job->NewSession({.op = spec.transfer.op.value_or(TransferOp::kWrite),
                                       .slots = spec.transfer.slots,
                                       .block_bytes = recording.block_bytes}));
  const bool direct = !job->session_->ring()->window().host_accessible;
  TD_ASSIGN_OR_RETURN(const auto pace, PlanPace(spec, recording, job->session_->ring()->slots()));
  // Else the node says how many blocks come.
  const bool whole = spec.playhead == services::model::Playhead() &&
                     (!pace.has_value() || !pace->range.has_value());
  job->TakePace(pace, recording);
  if (direct) {
    TD_ASSIGN_OR_RETURN(job->session_->end().payload_crc,
                        pipeline::DeviceCrc::Create(*environment.device->device));
  }
  TD_ASSIGN_OR_RETURN(pipeline::Playback pipeline,
                      pipeline::CreatePlayback({.stages = std::move(stages),
                                                .channel = SettingsOf(recording),
                                                .origin = recording.origin,
                                                .annotations = recording.annotations,
                                                .blocks = whole ? recording.blocks : 0,
                                                .files = environment.files,
                                                .destinations = environment.destinations,
                                                .device = environment.device,
                                                .direct = direct,
                                                .trail = TrailOf(environment),
                                                .pace = pace,
                                                .times = job->times_}));
  NoteClock(spec, pipeline.notes);
  job->report_ = std::move(pipeline.report);
  services::session::TransferEnd& end = job->session_->end();
  end.stage_times = [sink = pipeline.sink.get()] { return sink->stage_times(); };
  end.sink = std::move(pipeline.sink);
  {
    absl::MutexLock lock(&job->mutex_);
    job->compared_ = std::move(pipeline.compared);
    std::ranges::copy(pipeline.notes, std::back_inserter(job->job_.notes));
    job->job_.recording = recording.name;
    job->job_.target = spec.transfer.target;
    job->job_.total_blocks = TotalOf(job->goal_, whole ? recording.blocks : 0);
  }
  services::session::Open open{.direction = Direction::kPlayback,
                               .recording = recording.name,
                               .request_id = spec.transfer.request_id,
                               .op = spec.transfer.op,
                               .playhead = PlayheadOf(spec)};
  open.playhead.damaged_blocks = pipeline.damaged_blocks;
  job->OpenSession(*job->session_, std::move(open),
                   {.ordered = pipeline.needs_order, .trail = environment.trail});
  job->Begin(*job->session_, &Job::OnChange);
  return job;
}

void Job::KeepPace(const std::optional<pace::Plan>& pace) {
  if (!pace.has_value()) return;
  meter_ = pace->meter;
  in_range_ = pace->range.has_value() && pace->range->end != UINT64_MAX;
}

void Job::TakePace(const std::optional<pace::Plan>& pace, const services::Recording& recording) {
  KeepPace(pace);
  const auto sample_bytes =
      pipeline::SampleBytesOf(services::model::SampleType(recording.origin, recording.datatype));
  const uint64_t block_samples = recording.block_bytes / sample_bytes.value_or(1);
  goal_ = GoalOf(pace, block_samples);
  // The blocks of a part are not those of its recording.
  if (recording.part.has_value()) return;
  times_ = std::make_shared<pipeline::BlockTimes>(recording, block_samples);
}

}  // namespace tapedeck::gpu_worker::job
