// What the jobs of a worker have done, in numbers that only grow, also when jobs are forgotten.
#pragma once

#include <cstdint>
#include <map>

#include "dataplane/block/flow.h"
#include "services/model/seams/jobs.h"
#include "services/model/seams/node.h"

namespace tapedeck::gpu_worker::job {

// One thread at a time.
struct JobTotals {
  struct OfDirection {
    services::NodeStats stats;
    std::map<services::JobState, uint64_t> jobs;  // by state, those that run as well
  };

  uint64_t started = 0;  // asked for, also those that did not begin
  std::map<dataplane::Direction, OfDirection> by_direction;

  void Add(const services::Job& job) {
    OfDirection& of = by_direction[job.direction];
    ++of.jobs[job.state];
    if (job.end_time_ns == 0) ++of.stats.sessions;
    of.stats.blocks += job.blocks;
    of.stats.bytes += job.bytes;
    for (const services::JobOutput& output : job.outputs) {
      of.stats.blocks += output.blocks;
      of.stats.bytes += output.bytes;
    }
    of.stats.counters += job.counters;
    services::model::AddKnown(job.stage_times, of.stats.stage_times);
  }
};

}  // namespace tapedeck::gpu_worker::job
