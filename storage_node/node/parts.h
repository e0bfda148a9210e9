// What the services of a storage node share.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/clock.h"
#include "dataplane/transport/transport.h"
#include "storage_node/capture/trigger_port.h"
#include "storage_node/catalog/catalog.h"
#include "storage_node/format/uuid.h"
#include "storage_node/luns/desk.h"
#include "storage_node/luns/lun_table.h"
#include "storage_node/luns/opening_turns.h"
#include "storage_node/recording/recording_writer.h"
#include "storage_node/recordings/leases.h"

namespace tapedeck::storage_node::node {

// A session's ring: as many slots as fit in `ring_bytes` and can be registered on all rails, at
// most `ring_slots`, but never fewer than 8.
struct StorageSettings {
  std::string state_dir;  // exists or its parent does
  size_t ring_slots = 64;
  uint64_t ring_bytes = 64 << 20;
  uint64_t follow_bytes = 1 << 30;  // for the newest blocks of all followed recordings; 0: none
  std::vector<dataplane::Transport*> rails;       // of the sessions; outlive the node
  std::shared_ptr<const dataplane::Clock> clock;  // null: the system's
  format::Random random;                          // null: the system's
  // Sessions do themselves what LUNs' desks are asked for: for simulations, in which nothing waits.
  bool no_desks = false;
};

// The recordings that are being written. Any thread.
class LiveRecordings {
 public:
  void Add(const std::string& name, const std::shared_ptr<recording::LiveRecording>& recording) {
    absl::MutexLock lock(&mutex_);
    std::erase_if(recordings_, [](const auto& entry) { return entry.second.expired(); });
    recordings_[name] = recording;
  }
  // Null if nobody writes it.
  std::shared_ptr<recording::LiveRecording> Find(const std::string& name) {
    absl::MutexLock lock(&mutex_);
    const auto it = recordings_.find(name);
    return it == recordings_.end() ? nullptr : it->second.lock();
  }

 private:
  absl::Mutex mutex_;
  std::map<std::string, std::weak_ptr<recording::LiveRecording>> recordings_
      ABSL_GUARDED_BY(mutex_);
};

// The sessions that wait for triggers, by channel. Any thread.
class LiveTriggers {
 public:
  void Add(const std::string& channel, const std::shared_ptr<capture::TriggerPort>& port) {
    absl::MutexLock lock(&mutex_);
    std::erase_if(ports_, [](const auto& entry) { return entry.second.expired(); });
    ports_.emplace(channel, port);
  }
  std::vector<std::shared_ptr<capture::TriggerPort>> Find(const std::string& channel) {
    absl::MutexLock lock(&mutex_);
    std::vector<std::shared_ptr<capture::TriggerPort>> found;
    const auto [first, last] = ports_.equal_range(channel);
    for (auto it = first; it != last; ++it) {
      if (auto port = it->second.lock()) found.push_back(std::move(port));
    }
    return found;
  }

 private:
  absl::Mutex mutex_;
  std::multimap<std::string, std::weak_ptr<capture::TriggerPort>> ports_ ABSL_GUARDED_BY(mutex_);
};

// Any thread. Lives as long as the node. The catalog is shared with writers, which may seal after
// everything else is gone.
struct NodeParts {
  StorageSettings settings;  // clock and random set
  std::shared_ptr<recordings::Leases> leases = std::make_shared<recordings::Leases>();
  std::shared_ptr<catalog::Catalog> catalog;
  std::shared_ptr<recording::Verifier> verifier;  // set
  luns::LunTable luns;
  luns::OpeningTurns opening_turns;
  LiveRecordings live;
  std::shared_ptr<follow::TailMemory> follow_memory;  // null: followers read the stores
  LiveTriggers triggers;
  // What is queued uses the others, and other desks. Of what sessions wait for, and of what nobody
  // waits for: policies' deletions, and LUNs that were offline.
  luns::Desks desks;
  luns::Desks upkeep;
  luns::Desks memory;  // where rings are made
  luns::Desks looks;   // where it is seen whether members are still there

  ~NodeParts() {
    for (luns::Desks* each : {&desks, &upkeep, &memory, &looks}) each->Stop();
  }
};

// AIP-155: a request_id that was used before has the result of that time. Runs `create`, which
// returns what `get` would, unless the id is known.
template <typename T>
absl::StatusOr<T> Once(NodeParts& parts, const std::string& request_id, const std::string& kind,
                       const std::string& name, const std::function<absl::StatusOr<T>()>& get,
                       const std::function<absl::StatusOr<T>()>& create) {
  if (request_id.empty()) return create();
  auto past = parts.catalog->FindRequest(request_id);
  if (!past.ok()) return past.status();
  if (past->has_value()) {
    if ((*past)->kind == kind && (*past)->name == name) return get();
    return services::WithReason(absl::InvalidArgumentError(absl::StrCat(
                                    "request_id ", request_id, " was used to create ",
                                    (*past)->kind, " ", (*past)->name, "; use a new one")),
                                "ARGUMENT_INVALID", {{"field", "request_id"}});
  }
  absl::StatusOr<T> result = create();
  if (!result.ok()) return result;
  absl::Status status = parts.catalog->RememberRequest(request_id, {.kind = kind, .name = name});
  if (!status.ok()) return status;
  return result;
}

}  // namespace tapedeck::storage_node::node
