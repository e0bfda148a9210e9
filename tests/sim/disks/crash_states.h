// How many crash states a test has been in, and how many of them differ in what lies on the disk.
#pragma once

#include <cstdint>
#include <cstdio>
#include <unordered_set>

#include "tests/sim/disks/fault_disk.h"

namespace tapedeck::sim {

class CrashStates {
 public:
  // `disk`: as the power cut left it.
  void Add(const FaultDisk& disk) {
    ++states_;
    distinct_.insert(disk.Fingerprint());
  }

  uint64_t states() const { return states_; }
  uint64_t distinct() const { return distinct_.size(); }
  void Print() const {
    std::printf("%llu crash states, %llu distinct\n", static_cast<unsigned long long>(states()),
                static_cast<unsigned long long>(distinct()));
  }

 private:
  uint64_t states_ = 0;
  std::unordered_set<uint64_t> distinct_;
};

}  // namespace tapedeck::sim
