// The spans of one session at one end: the session itself, the step it is at, and each connection
// that is being made. Where tracing is off, or the trace is not sampled, nothing is told.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/base/trace/span.h"
#include "services/session/protocol/messages.h"

namespace tapedeck::services::session {

// On the session's executor. What is open when it goes ends then, as an error.
class SessionTrace {
 public:
  // Of blocks that were slow; the others are counted.
  static constexpr uint64_t kMaxSlowBlocks = 32;

  SessionTrace() = default;
  SessionTrace(const telemetry::trace::Branch& above, Direction direction);

  bool recording() const { return session_.recording(); }
  const telemetry::trace::TraceContext& context() const { return session_.context(); }
  // For what the session's work is told under.
  telemetry::trace::Branch branch() const { return session_.branch(); }

  void Set(absl::string_view key, const std::string& value) { session_.Set(key, value); }

  // The step before it has ended; the session is at none.
  void Step() { step_.End(cause_); }
  // And is at this one.
  void Step(absl::string_view name);

  // A connection of a rail. A first one that is being made, and each that came, and went.
  void Connecting(const std::string& rail, uint32_t connection);
  void Up(const std::string& rail, uint32_t connection);
  void Down(const std::string& rail, uint32_t connection, const absl::Status& cause);

  // From its source until it is acknowledged: `took_ns`, which is slow.
  void SlowBlock(uint64_t sequence, int64_t took_ns);

  // Why the session ends; the first error counts.
  void Fail(const absl::Status& cause) { cause_.Update(cause); }
  // It has ended, with so much moved.
  void End(const Progress& progress);

 private:
  using Key = std::pair<std::string, uint32_t>;

  telemetry::trace::Span session_;
  telemetry::trace::Span step_;
  std::map<Key, telemetry::trace::Span> connecting_;
  std::set<Key> seen_;  // those that were made before
  uint64_t slow_blocks_ = 0;
  absl::Status cause_;
};

}  // namespace tapedeck::services::session
