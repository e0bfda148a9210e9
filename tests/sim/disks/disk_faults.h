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
  // As FaultDisk::completion. One that is short is carried on with: nothing has gone wrong.
  int64_t Completion(size_t bytes);
  // Nothing has gone wrong.
  bool none() const { return none_; }

 private:
  enum class Kind { kNone, kErrors, kFull, kFlush, kMake, kDelete };

  bool FailsNow(const std::string& operation, bool deleting);

  std::mt19937_64 random_;
  Fired& fired_;
  Kind kind_ = Kind::kNone;
  uint64_t operations_ = 0;
  bool short_ = false;  // transfers are, in half of the lives, whatever else goes wrong
  uint64_t from_ = 0;   // the operation at which it may begin
  bool none_ = true;
};

}  // namespace tapedeck::sim
