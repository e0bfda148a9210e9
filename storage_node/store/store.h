// The interface to storage. A Store is one LUN's storage. RecordingFiles are one recording's open
// files. Each kind has a folder here; list.cc alone knows them all.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/executor/executor.h"
#include "dataplane/memory/pages.h"
#include "dataplane/memory/slot_pool.h"
#include "storage_node/store/extras.h"
#include "storage_node/store/known.h"
#include "storage_node/store/opening.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::store {

struct RingSpec {
  size_t slots = 0;
  size_t slot_bytes = 0;
  // The ring gives blocks to play; else it takes blocks to record.
  bool playback = false;
  // The peer may reach the ring's window itself: then the ring must hold nothing of other
  // recordings.
  bool exposed_to_peer = false;
  // While its memory is made; null: nobody looks.
  dataplane::OnResident on_resident = nullptr;
};

// Any thread. The calls make directories and open files: they may wait for the file system's
// metadata, never for payload. Destroyed after all RecordingFiles; rings may outlive it.
class Store {
 public:
  virtual ~Store() = default;

  // Completions of the returned files are posted to `executor`, on which they live.
  virtual absl::StatusOr<std::unique_ptr<RecordingFiles>> Open(const RecordingPath& path,
                                                               const Opening& how,
                                                               dataplane::Executor& executor) = 0;

  // At once and for good, whole or not at all. Its files must not be open. OK if there is none.
  // What others have put among them stays.
  virtual absl::Status DeleteRecording(const RecordingPath& path) = 0;

  // The LUN's own; what else lies where they could is named in the log, once.
  virtual absl::StatusOr<std::vector<RecordingPath>> ListRecordings(const Known& known) = 0;

  // Whether its members are still those that were opened, and take what is written. Recordings that
  // are open where they are not are told (RecordingFiles::OnLost), and no more are opened there.
  // INTERNAL (STORE_IO). Waits for the disk; one thread at a time.
  virtual absl::Status Look() = 0;

  // shared_ptr: every lent Block keeps its ring alive.
  virtual absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(const RingSpec& spec) = 0;

  // What it has beyond these calls, as it is now: its size grows with its members.
  virtual Extras extras() { return {}; }
};

}  // namespace tapedeck::storage_node::store
