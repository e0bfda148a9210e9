// The state of a recording's writer between its first block and its closed files, and why it ends.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/block/flow.h"
#include "services/base/trace/span.h"
#include "storage_node/recording/writing/ending.h"

namespace tapedeck::storage_node::recording {

// One thread. Its steps go forward only: open, draining, sealing, and then sealed or left to
// recovery. The first error stays.
class WriterState {
 public:
  bool open() const { return step_ == Step::kOpen; }
  bool draining() const { return step_ == Step::kDraining; }
  bool sealed() const { return step_ == Step::kSealed; }
  const Ending& ending() const { return ending_; }
  // The first failure of the writer's own.
  const absl::Status& error() const { return ending_.error; }

  // False if it has failed before.
  bool Fail(const absl::Status& error) {
    if (!ending_.error.ok()) return false;
    ending_.error = error;
    return true;
  }

  // No more blocks come: the session has ended with `cause`.
  void Drain(const absl::Status& cause) {
    step_ = Step::kDraining;
    ending_.cause = cause;
  }
  // Nothing is under way any more.
  void Seal(const services::telemetry::trace::Branch& trace, const std::string& recording) {
    step_ = Step::kSealing;
    sealing_ = trace.Start("seal");
    sealing_.Set("tapedeck.recording", recording);
  }
  // The files are closed, with so many blocks.
  void EndSealed(uint64_t blocks) {
    step_ = Step::kSealed;
    sealing_.Set("tapedeck.blocks", static_cast<int64_t>(blocks));
    sealing_.End();
  }
  void LeaveToRecovery() {
    step_ = Step::kLeft;
    sealing_.End(ending_.error);
  }

  // What Sink::Finish answers.
  absl::StatusOr<dataplane::Flow> Finished() const {
    if (step_ == Step::kLeft) return ending_.error;
    if (step_ != Step::kSealed) return dataplane::Flow::kNotNow;
    if (ending_.cause.ok() && !ending_.error.ok()) return ending_.error;
    return dataplane::Flow::kEnd;
  }

 private:
  enum class Step { kOpen, kDraining, kSealing, kSealed, kLeft };

  Step step_ = Step::kOpen;
  Ending ending_;
  services::telemetry::trace::Span sealing_;
};

}  // namespace tapedeck::storage_node::recording
