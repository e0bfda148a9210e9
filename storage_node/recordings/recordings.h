// Finds recordings and everything needed to open them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/deadline.h"
#include "storage_node/catalog/catalog.h"
#include "storage_node/catalog/names.h"
#include "storage_node/luns/luns.h"
#include "storage_node/recording/live_recording.h"
#include "storage_node/recordings/clock_steps.h"
#include "storage_node/recordings/closer.h"
#include "storage_node/recordings/leases.h"
#include "storage_node/repair/repair_progress.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::recordings {

// The recordings that are being written, for those that follow, mark or keep them.
// By name. Any thread.
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

  // Those that are being written.
  std::vector<std::pair<std::string, std::shared_ptr<recording::LiveRecording>>> All() const {
    absl::MutexLock lock(&mutex_);
    std::vector<std::pair<std::string, std::shared_ptr<recording::LiveRecording>>> all;
    for (const auto& [name, recording] : recordings_) {
      if (auto live = recording.lock(); live != nullptr && live->closed() == nullptr) {
        all.emplace_back(name, std::move(live));
      }
    }
    return all;
  }

 private:
  mutable absl::Mutex mutex_;
  std::map<std::string, std::weak_ptr<recording::LiveRecording>> recordings_
      ABSL_GUARDED_BY(mutex_);
};

// Where it lies: on as many members as its manifest says.
inline store::RecordingPath PathOf(const catalog::ResourceName& name,
                                   const format::Manifest& manifest) {
  return {.channel = name.channel, .recording = name.recording, .members = manifest.members};
}

struct FoundRecording {
  catalog::ResourceName name;
  std::shared_ptr<luns::OpenLun> lun;
  format::Manifest manifest;

  store::RecordingPath path() const { return PathOf(name, manifest); }
};

// The recordings of a node: their catalog, who uses them, and who writes them. Any thread; what
// waits for the disk says so. Outlives all that uses it but writers, which may seal after
// everything else is gone: so they share the catalog, and leases their table.
class Recordings {
 public:
  Recordings(luns::Luns& luns, std::shared_ptr<catalog::Catalog> catalog)
      : luns_(luns), catalog_(std::move(catalog)), clock_steps_(luns.state_dir(), luns.clock()) {}
  ~Recordings() { closer_->Stop(); }

  luns::Luns& luns() { return luns_; }
  const std::shared_ptr<catalog::Catalog>& catalog() { return catalog_; }
  Leases& leases() { return *leases_; }
  LiveRecordings& live() { return live_; }
  const std::shared_ptr<Closer>& closer() { return closer_; }
  ClockSteps& clock_steps() { return clock_steps_; }

  // Of a LUN that is open, what that has; else what the catalog had of it last. NOT_FOUND
  // (LUN_NOT_FOUND, CHANNEL_NOT_FOUND).
  absl::StatusOr<services::Channel> FindChannel(const catalog::ResourceName& name);
  // The same, by name.
  absl::StatusOr<std::vector<services::Channel>> ListChannels(const std::string& lun_id);

  // As the catalog has it; changes nothing. NOT_FOUND (LUN_NOT_FOUND, CHANNEL_NOT_FOUND,
  // RECORDING_NOT_FOUND), FAILED_PRECONDITION (LUN_OFFLINE).
  absl::StatusOr<FoundRecording> Find(const std::string& name);
  // The same for whoever needs it closed: one whose session vanished is closed on the way, which
  // waits for the disk.
  absl::StatusOr<FoundRecording> FindClosed(const std::string& name);

  // If `row`, of `lun`, is in state RECORDING but nobody writes it: takes what the members say if
  // that is closed, else salvages it. Else leaves it as it is.
  absl::Status CloseAbandoned(luns::OpenLun& lun, catalog::RecordingRow* row,
                              const std::string& cause);
  // The same by its name, for the closer. OK if there is nothing to close any more.
  absl::Status CloseLeft(const std::string& recording);
  // For whoever shows recordings: waits up to a second until those of `rows` are closed that their
  // sessions have just left. Whether there were any.
  bool AwaitLeft(const std::vector<catalog::RecordingRow>& rows);

