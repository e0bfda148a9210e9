// The sessions of a storage node: takes new control streams, gives each session an executor, and
// counts.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"
#include "services/model/seams/node.h"
#include "services/session/protocol/control.h"
#include "services/session/serving/server_session.h"

namespace tapedeck::services::session {

// At most this many at the same time: each may hold a ring of 64 MiB.
inline constexpr uint32_t kMaxSessions = 64;

// Refusals that are on their way at the same time. Whoever comes beyond is cut off without a word.
inline constexpr int kMaxRefusals = 512;

// With more than so many on their way, the next are told only after a while: whoever asks again as
// soon as the answer is there shall not keep the node busy with answers.
inline constexpr int kPromptRefusals = 16;
inline constexpr int64_t kRefusalDelayNs = dataplane::kSecondNs / 2;

// Any thread. The executors outlive it; they may be fewer than the sessions. So does the tracer.
class Registry final : public SessionAcceptor {
 public:
  // With null `trails` sessions leave no stamps.
  Registry(std::vector<dataplane::Executor*> executors,
           std::vector<dataplane::Transport*> transports, SessionHost* host,
           flight::Trails* trails = nullptr, telemetry::trace::Tracer* tracer = nullptr);

  // Every session must have ended: see Drain.
  ~Registry() override;

  void OnStream(std::unique_ptr<ControlStream> stream) override;

  // Takes no new sessions; ends those that are open after `grace_ns`, keeping what they hold.
  // Blocks.
  void Drain(int64_t grace_ns);

  // Counts of ended and open sessions; those of open ones are as old as their last progress.
  // The sessions there are, for the log.
  std::string Left() const;
  NodeStats stats() const;
  // Of those in one direction, without rails: those of the node's own names are in their meters.
  NodeStats stats(Direction direction) const;
  // Workers that got no session.
  uint64_t refused() const { return refused_; }

 private:
  struct Entry {
    dataplane::Executor* executor;
    std::unique_ptr<ServerSession> session;  // created and destroyed on its executor
    std::optional<Direction> direction;      // once it is known
    Progress progress;
    uint64_t ring_bytes = 0;
  };

  void Refuse(std::unique_ptr<ControlStream> stream, const absl::Status& why);
  void Begin(const std::string& id, std::unique_ptr<ControlStream> stream);
  void Ended(const std::string& id);
  void Observe(const std::string& id, Direction direction, const Progress& progress,
               uint64_t ring_bytes);
  void AbortAll(const absl::Status& cause);

  const std::vector<dataplane::Executor*> executors_;
  const std::vector<dataplane::Transport*> transports_;
  SessionHost* const host_;
  flight::Trails* const trails_;
  telemetry::trace::Tracer* const tracer_;

  // Shared with the refusals, which may end later.
  const std::shared_ptr<std::atomic<int>> refusals_ = std::make_shared<std::atomic<int>>(0);

  mutable absl::Mutex mutex_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t opened_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Entry> sessions_ ABSL_GUARDED_BY(mutex_);
  NodeStats ended_ ABSL_GUARDED_BY(mutex_);
  std::map<Direction, NodeStats> ended_by_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> refused_ = 0;
};

}  // namespace tapedeck::services::session
