// What a job uses of its worker; all of it outlives the job.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dataplane/executor/executor.h"
#include "dataplane/transport/transport.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "gpu_worker/pipeline/memory_ladder.h"
#include "services/base/files/file_roots.h"
#include "services/base/trace/span.h"
#include "services/model/words/note.h"
#include "services/observe/flight/trails.h"
#include "services/rpc/identity/address_patterns.h"
#include "services/session/protocol/storage.h"

namespace tapedeck::gpu_worker::job {

// A storage node of a job, which lets go of it when it has ended.
struct JobNode {
  std::string address;  // HOST:PORT
  std::shared_ptr<services::StorageClient> storage;
  std::vector<std::string> standbys;  // HOST:PORT of each that `storage` can open, too
  absl::Status away;                  // why it did not answer as the job began; OK: it did
};

struct JobEnvironment {
  dataplane::Executor* executor = nullptr;  // the session lives here
  const pipeline::DeviceChoice* device = nullptr;
  pipeline::MemoryLadder* ladder = nullptr;
  std::vector<dataplane::Transport*> rails;  // chosen for this job
  services::Notes notes;                     // for the job
  uint32_t connections_per_rail = 1;
  services::files::FileRoots files;                  // that the job may name
  services::identity::AddressPatterns destinations;  // the same
  std::string worker_name;
  // Both wait for nothing: told when its recording has a name and when it has ended, and often
  // while it runs.
  std::function<void()> changed = {};
  std::function<void()> progressed = {};
  std::string group;  // of jobs that were started together; empty: this one was started alone
  std::shared_ptr<services::flight::TrailRecord> trail;  // null: none. Shared with who shows it
  services::telemetry::trace::Branch trace;              // of the call that asked for the job
};

}  // namespace tapedeck::gpu_worker::job
