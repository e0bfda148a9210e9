// Gives the operations of a FaultDisk the time that drives would take: a write waits in line for
// its drive and passes at the drive's rate; a flush ends some time after all that was written
// before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/clock.h"
#include "tests/sim/disks/fault_disk.h"

namespace tapedeck::sim {

struct DriveFigures {
  uint32_t drives = 2;
  uint64_t bytes_per_s = 3'600'000'000;  // each
  int64_t flush_ns = dataplane::kMillisecondNs;
};

// One thread. `disk` and `clock` outlive it.
class ModelledDrives {
 public:
  // A write of payload is one of `block_bytes`, whatever the disk is given.
  ModelledDrives(FaultDisk& disk, const DriveFigures& figures, uint64_t block_bytes,
                 const dataplane::Clock& clock);

  // Operations take no time meanwhile: whoever recovers a disk waits in place for each.
  void SetInstant(bool instant) { instant_ = instant; }

  uint64_t written() const { return written_; }  // bytes of payload

 private:
  int64_t TimeOfLast();

  const DriveFigures figures_;
  const uint64_t block_bytes_;
  const dataplane::Clock& clock_;
  std::vector<int64_t> free_ns_;  // by drive
  std::string operation_;         // begun last
  uint32_t member_ = 0;
  bool instant_ = false;
  uint64_t written_ = 0;
};

}  // namespace tapedeck::sim
