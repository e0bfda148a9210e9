// The place where a recording ends because the next block has no space. Blocks before that place
// may still be under way over other rails. The recording takes them, and ends when all are here.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"

namespace tapedeck::storage_node::recording {

// If none of those blocks comes for this long, the recording ends without them. It may take twice
// as long, as the time is looked at once in each such period.
inline constexpr int64_t kLateBlocksNs = 60 * dataplane::kSecondNs;

// Part of a sink, on its executor.
class EndOfSpace {
 public:
  // `received`: every block below is here. `on_late`: called once, if blocks do not come in time.
  EndOfSpace(dataplane::Executor& executor, std::function<uint64_t()> received,
             std::function<void()> on_late)
      : executor_(executor), received_(std::move(received)), on_late_(std::move(on_late)) {}

  // Block `sequence` and those above it have no room; `why` is an error. Of several calls the
  // lowest block and the first error count.
  void Set(uint64_t sequence, const absl::Status& why);
  bool is_set() const { return !why_.ok(); }
  bool Excludes(uint64_t sequence) const { return sequence >= at_; }

  // The error once nothing before that place is waited for any more.
  absl::Status status() const;
  // The error, also while blocks are waited for.
  const absl::Status& why() const { return why_; }

 private:
  void LookLater();

  dataplane::Executor& executor_;
  const std::function<uint64_t()> received_;
  const std::function<void()> on_late_;
  uint64_t at_ = UINT64_MAX;
  absl::Status why_;
  uint64_t seen_ = 0;  // of received_, when it was looked at last
  bool late_ = false;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::storage_node::recording
