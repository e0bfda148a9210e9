// Runs moves and waits for them as long as they make progress. A move whose disks stand still keeps
// its own thread, and holds up no other moves.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/base/threads/thread_pool.h"
#include "storage_node/moving/move.h"

namespace tapedeck::storage_node::moving {

struct Attempt;

// Whose disks are worked on: ids of LUNs.
struct LunPair {
  std::string from;
  std::string to;
};

// What is tried uses what outlives this. On one thread.
class MoveRunner {
 public:
  using GoOn = std::function<bool()>;
  using Work = std::function<absl::StatusOr<Moved>(const GoOn&)>;

  // One that has not asked whether to go on for `patience` is given up.
  explicit MoveRunner(absl::Duration patience) : patience_(patience) {}

  // Waits for `work`, which runs on another thread, and returns what it does. It asks `go_on` again
  // and again, and has to end when that says no. DEADLINE_EXCEEDED (LUN_NOT_RESPONDING): it was
  // given up and ends once the disks answer, until when Holds says so; RESOURCE_EXHAUSTED
  // (LIMIT_REACHED): so many are under way that were given up, or there is no thread.
  absl::StatusOr<Moved> Run(const LunPair& pair, GoOn go_on, Work work);

  // Whether one between these two that was given up has not ended, or so many with either of them
  // that more would take the threads of all others.
  bool Holds(const LunPair& pair);

 private:
  struct Late {
    LunPair pair;
    std::shared_ptr<Attempt> attempt;
  };

  const absl::Duration patience_;
  std::vector<Late> late_;
  services::ThreadPool threads_{"move", "moves", 8};  // goes first, and waits
};

}  // namespace tapedeck::storage_node::moving
