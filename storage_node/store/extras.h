// The features of a store beyond the calls of every store. A kind names those that it has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/model/seams/catalog.h"
#include "storage_node/store/behind_mark.h"
#include "storage_node/store/copies.h"
#include "storage_node/store/known.h"
#include "storage_node/store/layout.h"
#include "storage_node/store/member_list.h"
#include "storage_node/store/notebook.h"

namespace tapedeck::storage_node::engine {
class Engine;
}

namespace tapedeck::storage_node::store {

// Deletion in two steps, and what a start finds on the members after a crash.
// Any thread; waits for the disk. The base is that of a store that ends with its process: it finds
// nothing.
class Recovery {
 public:
  virtual ~Recovery() = default;

  // Durably notes that a deletion was ordered; the rest stays. The first step where a deletion
  // takes several stores. OK if there is no such recording.
  virtual absl::Status BeginDeletion(const RecordingPath& /*path*/) { return absl::OkStatus(); }

  // The recordings that BeginDeletion has noted and that are still there, in part or whole:
  // Store::DeleteRecording ends what a crash has interrupted.
  virtual absl::StatusOr<std::vector<RecordingPath>> BegunDeletions(const Known& /*known*/) {
    return std::vector<RecordingPath>();
  }

  // Removes what a crash left of deleted recordings, which are not listed.
  virtual absl::Status FinishDeletions(const Known& /*known*/) { return absl::OkStatus(); }

  // Channels that `known` lacks and that have recordings of the LUN.
  virtual absl::StatusOr<std::vector<std::string>> UnknownChannels(const Known& /*known*/) {
    return std::vector<std::string>();
  }

  // One that finds nothing.
  static Recovery* None() {
    static auto* const none = new Recovery();
    return none;
  }
};

// Where the samples of a recording are a file of its own, which other programs open in place.
// Any thread, one at a time for one recording; waits for the disk.
class OpenData {
 public:
  virtual ~OpenData() = default;

  // Puts a text of SigMF beside a closed recording's samples, so that both have the names that
  // SigMF asks for. It replaces an earlier one, but
  // for one that others have changed since, or made: FAILED_PRECONDITION.
  virtual absl::Status WriteSigmf(const RecordingPath& path, absl::string_view text) = 0;
};

// The files that members keep beside recordings: the LUN's description and spare files.
// One thread at a time; waits for the disk. The base is that of members that are no directories: it
// writes nothing.
class MemberFiles {
 public:
  virtual ~MemberFiles() = default;

  // Durably writes the LUN's description onto each member that does not have it yet. After a crash
  // a member has the old one or the new one.
  virtual absl::Status Describe(const services::Lun& /*lun*/) { return absl::OkStatus(); }

  // From now on keeps as many files as the LUN says, written before recordings need them, where
  // members can (Capabilities::prewrites). After Describe with the same LUN.
  virtual void Prewrite(const services::Lun& /*lun*/) {}

  // One that writes nothing.
  static MemberFiles* None() {
    static auto* const none = new MemberFiles();
    return none;
  }
};

// The pointers are valid as long as the store. `recovery` and `member_files` are never null.
struct Extras {
  Layout layout = {};
  // Room for recordings, as `layout` counts it; 0: not known.
  uint64_t size_bytes = 0;
  Recovery* recovery = Recovery::None();
  MemberFiles* member_files = MemberFiles::None();
  // Where members that are no directories say what their LUN is; null: they are directories, or it
  // has none.
  Notebook* notebook = nullptr;
  // How other programs find the samples of recordings on one member; null: they are no files of
  // their own.
  OpenData* open_data = nullptr;
  // How it takes more members; null: it is one, or has none.
  MemberList* member_list = nullptr;
  // Null: it keeps one copy.
  Copies* copies = nullptr;
  // Where a member keeps that a copy is behind; null: it cannot.
  BehindMark* behind_mark = nullptr;
  // It adopts the memory of rings; null: they need nothing of the disk.
  engine::Engine* disk_engine = nullptr;
};

}  // namespace tapedeck::storage_node::store
