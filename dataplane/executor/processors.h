// How many processors this process may use: what threads are worth making, and whether one may look
// for work instead of sleeping.
#pragma once

#include <string>

namespace tapedeck::dataplane {

// From where the number comes.
enum class ProcessorLimit {
  kMachine,   // all that the system has
  kAffinity,  // taskset(1), or a cpuset
  kQuota,     // a control group's share of time, as a container has it
};

struct UsableProcessors {
  double count = 1;  // at a time; a quota may be a fraction
  ProcessorLimit limit = ProcessorLimit::kMachine;

  // Threads that can run at the same time, 1 at least: of a fraction none can run all the time.
  unsigned threads() const;
};

// Of the calling thread, now: reads files of the kernel's, for set-up only.
UsableProcessors FindUsableProcessors();

// As the process was when this was asked for the first time. Any thread.
const UsableProcessors& ProcessorsAtStart();

// The least share that control groups leave a process, in processors; 0: none. `memberships` is
// what /proc/PID/cgroup says, `mount` where control groups are mounted, of either version.
double QuotaOf(const std::string& memberships, const std::string& mount);

// "2 (machine)", "1.5 (quota)": for log lines.
std::string TextOf(const UsableProcessors& usable);

}  // namespace tapedeck::dataplane
