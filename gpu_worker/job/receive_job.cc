#include "gpu_worker/job/receive_job.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dataplane/block/sink.h"
#include "dataplane/clock.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/unusable.h"
#include "gpu_worker/pipeline/device_crc.h"
#include "gpu_worker/pipeline/playback_pipeline.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::job {

using dataplane::TransferOp;
using services::session::Admission;
using services::session::Direction;

namespace {

// The sink of a stream that comes through an inlet: a playback's pipeline that tells its job. Lives
// on its session's executor. Holds its job.
class InletSink final : public dataplane::Sink {
 public:
  InletSink(std::shared_ptr<ReceiveJob> job, std::unique_ptr<pipeline::PlaybackPipeline> pipeline)
      : job_(std::move(job)), pipeline_(std::move(pipeline)) {}

  // A session that is gone without a word has not finished.
  ~InletSink() override {
    Tell(services::PeerLost("worker", "the stream ended before it had finished"));
  }

  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override {
    const dataplane::BlockHeader header = block->header();
    absl::StatusOr<dataplane::Flow> flow = pipeline_->Push(block);
    if (flow.ok() && *flow == dataplane::Flow::kMoved) {
      job_->Count(header, pipeline_->watermarks().received);
    }
    return flow;
  }

  absl::StatusOr<dataplane::Flow> Finish(const absl::Status& cause) override {
    absl::StatusOr<dataplane::Flow> flow = pipeline_->Finish(cause);
    const bool over = flow.ok() ? *flow == dataplane::Flow::kEnd : !cause.ok();
    if (over) Tell(cause.ok() ? flow.status() : cause);
    return flow;
  }

  void SetWaker(dataplane::Waker waker) override {
    pipeline_->SetWaker(waker);
    job_->SetWaker(std::move(waker));
  }

  dataplane::Watermarks watermarks() const override { return pipeline_->watermarks(); }

  absl::Status status() const override {
    const absl::Status stopped = job_->stopped();
    return stopped.ok() ? pipeline_->status() : stopped;
  }

 private:
  void Tell(const absl::Status& cause) {
    if (!std::exchange(told_, true)) job_->StreamEnded(cause, pipeline_->stage_times());
  }

  const std::shared_ptr<ReceiveJob> job_;
  const std::unique_ptr<pipeline::PlaybackPipeline> pipeline_;
  bool told_ = false;
};

constexpr int64_t kLookNs = dataplane::kSecondNs;

absl::Status NotWhole(const std::string& inlet, uint64_t lost, uint64_t total) {
  return services::BlockDamaged(
      {.recording = inlet, .blocks = lost},
      absl::StrCat(inlet, ": ", lost, " of ", total, " blocks are missing or damaged"));
}

}  // namespace

absl::StatusOr<std::shared_ptr<ReceiveJob>> ReceiveJob::Start(const std::string& name,
                                                              const services::ReceiveSpec& spec,
                                                              const JobEnvironment& environment,
                                                              inlets::InletRegistry& inlets) {
  TD_ASSIGN_OR_RETURN(
      pipeline::PlaybackStages stages,
      pipeline::ChooseStages(services::PlaybackSpec{.transfer = spec.transfer, .sink = spec.sink}));
  auto job = std::shared_ptr<ReceiveJob>(
      new ReceiveJob(name, spec, environment, std::move(stages), inlets));
  TD_RETURN_IF_ERROR(job->MakeRing());
  // The inlet holds the job until it is closed, by the job's end.
  TD_RETURN_IF_ERROR(inlets.Open(
      spec.inlet, [job](const services::session::Open& open) { return job->Admit(open); }));
  job->Wait(environment.executor->clock().NowNs() + spec.wait_ns);
  return job;
}

ReceiveJob::ReceiveJob(const std::string& name, const services::ReceiveSpec& spec,
                       const JobEnvironment& environment, pipeline::PlaybackStages stages,
                       inlets::InletRegistry& inlets)
    : AnyJob(name, Direction::kPlayback, environment),
      spec_(spec),
      inlets_(inlets),
      stages_(std::move(stages)) {
  job_.target = spec.inlet.name;
  job_.recording = spec.inlet.name;
}

absl::Status ReceiveJob::MakeRing() {
  TD_ASSIGN_OR_RETURN(transfer::TransferRing ring,
                      transfer::MakeTransferRing({.device = environment_.device->device.get(),
                                                  .ladder = environment_.ladder,
                                                  .rails = environment_.rails,
                                                  .direction = Direction::kPlayback,
                                                  .op = spec_.inlet.op.value_or(TransferOp::kRead),
                                                  .slots = spec_.transfer.slots,
                                                  .block_bytes = spec_.inlet.block_bytes}));
  {
    absl::MutexLock lock(&mutex_);
    std::ranges::copy(ring.notes, std::back_inserter(job_.notes));
  }
  absl::MutexLock lock(&means_mutex_);
  ring_ = std::move(ring);
  return absl::OkStatus();
}

absl::StatusOr<Admission> ReceiveJob::Admit(const services::session::Open& open) {
  {
    absl::MutexLock lock(&mutex_);
    if (job_.end_time_ns != 0 || cancelled_ || waited_) {
      return services::InletNotFound(spec_.inlet.name);
    }
    has_stream_ = true;
  }
  absl::StatusOr<Admission> admission = MakeEnd(open);
  if (!admission.ok()) End(admission.status());
  return admission;
}

