// What a ring LUN goes through: streams recorded in segments that follow and overlap each other,
// each of which ends, loses its peer or meets a fault of the disk; triggers that keep segments, and
// the oldest others deleted where room is short.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "tests/sim/disks/disk_faults.h"
#include "tests/sim/luns/keeping.h"
#include "tests/sim/luns/segmented_stream.h"

namespace tapedeck::sim {

// One thread.
class StreamLife {
 public:
  // `store` is over `disk`. Both outlive it, as the ledger does.
  StreamLife(FaultDisk& disk, storage_node::store::Store& store, const Room& room, Ledger* ledger,
             uint64_t seed, Fired* fired);
  ~StreamLife() {
    disk_.completion = nullptr;
    disk_.stall_ns = nullptr;
  }

  // Returns moments in it.
  std::vector<Moment> Run(uint64_t streams);

 private:
  void Turn();
  void Begin();
  void EndStreams();
  StreamPlan MakePlan();
  bool OneIn(uint64_t many) { return lun_.Random() % many == 0; }

  FaultDisk& disk_;
  Fired& fired_;
  SimulatedLun lun_;
  DiskFaults faults_;
  Keeping keeping_;
  uint64_t streams_left_ = 0;
  std::list<std::unique_ptr<SegmentedStream>> streams_;
};

}  // namespace tapedeck::sim
