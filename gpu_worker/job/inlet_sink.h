// The sink of a stream that comes through an inlet: a playback's pipeline that tells its job.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/block/sink.h"
#include "gpu_worker/job/receive_job.h"
#include "gpu_worker/pipeline/playback_pipeline.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::job {

// Lives on its session's executor. Holds its job.
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

}  // namespace tapedeck::gpu_worker::job