absl::StatusOr<Admission> ReceiveJob::MakeEnd(const services::session::Open& open) {
  absl::MutexLock means(&means_mutex_);
  Admission admission{.accept = {.recording = spec_.inlet.name,
                                 .datatype = spec_.inlet.datatype,
                                 .sample_rate = spec_.inlet.sample_rate,
                                 .op = open.op.value_or(spec_.inlet.op.value_or(TransferOp::kRead)),
                                 .commit = dataplane::CommitLevel::kReceived,
                                 .block_bytes = spec_.inlet.block_bytes}};
  const bool direct = ring_->direct();
  if (direct) {
    TD_ASSIGN_OR_RETURN(admission.payload_crc,
                        pipeline::DeviceCrc::Create(*environment_.device->device));
  }
  TD_ASSIGN_OR_RETURN(pipeline::Playback made,
                      pipeline::CreatePlayback({.stages = *std::move(stages_),
                                                .channel = {.datatype = spec_.inlet.datatype,
                                                            .block_bytes = spec_.inlet.block_bytes,
                                                            .sample_rate = spec_.inlet.sample_rate},
                                                .origin = open.origin,
                                                .blocks = open.expected_blocks,
                                                .files = environment_.files,
                                                .destinations = environment_.destinations,
                                                .device = environment_.device,
                                                .direct = direct}));
  admission.ordered = made.needs_order;
  admission.sink = std::make_unique<InletSink>(shared_from_this(), std::move(made.sink));
  admission.ring = std::move(ring_->ring);
  admission.registration = std::move(ring_->registration);
  admission.transports = environment_.rails;
  absl::MutexLock lock(&mutex_);
  compared_ = std::move(made.compared);
  std::ranges::copy(made.notes, std::back_inserter(job_.notes));
  job_.state = services::JobState::kRunning;
  if (open.expected_blocks != 0) job_.total_blocks = open.expected_blocks;
  began_ns_ = environment_.executor->clock().NowNs();
  return admission;
}

absl::Status ReceiveJob::stopped() const {
  absl::MutexLock lock(&mutex_);
  return cancelled_ ? services::JobCancelled(job_.name) : absl::OkStatus();
}

void ReceiveJob::SetWaker(dataplane::Waker waker) {
  dataplane::Waker now;
  {
    absl::MutexLock lock(&mutex_);
    if (cancelled_) now = waker;
    waker_ = std::move(waker);
  }
  if (now) now();
}

void ReceiveJob::Count(const dataplane::BlockHeader& header, uint64_t consumed) {
  constexpr uint32_t kNotWhole = dataplane::kBlockMissing | dataplane::kBlockDamaged;
  absl::MutexLock lock(&mutex_);
  end_ = std::max(end_, header.sequence + 1);
  if ((header.flags & kNotWhole) == 0) ++whole_;
  job_.blocks = consumed;
  job_.bytes += header.payload_bytes;
  if (job_.total_blocks.has_value()) {
    job_.progress =
        std::min(1.0, static_cast<double>(consumed) / static_cast<double>(*job_.total_blocks));
  }
  job_.elapsed_ns = environment_.executor->clock().NowNs() - began_ns_;
  if (environment_.progressed) environment_.progressed();
}

void ReceiveJob::StreamEnded(const absl::Status& cause, const services::StageTimes& times) {
  absl::Status error = device::FailureOn(*environment_.device->device, cause);
  {
    absl::MutexLock lock(&mutex_);
    if (job_.end_time_ns != 0) return;
    waker_ = nullptr;
    job_.stage_times = times;
    if (error.ok()) {
      job_.blocks = whole_;
      job_.total_blocks = end_;
      job_.lost_blocks = end_ - whole_;
    }
    if (job_.lost_blocks > 0) error = NotWhole(spec_.inlet.name, job_.lost_blocks, end_);
  }
  End(error);
}

void ReceiveJob::Wait(int64_t deadline_ns) {
  const int64_t left_ns = deadline_ns - environment_.executor->clock().NowNs();
  {
    absl::MutexLock lock(&mutex_);
    if (has_stream_ || job_.end_time_ns != 0) return;
    waited_ = left_ns <= 0;
  }
  if (left_ns <= 0) return End(services::InletTimedOut(spec_.inlet.name, spec_.wait_ns));
  environment_.executor->PostAfter(
      std::min(left_ns, kLookNs),
      [self = shared_from_this(), deadline_ns] { self->Wait(deadline_ns); });
}

void ReceiveJob::Cancel() {
  dataplane::Waker waker;
  bool waits = false;
  {
    absl::MutexLock lock(&mutex_);
    if (job_.end_time_ns != 0) return;
    cancelled_ = true;
    waits = !has_stream_;
    waker = waker_;
  }
  if (waits) return End(absl::OkStatus());
  if (waker) waker();
}

void ReceiveJob::End(const absl::Status& error) {
  // What is not used: the ring goes before the job is told to have ended.
  std::optional<transfer::TransferRing> ring;
  {
    absl::MutexLock means(&means_mutex_);
    stages_.reset();
    ring = std::move(ring_);
    ring_.reset();
  }
  if (ring.has_value()) {
    environment_.executor->Post(
        [ring = std::make_shared<transfer::TransferRing>(*std::move(ring))] {});
  }
  {
    absl::MutexLock lock(&mutex_);
    if (job_.end_time_ns != 0) return;
    SetEnd(error);
  }
  inlets_.Close(spec_.inlet.name);
}

}  // namespace tapedeck::gpu_worker::job
