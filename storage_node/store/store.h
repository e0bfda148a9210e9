// The seam to storage. A Store is one LUN's storage; RecordingFiles are one recording's open files.
// Each kind is a room of this folder; list.cc alone knows them all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/executor/executor.h"
#include "dataplane/memory/pages.h"
#include "dataplane/memory/slot_pool.h"
#include "services/model/seams/catalog.h"
#include "storage_node/store/behind_mark.h"
#include "storage_node/store/copies.h"
#include "storage_node/store/known.h"
#include "storage_node/store/layout.h"
#include "storage_node/store/member_list.h"
#include "storage_node/store/notebook.h"
#include "storage_node/store/open_data.h"
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
  // ALREADY_EXISTS; NOT_FOUND.
  virtual absl::StatusOr<std::unique_ptr<RecordingFiles>> CreateRecording(
      const RecordingPath& path, uint64_t block_bytes, dataplane::Executor& executor) = 0;
  virtual absl::StatusOr<std::unique_ptr<RecordingFiles>> OpenRecording(
      const RecordingPath& path, dataplane::Executor& executor) = 0;

  // The same of whatever file there is of it, as another store may have the rest: payload that is
  // gone reads as a file that ended (OUT_OF_RANGE), and is not written. NOT_FOUND: nothing is
  // there.
  virtual absl::StatusOr<std::unique_ptr<RecordingFiles>> OpenPieces(
      const RecordingPath& path, dataplane::Executor& executor) {
    return OpenRecording(path, executor);
  }

  // The same, to be written on at its end: all that it was made of is there. NOT_FOUND.
  virtual absl::StatusOr<std::unique_ptr<RecordingFiles>> ReopenRecording(
      const RecordingPath& path, dataplane::Executor& executor) {
    return OpenRecording(path, executor);
  }

  // OpenRecording of a closed one, which first makes again, empty, what a member has lost of it and
  // another has: a scrub then writes what was in it.
  virtual absl::StatusOr<std::unique_ptr<RecordingFiles>> OpenToMend(
      const RecordingPath& path, dataplane::Executor& executor) {
    return OpenRecording(path, executor);
  }

  // At once and for good, whole or not at all. Its files must not be open. OK if there is none.
  // What others have put among them stays.
  virtual absl::Status DeleteRecording(const RecordingPath& path) = 0;

  // Durably notes that its deletion was ordered; the rest stays. The first step where a deletion
  // takes several stores. OK if there is none.
  virtual absl::Status BeginDeletion(const RecordingPath& /*path*/) { return absl::OkStatus(); }

  // The recordings that BeginDeletion has noted and that are still there, in part or whole:
  // DeleteRecording ends what a crash has interrupted.
  virtual absl::StatusOr<std::vector<RecordingPath>> BegunDeletions(const Known& /*known*/) {
    return std::vector<RecordingPath>();
  }

  // Removes what a crash left of deleted recordings, which are not listed.
  virtual absl::Status FinishDeletions(const Known& /*known*/) { return absl::OkStatus(); }

  // Channels that `known` lacks and that have recordings of the LUN.
  virtual absl::StatusOr<std::vector<std::string>> UnknownChannels(const Known& /*known*/) {
    return std::vector<std::string>();
  }

  // The LUN's own; what else lies where they could is named in the log, once.
  virtual absl::StatusOr<std::vector<RecordingPath>> ListRecordings(const Known& known) = 0;

  // Whether its members are still those that were opened, and take what is written. Recordings that
  // are open where they are not are told (RecordingFiles::OnLost), and no more are opened there.
  // INTERNAL (STORE_IO). Waits for the disk; one thread at a time.
  virtual absl::Status Look() { return absl::OkStatus(); }

  // Room for recordings, as layout() counts it; 0 if that is not known.
  virtual uint64_t size_bytes() const { return 0; }
  virtual Layout layout() const { return {}; }

  // Where the members say what their LUN is; null: its members are directories, or it has none.
  virtual Notebook* notebook() { return nullptr; }

  // Durably writes onto members that are directories what the LUN is, where they do not say so yet:
  // each says the old or the new, also after a crash. Waits for the disk; one thread at a time.
  virtual absl::Status Describe(const services::Lun& /*lun*/) { return absl::OkStatus(); }

  // From now on so many files are kept as it says, written before recordings need them, where
  // members can (Capabilities::prewrites). After Describe with the same; likewise.
  virtual void Prewrite(const services::Lun& /*lun*/) {}

  // How other programs find the samples of recordings on one member; null: they are no files of
  // their own.
  virtual OpenData* open_data() { return nullptr; }

  // How it takes more members; null: it is one, or has none.
  virtual MemberList* member_list() { return nullptr; }

  // What it tells of its copies; null: it keeps one.
  virtual Copies* copies() { return nullptr; }

  // Where a member keeps that a copy is behind; null: it cannot.
  virtual BehindMark* behind_mark() { return nullptr; }

  // shared_ptr: every lent Block keeps its ring alive.
  virtual absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(const RingSpec& spec) = 0;

  // Makes memory ready for this store's disk, e.g. registers it; what is returned owns it. For
  // rings that several stores share.
  virtual std::unique_ptr<dataplane::Memory> Prepare(std::unique_ptr<dataplane::Memory> memory) {
    return memory;
  }
};

}  // namespace tapedeck::storage_node::store
