#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/job/group_clock.h"
#include "gpu_worker/job/job.h"
#include "gpu_worker/job/job_pacing.h"
#include "gpu_worker/pipeline/device_crc.h"
#include "services/base/errors.h"
#include "services/model/seams/inlets.h"

namespace tapedeck::gpu_worker::job {

using dataplane::TransferOp;
using services::session::Direction;
using services::session::Snapshot;

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

constexpr char kSecondOutput[] = "second output";

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
                                    .blocks = spec.blocks,
                                    .duration_ns = spec.duration_ns,
                                    .at_ns = spec.at_ns,
                                    .counts_from_at = spec.transfer.group.has_value(),
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
    settings.tap = {SettingsOf(*second), channel.name, job->second_->ring()};
  }
  TD_ASSIGN_OR_RETURN(pipeline::Recording pipeline, pipeline::CreateRecording(std::move(settings)));
  std::optional<pipeline::TapRecording> tap = std::move(pipeline.tap);
  job->meter_ = meter;
  const bool kept = !services::IsInletName(channel.name);
  if (pipeline.remarks != nullptr && kept) {
    job->remarks_ = pipeline.remarks;
    TD_ASSIGN_OR_RETURN(
        job->annotator_,
        Annotator::Create(job->remarks_, *FirstThere(job->nodes_).storage, IntoWhat(channel)));
  }
  if (tap.has_value() && tap->remarks != nullptr) {
    TD_ASSIGN_OR_RETURN(
        job->second_annotator_,
        Annotator::Create(tap->remarks, *FirstThere(job->nodes_).storage, IntoWhat(*second)));
  }
  if (live) job->stop_source_ = pipeline.source->Stopper();
  job->OpenRecording(spec, channel, std::move(pipeline));
  if (second.has_value()) job->OpenSecond(spec, *second, *std::move(tap));
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
  job->remarks_ = std::move(pipeline.remarks);
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

services::Note Job::NoteOf(const std::string& whose, services::Note note) {
  if (whose.empty()) return note;
  note.text = absl::StrCat(whose, ": ", note.text);
  note.facts.emplace("whose", whose);
  return note;
}

absl::StatusOr<std::unique_ptr<transfer::TransferSession>> Job::NewSession(const RingWish& wish) {
  TD_ASSIGN_OR_RETURN(transfer::TransferRing made,
                      transfer::MakeTransferRing({.device = environment_.device->device.get(),
                                                  .ladder = environment_.ladder,
                                                  .rails = environment_.rails,
                                                  .direction = state().direction,
                                                  .op = wish.op,
                                                  .slots = wish.slots,
                                                  .block_bytes = wish.block_bytes,
                                                  .run = wish.run,
                                                  .host = wish.host}));
  span_.AddEvent("ring made", {{"tapedeck.slots", static_cast<int64_t>(made.ring->slots())},
                               {"tapedeck.memory",
                                made.notes.empty()
                                    ? "host memory"
                                    : absl::StrJoin(services::model::TextsOf(made.notes), "; ")}});
  {
    absl::MutexLock lock(&mutex_);
    for (services::Note& note : made.notes) {
      job_.notes.push_back(NoteOf(wish.whose, std::move(note)));
    }
  }
  return std::make_unique<transfer::TransferSession>(*environment_.executor, std::move(made));
}

void Job::OpenRecording(const services::RecordSpec& spec, const services::Channel& channel,
                        pipeline::Recording recording) {
  services::session::TransferEnd& end = session_->end();
  end.stage_times = [source = recording.source.get()] { return source->stage_times(); };
  goal_ = {.blocks = recording.expected_blocks,
           .duration_ns = spec.duration_ns,
           .began = recording.source->Began()};
  end.source = std::move(recording.source);
  std::optional<services::model::RecordingGroup> group;
  if (spec.transfer.group.has_value()) {
    const pace::ClockError clock = pace::SystemClockErrorAt(spec.at_ns);
    group = GroupOf(*spec.transfer.group, spec.at_ns, clock);
    recording.notes.push_back(GroupNote(*spec.transfer.group, clock));
  }
  {
    absl::MutexLock lock(&mutex_);
    std::ranges::move(recording.notes, std::back_inserter(job_.notes));
    job_.target = channel.name;
  }
  services::session::Open open{.direction = Direction::kRecord,
                               .channel = channel.name,
                               .request_id = spec.transfer.request_id,
                               .op = spec.transfer.op,
                               .expected_blocks = recording.expected_blocks,
                               .origin = std::move(recording.origin),
                               .group = std::move(group)};
  OpenInto(*session_, spec, channel, std::move(open), "");
  Begin(*session_, &Job::OnChange);
}

void Job::OpenInto(transfer::TransferSession& session, const services::RecordSpec& spec,
                   const services::Channel& channel, services::session::Open open,
                   const std::string& whose) {
  if (nodes_.size() > 1) return OpenParts(session, spec, channel, std::move(open), whose);
  OpenSession(session, std::move(open),
              {.resume_for_ns = spec.resume_for_ns,
               .channel = channel,
               .trail = whose.empty() ? environment_.trail : nullptr});
}

void Job::OpenSecond(const services::RecordSpec& spec, const services::Channel& channel,
                     pipeline::TapRecording recording) {
  second_->end().source = std::move(recording.source);
  {
    absl::MutexLock lock(&mutex_);
    job_.outputs.push_back({.channel = channel.name});
  }
  OpenInto(*second_, spec, channel,
           {.direction = Direction::kRecord,
            .channel = channel.name,
            .expected_blocks = recording.expected_blocks,
            .origin = std::move(recording.origin)},
           kSecondOutput);
  Begin(*second_, &Job::OnSecondChange);
}

void Job::OpenSession(transfer::TransferSession& session, services::session::Open open,
                      Manner manner) {
  open.recorder = environment_.worker_name;
  if (open.direction == Direction::kRecord) SetDevicesGroup(&open);
  services::session::ClientSessionSettings settings{
      .node = nodes_.front().address,
      .open = std::move(open),
      .transports = environment_.rails,
      .connections_per_rail = environment_.connections_per_rail,
      .ordered = manner.ordered,
      .trail = std::move(manner.trail),
      .trace = span_.branch()};
  session.Open(
      {.session = std::move(settings),
       .resume_for_ns = manner.resume_for_ns,
       .open_stream = [this] { return nodes_.front().storage->OpenSession(); },
       .standbys = nodes_.front().standbys,
       .open_standby = [this](size_t n) { return nodes_.front().storage->OpenStandby(n); }},
      std::move(manner.channel));
}

void Job::Begin(services::session::Transfer& transfer, void (Job::*heard)(const Snapshot&)) {
  environment_.executor->Post([self = shared_from_this(), &transfer, heard] {
    transfer.Start([self, heard](const Snapshot& snapshot) { (*self.*heard)(snapshot); });
  });
}

}  // namespace tapedeck::gpu_worker::job
