// What a LUN goes through: recordings that follow and overlap each other, the oldest deleted where
// room is short, others deleted while one is written.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "storage_node/recording/writing/recording_writer.h"
#include "tests/sim/luns/simulated_lun.h"

namespace tapedeck::sim {

// One thread.
class LunLife {
 public:
  // `store` is over `disk`. Both outlive it, as the ledger does.
  LunLife(FaultDisk& disk, storage_node::store::Store& store, const Room& room, Ledger* ledger,
          uint64_t seed);

  // Returns moments in it.
  std::vector<Moment> Run(uint64_t takes);

 private:
  struct Writing {
    Take* take = nullptr;
    uint64_t blocks = 0;
    std::shared_ptr<dataplane::SlotPool> ring;
    std::unique_ptr<storage_node::recording::RecordingWriter> writer;
  };

  void Turn();
  void Begin();
  void Step(Writing& writing);
  void DeleteAny();
  void WriteDown();

  SimulatedLun lun_;
  uint64_t takes_left_ = 0;
  std::list<Writing> writing_;
};

}  // namespace tapedeck::sim
