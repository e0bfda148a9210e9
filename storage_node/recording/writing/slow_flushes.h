// Spans of a recording's slow flushes, for the trace of its session.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "dataplane/clock.h"
#include "services/base/trace/span.h"

namespace tapedeck::storage_node::recording {

// A disk at work takes some milliseconds.
inline constexpr int64_t kSlowFlushNs = 200 * dataplane::kMillisecondNs;
// So many of a recording.
inline constexpr uint64_t kMaxSlowFlushes = 32;

// One thread.
class SlowFlushes {
 public:
  // `trace` is that of the session.
  SlowFlushes(services::telemetry::trace::Branch trace, std::string recording)
      : trace_(std::move(trace)), recording_(std::move(recording)) {}

  // A flush that has just ended.
  void Flushed(int64_t took_ns, const absl::Status& status) {
    if (took_ns < kSlowFlushNs || ++told_ > kMaxSlowFlushes) return;
    auto span = trace_.StartedBefore(took_ns, "slow flush");
    span.Set("tapedeck.recording", recording_);
    span.End(status);
  }

 private:
  services::telemetry::trace::Branch trace_;
  std::string recording_;
  uint64_t told_ = 0;
};

}  // namespace tapedeck::storage_node::recording
