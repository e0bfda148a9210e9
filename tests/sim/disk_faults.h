// What goes wrong with the disk in one life, beside the power: nothing, or one kind of fault.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "tests/sim/fired.h"

namespace tapedeck::sim {

// One thread.
class DiskFaults {
 public:
  DiskFaults(uint64_t seed, Fired* fired);

  // What the operation ends with. As FaultDisk::fault; "make" makes a recording. `deleting`: it is
  // part of a deletion.
  absl::Status Next(const std::string& operation, uint32_t member, bool deleting);
  // Nothing has gone wrong.
  bool none() const { return none_; }

 private:
  enum class Kind { kNone, kErrors, kFull, kFlush, kMake, kDelete };

  bool FailsNow(const std::string& operation, bool deleting);

  std::mt19937_64 random_;
  Fired& fired_;
  Kind kind_ = Kind::kNone;
  uint64_t operations_ = 0;
  uint64_t from_ = 0;  // the operation at which it may begin
  bool none_ = true;
};

}  // namespace tapedeck::sim