  // What the members say of a closed recording. An error if that cannot be read, or is not closed.
  absl::StatusOr<format::Manifest> OnMembers(luns::OpenLun& lun, const catalog::ResourceName& name,
                                             const format::Manifest& row);
  // The row becomes what the members say. The caller has had a lease since before it read both.
  void Correct(const catalog::ResourceName& name, const format::Manifest& row,
               const format::Manifest& stored);

  // Deletes what is closed; false if somebody uses it, or if `may_go` says so of what the members
  // say it is once nobody does, or that cannot be read. `why` is for the log. The next segment of
  // its stream takes the annotations that tell the signal. Waits for the disk.
  using MayGo = std::function<bool(const format::Manifest&)>;
  absl::StatusOr<bool> Remove(const catalog::ResourceName& name, luns::OpenLun& lun,
                              absl::string_view why, const MayGo& may_go = nullptr);

  // FAILED_PRECONDITION (RECORDING_BUSY): its deletion has failed on the way. Its files are marked,
  // and nothing that is noted of it now would stay.
  absl::Status CheckNotHalfDeleted(const FoundRecording& found) ABSL_LOCKS_EXCLUDED(mutex_);

  // Changes the manifest of a closed recording, durably, if `change` is OK, and returns it.
  // FAILED_PRECONDITION (RECORDING_BUSY) if it is not closed.
  absl::StatusOr<FoundRecording> Rewrite(
      const std::string& recording, const std::function<absl::Status(format::Manifest*)>& change);

  // Notes something about a recording, running or closed, durably: through `to_live`, which says
  // whether its writer has taken it, or through `to_closed`, as Rewrite. Waits for the disk.
  // FAILED_PRECONDITION (RECORDING_BUSY) while it is being closed or deleted.
  using NoteLive =
      std::function<absl::StatusOr<bool>(const FoundRecording&, recording::LiveRecording&)>;
  using NoteClosed = std::function<absl::Status(const FoundRecording&, format::Manifest*)>;
  absl::StatusOr<FoundRecording> Note(const std::string& recording, const NoteLive& to_live,
                                      const NoteClosed& to_closed);

  // Waits until whoever writes, closes or deletes it has ended; false at the deadline.
  bool AwaitClosed(const std::string& recording, dataplane::Deadline deadline);

  // Replaces what one copy of a closed recording's manifest has lost from the other. Waits for the
  // disk. The caller has a lease on it.
  absl::StatusOr<repair::RepairProgress> MendManifest(const std::string& recording);

  // As the catalog shows it, with the counts of its writer while there is one, and with no more
  // labels and annotations than go into an answer.
  services::Recording Present(const catalog::RecordingRow& row);

 private:
  // Why there is no recording of that name: it may have moved.
  absl::Status NotFound(const std::string& name);
  void SetHalfDeleted(const std::string& name, bool is) ABSL_LOCKS_EXCLUDED(mutex_);
  // That no policy deletes it, once for each.
  void TellUnread(const std::string& name, const absl::Status& why) ABSL_LOCKS_EXCLUDED(mutex_);

  luns::Luns& luns_;
  const std::shared_ptr<catalog::Catalog> catalog_;
  ClockSteps clock_steps_;
  const std::shared_ptr<Leases> leases_ = std::make_shared<Leases>();
  LiveRecordings live_;
  const std::shared_ptr<Closer> closer_ = std::make_shared<Closer>(*this);
  absl::Mutex mutex_;
  std::set<std::string> unread_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> half_deleted_ ABSL_GUARDED_BY(mutex_);  // each is in the catalog
};

// Every deletion is told: the data is gone for good.
void LogDeleted(const catalog::ResourceName& name, absl::string_view why);

// FAILED_PRECONDITION (RECORDING_BUSY).
absl::Status Busy(const FoundRecording& recording, absl::string_view why);

// What the members say of the recordings that a LUN's account knows by the catalog's rows alone.

// A step of what is read beside all else, so that a start with many recordings disturbs nobody.
inline constexpr size_t kAccountStep = 64;

// Reads the manifests of at most `most` closed recordings that are in the account as their rows
// have them, and corrects the account and the rows. A manifest that all members have lost is
// written from the row if the index says whose it is, and the log names the recording. What cannot
// be read stays in the account and is not sure. Any thread; waits for the disk.
void ReadAccount(Recordings& recordings, luns::OpenLun& lun, size_t most);

}  // namespace tapedeck::storage_node::recordings
