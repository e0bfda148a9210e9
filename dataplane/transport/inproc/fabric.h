// The network of the inproc transport. It introduces offers to each other and carries operations
// between executors, with delays and faults from a seed. One Fabric is one network.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"

namespace tapedeck::dataplane::inproc {

struct End;

// Probabilities are per operation.
struct FabricFaults {
  uint64_t seed = 1;
  int64_t max_delay_ns = 0;
  double drop = 0;       // it never arrives
  double duplicate = 0;  // it arrives twice
  double reorder = 0;    // it is overtaken by what was sent after it
};

// How often each has happened.
struct FabricCounts {
  uint64_t dropped = 0;
  uint64_t duplicated = 0;
  uint64_t overtaken = 0;
};

enum class RailState {
  kUp,
  kCut,
  kSilent
};  // cut: both ends see an error; silent: everything is lost

// Any thread. Shared by the transports that it connects.
class Fabric {
 public:
  explicit Fabric(const FabricFaults& faults = {}) : faults_(faults), random_(faults.seed) {}

  uint64_t NewId();

  // Brings the ends of two offers together once both have named each other: each has its peer and
  // its wire before `on_met` of either is posted to the end's executor.
  void Meet(uint64_t peer_id, std::shared_ptr<End> end, std::function<void()> on_met);
  // The end with this wire_id meets nobody any more. It may have met its peer already.
  void Forget(uint64_t id);

  // Runs `deliver` on `to` after the delay of the direction `wire`, subject to the faults.
  void Carry(const std::string& rail, uint64_t wire, Executor& to, std::function<void()> deliver);

  // A connection on a cut rail notices with its next operation.
  void SetRail(const std::string& rail, RailState state);
  RailState rail(const std::string& rail) const;
  FabricCounts counts() const;

 private:
  struct Waiting {
    uint64_t peer_id;
    std::shared_ptr<End> end;
    std::function<void()> on_met;
  };

  bool Chance(double probability) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const FabricFaults faults_;
  mutable absl::Mutex mutex_;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  FabricCounts counts_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  std::map<uint64_t, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, RailState> rails_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, int64_t> last_delivery_ns_ ABSL_GUARDED_BY(mutex_);  // by wire
};

}  // namespace tapedeck::dataplane::inproc
