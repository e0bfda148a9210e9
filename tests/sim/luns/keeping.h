// Triggers on streams, and who keeps recordings and lets them go: writes it down as a node does.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/luns/segmented_stream.h"

namespace tapedeck::sim {

// Part of a life; one thread.
class Keeping {
 public:
  Keeping(SimulatedLun& lun, Fired* fired) : lun_(lun), fired_(*fired) {}

  // Runs what triggers do.
  dataplane::Executor& triggers() { return triggers_; }
  void Fire(SegmentedStream& stream);
  // Lets one that is kept go.
  void ReleaseOne();
  void Turn();
  // What the stream has left open is for recovery.
  void OnEnd(const SegmentedStream& stream);
  bool idle() const { return changes_.empty(); }

 private:
  // Of what a closed recording says of itself.
  struct Change {
    Take* take = nullptr;
    bool keep = false;
    std::vector<std::shared_ptr<storage_node::recording::Hold>> pins;
    std::unique_ptr<storage_node::store::RecordingFiles> files;  // null: not begun
    bool done = false;
  };

  // True if it is under way.
  bool Begin(Change& change);
  void OnWritten(Change& change, const absl::Status& status);

  SimulatedLun& lun_;
  Fired& fired_;
  storage_node::ManualExecutor triggers_;
  std::list<Change> changes_;
};

}  // namespace tapedeck::sim
