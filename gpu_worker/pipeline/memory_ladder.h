// Which rung of the ladder serves each rail of this worker, by direction: found by probing every
// rail with memory of the device, when the worker starts and again for a rail that was not usable
// then.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/block/flow.h"
#include "dataplane/ladder/rung.h"
#include "dataplane/transport/transport.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::pipeline {

// Any thread that may wait, but no poller. Device and rails outlive it.
class MemoryLadder {
 public:
  // Probes, and logs a line for every rail and direction. For a device that works in host memory
  // there is nothing to choose.
  MemoryLadder(device::Device& device, std::vector<dataplane::Transport*> rails);

  // For a job's ring over `rails`.
  dataplane::ladder::RungChoice Choose(const std::vector<dataplane::Transport*>& rails,
                                       dataplane::Direction direction);

  // The rung of each rail and direction. Empty without a choice.
  struct Chosen {
    std::string rail;
    dataplane::Direction direction;
    dataplane::ladder::RungChoice choice;
  };
  std::vector<Chosen> Choices() const;

  // "r0 record: host bounce: …", for each rail and direction. Empty without a choice.
  std::vector<std::string> Describe() const;

 private:
  struct Probed {
    dataplane::Transport* rail = nullptr;
    dataplane::Direction direction = dataplane::Direction::kRecord;
    dataplane::ladder::Evidence evidence;
  };

  // Waits; not under the mutex.
  dataplane::ladder::Evidence Probe(dataplane::Transport& rail, dataplane::Direction direction);
  absl::StatusOr<dataplane::ladder::ProbeMemory> NewProbeMemory(dataplane::Direction direction);

  device::Device& device_;
  mutable absl::Mutex mutex_;
  std::vector<Probed> probed_ ABSL_GUARDED_BY(mutex_);  // as many as made at first
};

}  // namespace tapedeck::gpu_worker::pipeline
