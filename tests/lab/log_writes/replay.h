// Cuts the power after every entry of a log of writes, or after some, and looks at what is left.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/lab/log_writes/crash_device.h"
#include "tests/lab/log_writes/ledger.h"
#include "tests/lab/log_writes/survivors.h"
#include "tests/lab/log_writes/write_log.h"

namespace tapedeck::lab {

struct ReplayOptions {
  std::string device;       // the loop device of the CrashDevice
  std::string file_system;  // ext4, xfs; empty: the device itself is the LUN
  std::string mount;        // directory; or the file that stands for the device
  std::string state;        // directory: in `mount`, or filled from `state_from` for every state
  std::string state_from;
  uint64_t prefixes = 0;  // at most; 0: all
  uint64_t losses = 0;    // further states for each prefix
  uint64_t seed = 1;      // of both choices
  uint64_t only = 0;      // this prefix alone
  uint64_t shard = 0;     // of so many, each of which looks at its share of the prefixes
  uint64_t shards = 1;
};

struct ReplayCounts {
  uint64_t entries = 0;
  uint64_t flushes = 0;
  uint64_t marks = 0;
  uint64_t candidates = 0;  // prefixes there are
  uint64_t prefixes = 0;    // looked at
  uint64_t losses = 0;
  uint64_t blocks = 0;  // promised in the whole log, each counted once
  SurvivorCounts survivors;

  // Another shard of the same log.
  void Add(const ReplayCounts& other) {
    prefixes += other.prefixes;
    losses += other.losses;
    survivors.promised += other.survivors.promised;
    survivors.lost += other.survivors.lost;
    survivors.wrong += other.survivors.wrong;
  }
};

// One thread of a process that mounts privately.
class Replay {
 public:
  Replay(ReplayOptions options, const WriteLog& log, const Sources& sources, CrashDevice& device)
      : options_(std::move(options)),
        log_(log),
        device_(device),
        survivors_(sources, [this](const std::string& what) { Complain(what); }),
        random_(options_.seed) {}

  // OK also if something was lost; an error if the log cannot be used.
  absl::StatusOr<ReplayCounts> Run();

 private:
  void Count();
  void Choose();
  absl::Status Take(const LogEntry& entry);
  absl::Status LookAtPrefix();
  std::vector<Write> SomeOfUnforced();
  absl::Status Look(const std::vector<Write>& unforced);
  absl::Status LookAtNode();
  void Complain(const std::string& what);

  const ReplayOptions options_;
  const WriteLog& log_;
  CrashDevice& device_;
  Survivors survivors_;
  std::mt19937_64 random_;
  std::set<uint64_t> chosen_;  // prefixes, by their length
  ReplayCounts counts_;

  Ledger ledger_;
  uint64_t length_ = 0;          // of the prefix
  std::vector<Write> unforced_;  // of the prefix: since its last flush
  bool all_unforced_ = true;     // of the state that is looked at
  std::string last_mark_;
  uint64_t complaints_ = 0;
};

}  // namespace tapedeck::lab
