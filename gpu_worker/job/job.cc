#include "gpu_worker/job/job.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/unusable.h"
#include "gpu_worker/job/job_pacing.h"
#include "gpu_worker/pipeline/device_crc.h"
#include "services/errors.h"
#include "services/model/names.h"
#include "services/session/answers.h"
#include "services/telemetry/trace/log_under.h"

namespace tapedeck::gpu_worker::job {

using dataplane::TransferOp;
using services::session::Direction;
using services::session::Snapshot;

namespace {

absl::Status Incomplete(const std::string& recording, uint64_t lost, uint64_t total) {
  return services::BlockDamaged(
      {.recording = recording, .blocks = lost},
      absl::StrCat(recording, ": ", lost, " of ", total,
                   " blocks are missing; tapectl recordings verify names them"));
}

dataplane::flight::Trail TrailOf(const JobEnvironment& environment) {
  return environment.trail == nullptr ? dataplane::flight::Trail() : environment.trail->trail();
}

std::string PeerOf(const services::TransferSpec& spec) {
  return absl::StrCat("storage node ", spec.storage);
}

}  // namespace

Job::Job(const std::string& name, Direction direction, const JobEnvironment& environment,
         std::shared_ptr<services::StorageClient> storage)
    : environment_(environment),
      span_(environment.trace.Start("job")),
      storage_(std::move(storage)) {
  span_.Set("tapedeck.job", name);
  span_.Set("tapedeck.direction", services::model::LabelOf(direction));
  job_.name = name;
  job_.direction = direction;
  job_.device = environment.device->description;
  job_.group = environment.group;
  job_.notes = environment.notes;
  job_.start_time_ns = environment.executor->clock().WallNs();
}

absl::StatusOr<std::shared_ptr<Job>> Job::StartRecord(
    const std::string& name, const services::RecordSpec& spec, const JobEnvironment& environment,
    std::shared_ptr<services::StorageClient> storage) {
  TD_ASSIGN_OR_RETURN(pipeline::RecordStages stages, pipeline::ChooseStages(spec));
  TD_ASSIGN_OR_RETURN(const services::Channel channel, storage->GetChannel(spec.transfer.target));
  TD_RETURN_IF_ERROR(services::session::CheckChannel(PeerOf(spec.transfer), channel));
  auto job =
      std::shared_ptr<Job>(new Job(name, Direction::kRecord, environment, std::move(storage)));
  const TransferOp op = channel.op.value_or(TransferOp::kRead);
  const auto meter =
      spec.at_ns == 0 ? nullptr : std::make_shared<pace::Meter>(/*samples_per_s=*/0, spec.at_ns);
  TD_RETURN_IF_ERROR(job->MakeRing(spec.transfer, op, channel.block_bytes));
  TD_ASSIGN_OR_RETURN(pipeline::Recording pipeline,
                      pipeline::CreateRecording({.stages = std::move(stages),
                                                 .blocks = spec.blocks,
                                                 .duration_ns = spec.duration_ns,
                                                 .at_ns = spec.at_ns,
                                                 .meter = meter,
                                                 .channel = {.datatype = channel.datatype,
                                                             .block_bytes = channel.block_bytes,
                                                             .sample_rate = channel.sample_rate},
                                                 .files = environment.files,
                                                 .device = environment.device,
                                                 .ring = job->end_.ring,
                                                 .clock = &environment.executor->clock(),
                                                 .executor = environment.executor,
                                                 .trail = TrailOf(environment)}));
  job->channel_ = channel;
  job->meter_ = meter;
  job->end_.stage_times = [source = pipeline.source.get()] { return source->stage_times(); };
  job->end_.source = std::move(pipeline.source);
  if (pipeline.remarks != nullptr) {
    job->remarks_ = pipeline.remarks;
    TD_ASSIGN_OR_RETURN(job->annotator_, Annotator::Create(job->remarks_, *job->storage_));
  }
  {
    absl::MutexLock lock(&job->mutex_);
    std::ranges::copy(pipeline.notes, std::back_inserter(job->job_.notes));
    job->job_.target = spec.transfer.target;
  }
  services::session::Open open{.direction = Direction::kRecord,
                               .channel = spec.transfer.target,
                               .expected_blocks = pipeline.expected_blocks,
                               .labels = pipeline.labels};
  if (!environment.group.empty()) open.labels["group"] = environment.group;
  job->OpenSession(std::move(open), spec.transfer, {.resume_for_ns = spec.resume_for_ns});
  return job;
}

absl::StatusOr<std::shared_ptr<Job>> Job::StartPlayback(
    const std::string& name, const services::PlaybackSpec& spec, const JobEnvironment& environment,
    std::shared_ptr<services::StorageClient> storage) {
  TD_ASSIGN_OR_RETURN(pipeline::PlaybackStages stages, pipeline::ChooseStages(spec));
  TD_ASSIGN_OR_RETURN(const services::Recording recording,
                      storage->GetRecording(spec.transfer.target));
  TD_RETURN_IF_ERROR(services::session::CheckRecording(PeerOf(spec.transfer), recording));
  auto job =
      std::shared_ptr<Job>(new Job(name, Direction::kPlayback, environment, std::move(storage)));
  TD_RETURN_IF_ERROR(job->MakeRing(spec.transfer, TransferOp::kWrite, recording.block_bytes));
  const bool direct = !job->end_.ring->window().host_accessible;
  TD_ASSIGN_OR_RETURN(const auto pace, PlanPace(spec, recording, job->end_.ring->slots()));
  // Else the node says how many blocks come.
  const bool whole = spec.playhead == services::session::Playhead() &&
                     (!pace.has_value() || !pace->range.has_value());
  if (direct) {
    TD_ASSIGN_OR_RETURN(job->end_.payload_crc,
                        pipeline::DeviceCrc::Create(*environment.device->device));
  }
  TD_ASSIGN_OR_RETURN(pipeline::Playback pipeline,
                      pipeline::CreatePlayback({.stages = std::move(stages),
                                                .channel = {.datatype = recording.datatype,
                                                            .block_bytes = recording.block_bytes,
                                                            .sample_rate = recording.sample_rate},
                                                .labels = recording.labels,
                                                .annotations = recording.annotations,
                                                .blocks = whole ? recording.blocks : 0,
                                                .files = environment.files,
                                                .destinations = environment.destinations,
                                                .device = environment.device,
                                                .direct = direct,
                                                .trail = TrailOf(environment),
                                                .pace = pace}));
  if (pace.has_value()) job->meter_ = pace->meter;
  job->end_.stage_times = [sink = pipeline.sink.get()] { return sink->stage_times(); };
  job->end_.sink = std::move(pipeline.sink);
  {
    absl::MutexLock lock(&job->mutex_);
    std::ranges::copy(pipeline.notes, std::back_inserter(job->job_.notes));
    job->job_.recording = spec.transfer.target;
    job->job_.target = spec.transfer.target;
    job->job_.total_blocks = whole ? recording.blocks : 0;
  }
  services::session::Open open{.direction = Direction::kPlayback,
                               .recording = spec.transfer.target,
                               .playhead = PlayheadOf(spec)};
  open.playhead.damaged_blocks = pipeline.damaged_blocks;
  job->OpenSession(std::move(open), spec.transfer, {.ordered = pipeline.needs_order});
  return job;
}

absl::Status Job::MakeRing(const services::TransferSpec& spec, TransferOp op,
                           uint64_t block_bytes) {
  TD_ASSIGN_OR_RETURN(JobRing made, MakeJobRing({.device = environment_.device->device.get(),
                                                 .ladder = environment_.ladder,
                                                 .rails = environment_.rails,
                                                 .direction = state().direction,
                                                 .op = spec.op.value_or(op),
                                                 .slots = spec.slots,
                                                 .block_bytes = block_bytes}));
  end_.ring = std::move(made.ring);
  end_.registration = std::move(made.registration);
  span_.AddEvent(
      "ring made",
      {{"tapedeck.slots", static_cast<int64_t>(end_.ring->slots())},
       {"tapedeck.memory", made.notes.empty() ? "host memory" : absl::StrJoin(made.notes, "; ")}});
  absl::MutexLock lock(&mutex_);
  std::ranges::move(made.notes, std::back_inserter(job_.notes));
  return absl::OkStatus();
}

void Job::OpenSession(services::session::Open open, const services::TransferSpec& spec,
                      const Manner& manner) {
  open.recorder = environment_.worker_name;
  open.request_id = spec.request_id;
  open.slots = static_cast<uint32_t>(end_.ring->slots());
  open.slot_bytes = end_.ring->slot_bytes();
  open.op = spec.op;
  services::session::ClientSessionSettings settings{
      .node = spec.storage,
      .open = std::move(open),
      .transports = environment_.rails,
      .connections_per_rail = environment_.connections_per_rail,
      .ordered = manner.ordered,
      .trail = environment_.trail,
      .trace = span_.branch()};
  // The session holds the job until it has ended; OnChange lets go of the session then.
  settings.make_end = [self = shared_from_this()](const services::session::Accept& accept)
      -> absl::StatusOr<services::session::TransferEnd> {
    TD_RETURN_IF_ERROR(self->CheckAccepted(accept));
    return std::move(self->end_);
  };
  settings.on_change = [self = shared_from_this()](const Snapshot& s) { self->OnChange(s); };
  session_ = std::make_unique<services::session::ResumingSession>(
      *environment_.executor, services::session::ResumingSettings{
                                  .session = std::move(settings),
                                  .resume_for_ns = manner.resume_for_ns,
                                  .open_stream = [this] { return storage_->OpenSession(); }});
  environment_.executor->Post([self = shared_from_this()] {
    if (self->session_ != nullptr) self->session_->Start();
  });
}

// Somebody may have changed the channel since it was looked at.
absl::Status Job::CheckAccepted(const services::session::Accept& accept) const {
  if (!channel_.has_value() ||
      (accept.block_bytes == channel_->block_bytes && accept.datatype == channel_->datatype &&
       accept.sample_rate == channel_->sample_rate)) {
    return absl::OkStatus();
  }
  return services::ChannelInUse(channel_->name, "was changed as the job began; start it again");
}

void Job::OnChange(const Snapshot& snapshot) {
  {
    absl::MutexLock lock(&mutex_);
    if (!snapshot.accept.recording.empty()) job_.recording = snapshot.accept.recording;
    if (snapshot.running && !snapshot.ended) job_.state = services::JobState::kRunning;
    if (snapshot.resuming) job_.state = services::JobState::kResuming;
    job_.blocks = snapshot.blocks;
    job_.bytes = snapshot.bytes;
    job_.total_blocks = std::max(snapshot.total_blocks, snapshot.blocks);
    job_.elapsed_ns = snapshot.elapsed_ns;
    job_.lost_blocks = snapshot.lost_blocks;
    job_.counters = snapshot.counters;
    job_.rails = snapshot.rails;
    job_.stage_times = snapshot.stage_times;
    if (meter_ != nullptr) job_.timing = meter_->timing();
  }
  if (annotator_ != nullptr && !snapshot.resuming && !snapshot.accept.recording.empty()) {
    annotator_->SessionRuns(snapshot.accept.recording);
  }
  if (!snapshot.ended) return;
  if (annotator_ == nullptr) return Conclude(snapshot, absl::OkStatus());
  annotator_->Finish([self = shared_from_this(), snapshot](const absl::Status& annotated) {
    self->environment_.executor->Post(
        [self, snapshot, annotated] { self->Conclude(snapshot, annotated); });
  });
}

void Job::Conclude(const Snapshot& snapshot, const absl::Status& annotated) {
  {
    absl::MutexLock lock(&mutex_);
    if (remarks_ != nullptr) std::ranges::copy(remarks_->Notes(), std::back_inserter(job_.notes));
    SetEnd(snapshot, annotated);
  }
  // Not inside its own callback. Ended jobs are kept to be looked at, their connections and memory
  // are not.
  environment_.executor->Post([self = shared_from_this()] {
    self->session_.reset();
    self->annotator_.reset();
    const services::session::TransferEnd unused = std::move(self->end_);  // in its own order
    self->storage_.reset();
  });
}

void Job::SetEnd(const Snapshot& snapshot, const absl::Status& annotated) {
  const services::telemetry::trace::LogUnder log(span_.context());
  job_.end_time_ns = environment_.executor->clock().WallNs();
  job_.error = device::FailureOn(*environment_.device->device, snapshot.error);
  job_.error.Update(annotated);
  if (job_.error.ok() && snapshot.lost_blocks > 0) {
    job_.error = Incomplete(job_.recording, snapshot.lost_blocks, snapshot.total_blocks);
  }
  if (cancelled_ && (job_.error.ok() || absl::IsCancelled(job_.error))) {
    job_.state = services::JobState::kCancelled;
    job_.error = services::JobCancelled(job_.name);
  } else {
    job_.state = job_.error.ok() ? services::JobState::kSucceeded : services::JobState::kFailed;
  }
  span_.Set("tapedeck.recording", job_.recording);
  span_.End(job_.error);
  const bool failed = job_.state == services::JobState::kFailed;
  dataplane::Log(
      failed ? dataplane::LogLevel::kError : dataplane::LogLevel::kInfo, "job",
      job_.error.ok() ? "complete" : std::string(job_.error.message()),
      {{"job", job_.name}, {"recording", job_.recording}, {"blocks", absl::StrCat(job_.blocks)}});
  if (failed && environment_.trail != nullptr) environment_.trail->Failed(job_.error);
}

services::Job Job::state() const {
  absl::MutexLock lock(&mutex_);
  return job_;
}

bool Job::ended() const {
  absl::MutexLock lock(&mutex_);
  return job_.end_time_ns != 0;
}

bool Job::AwaitEnd(absl::Time deadline) const {
  const auto ended = [this]()
                         ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return job_.end_time_ns != 0; };
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithDeadline(absl::Condition(&ended), deadline);
}

void Job::Cancel() {
  {
    absl::MutexLock lock(&mutex_);
    if (job_.end_time_ns != 0) return;
    cancelled_ = true;
  }
  environment_.executor->Post([self = shared_from_this()] {
    if (self->session_ != nullptr) self->session_->Stop();
  });
}

}  // namespace tapedeck::gpu_worker::job
