#include "storage_node/recordings/recordings.h"

#include <optional>

#include "dataplane/deadline.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/format/limits.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/recording/recovery/recovery.h"
#include "storage_node/recordings/metadata_writer.h"
#include "storage_node/recordings/sigmf_view.h"
#include "storage_node/repair/manifest_repair.h"

namespace tapedeck::storage_node::recordings {
namespace {

constexpr char kAbandoned[] = "ABORTED: the session ended without closing the recording";
constexpr char kNotClosedYet[] =
    "ABORTED: the session ended without closing the recording; the node closes it";

// How long whoever shows recordings waits for disks.
constexpr absl::Duration kShowPatience = absl::Seconds(1);

constexpr size_t kMaxShownLabelBytes = 64 << 10;

// Of a recording that is gone: looked at for the one that it has become.
constexpr size_t kMaxCopies = 16;

// That the log names once each while the node runs.
constexpr size_t kMostUnread = 4096;

// What was written by somebody else or before there were limits must not make an answer that no
// message holds.
void Shorten(services::Recording* recording) {
  size_t bytes = 0;
  std::erase_if(recording->labels, [&](const auto& label) {
    bytes += label.first.size() + label.second.size();
    return bytes > kMaxShownLabelBytes;
  });
  bytes = 0;
  std::erase_if(recording->annotations, [&](const services::Annotation& annotation) {
    bytes += services::BytesOf(annotation);
    return bytes > services::kMaxAnnotationBytes;
  });
}

bool IsClosed(const format::Manifest& manifest) {
  return manifest.state != services::RecordingState::kRecording;
}

// What the members say of the recording of a row.
absl::StatusOr<format::Manifest> Stored(store::Store& store, const store::RecordingPath& path,
                                        const dataplane::Clock& clock,
                                        const format::Manifest& row) {
  TD_ASSIGN_OR_RETURN(auto stored, recording::LoadManifest(store, path, clock));
  const std::string whose = absl::StrCat("the manifest of ", path.channel, "/", path.recording);
  if (stored.index_header() != row.index_header()) {
    return absl::DataLossError(absl::StrCat(whose, " is another's"));
  }
  // A change is on every member before the catalog has it.
  if (IsClosed(row) && stored.generation < row.generation) {
    return absl::DataLossError(absl::StrCat(whose, " is older than what the catalog has of it"));
  }
  return stored;
}

// Markers and keeps of a recording that was not closed: its writer has put them into its files
// alone.
void TakeNotes(format::Manifest stored, format::Manifest* manifest) {
  manifest->annotations = std::move(stored.annotations);
  manifest->kept = stored.kept;
  manifest->description = std::move(stored.description);
  manifest->labels = std::move(stored.labels);
  manifest->generation = stored.generation;
}

// The catalog is behind the files of a closed recording if the node died between the two.
void TakeNewer(store::Store& store, const store::RecordingPath& path, const dataplane::Clock& clock,
               format::Manifest* manifest) {
  auto stored = Stored(store, path, clock, *manifest);
  if (!stored.ok()) return;
  if (IsClosed(*stored) && stored->generation > manifest->generation) {
    *manifest = *std::move(stored);
  }
}

void LogNotCarried(const catalog::ResourceName& name, const absl::Status& why) {
  dataplane::Log(dataplane::LogLevel::kWarning, "recordings",
                 "a segment is deleted, and the next one does not say which signal it begins with",
                 {{"recording", name.ToString()}, {"error", std::string(why.message())}});
}

}  // namespace

absl::StatusOr<services::Channel> Recordings::FindChannel(const catalog::ResourceName& name) {
  std::optional<services::Channel> channel;
  if (const auto lun = luns_.Find(name.lun); lun.ok()) {
    channel = (*lun)->channels->Find(name.channel);
  } else {
    TD_RETURN_IF_ERROR(luns_.CheckExists(name.lun));  // it is offline
    TD_ASSIGN_OR_RETURN(channel, catalog_->GetChannel(name));
    // Which channels a LUN has that another node has, that node knows.
    if (!channel.has_value() && luns_.IsStandby(name.lun)) return lun.status();
  }
  if (channel.has_value()) return *std::move(channel);
  return services::WithReason(
      absl::NotFoundError(
          absl::StrCat("no channel ", name.channel_name(), "; tapectl channel create makes one")),
      "CHANNEL_NOT_FOUND", {{"channel", name.channel_name()}});
}

absl::StatusOr<std::vector<services::Channel>> Recordings::ListChannels(const std::string& lun_id) {
  if (const auto lun = luns_.Find(lun_id); lun.ok()) return (*lun)->channels->All();
  TD_RETURN_IF_ERROR(luns_.CheckExists(lun_id));
  return catalog_->ListChannels(lun_id);
}

absl::StatusOr<FoundRecording> Recordings::Find(const std::string& text) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseRecordingName(text));
  TD_RETURN_IF_ERROR(FindChannel(name).status());
  TD_ASSIGN_OR_RETURN(auto lun, luns_.Find(name.lun));
  TD_ASSIGN_OR_RETURN(auto manifest, catalog_->GetRecording(name));
  if (!manifest.has_value()) return NotFound(text);
  TD_RETURN_IF_ERROR(recording::CheckWhose(*manifest, PathOf(name, *manifest), *lun->config.now()));
  return FoundRecording{.name = name, .lun = std::move(lun), .manifest = *std::move(manifest)};
}

absl::StatusOr<FoundRecording> Recordings::FindClosed(const std::string& text) {
  TD_ASSIGN_OR_RETURN(FoundRecording found, Find(text));
  catalog::RecordingRow row{.name = found.name, .manifest = std::move(found.manifest)};
  TD_RETURN_IF_ERROR(CloseAbandoned(*found.lun, &row, kAbandoned));
  found.manifest = std::move(row.manifest);
  return found;
}

absl::Status Recordings::NotFound(const std::string& name) {
  TD_ASSIGN_OR_RETURN(const auto copies, catalog_->CopiesOf(name, kMaxCopies));
  for (const catalog::ResourceName& copy : copies) {
    TD_ASSIGN_OR_RETURN(const auto manifest, catalog_->GetRecording(copy));
    // One that was not ended does not have all of it.
    if (manifest.has_value() && manifest->state == services::RecordingState::kSealed) {
      return services::RecordingMoved(name, copy.ToString());
    }
  }
  return services::RecordingNotFound(
      name, absl::StrCat("no recording ", name, "; tapectl recordings list shows those there are"));
}

// The members' word counts: the row may have been left behind by a state directory that failed.
absl::Status Recordings::CloseAbandoned(luns::OpenLun& lun, catalog::RecordingRow* row,
                                        const std::string& cause) {
  if (IsClosed(row->manifest)) return absl::OkStatus();
  const std::string name = row->name.ToString();
  const auto lease = leases_->TakeExclusive(name);
  if (lease == nullptr) return absl::OkStatus();
  // Its writer may have sealed it between the query and the lease.
  TD_ASSIGN_OR_RETURN(auto manifest, catalog_->GetRecording(row->name));
  if (!manifest.has_value()) return absl::OkStatus();
  row->manifest = *std::move(manifest);
  if (IsClosed(row->manifest)) return absl::OkStatus();
  const store::RecordingPath path = PathOf(row->name, row->manifest);
  auto stored = Stored(*lun.store, path, luns_.clock(), row->manifest);
  if (stored.ok() && IsClosed(*stored)) {
    row->manifest = *std::move(stored);
  } else {
    // The row has what a manifest had that is lost or damaged; a disk that fails is waited for.
    const bool lost = absl::IsNotFound(stored.status()) || absl::IsDataLoss(stored.status());
    if (!stored.ok() && !lost) return stored.status();
    if (stored.ok()) TakeNotes(*std::move(stored), &row->manifest);
    TD_ASSIGN_OR_RETURN(row->manifest,
                        recording::SalvageRecording(
                            *lun.store, path, row->manifest, cause, luns_.clock(),
                            lost ? recording::Cut::kNothing : recording::Cut::kBeyondTheLast));
    WriteSigmfView(*lun.store, path, row->manifest, luns_.clock());
  }
  lun.capacity->Settle(name, lun.TakenBy(row->manifest), recording::Capacity::Known::kByFiles);
  catalog_->PutRecording(row->name, row->manifest);
  return absl::OkStatus();
}

absl::Status Recordings::CloseLeft(const std::string& recording) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseRecordingName(recording));
  const auto lun = luns_.Find(name.lun);
  if (absl::IsNotFound(lun.status())) return absl::OkStatus();
  TD_RETURN_IF_ERROR(lun.status());  // its opening closes it
  TD_ASSIGN_OR_RETURN(auto manifest, catalog_->GetRecording(name));
  if (!manifest.has_value()) return absl::OkStatus();
  catalog::RecordingRow row{.name = name, .manifest = *std::move(manifest)};
  TD_RETURN_IF_ERROR(CloseAbandoned(**lun, &row, kAbandoned));
  const auto live = live_.Find(recording);
  if (IsClosed(row.manifest) || (live != nullptr && live->closed() == nullptr)) {
    return absl::OkStatus();
  }
  return Busy({.name = name, .lun = *lun, .manifest = row.manifest}, "is in use");
}

bool Recordings::AwaitLeft(const std::vector<catalog::RecordingRow>& rows) {
  bool any = false;
  const absl::Time deadline = dataplane::SteadyTime() + kShowPatience;
  for (const catalog::RecordingRow& row : rows) {
    const std::string name = row.name.ToString();
    if (IsClosed(row.manifest)) continue;
    const auto live = live_.Find(name);
    if (live != nullptr && live->closed() == nullptr) continue;
    any = true;
    closer_->AwaitTried(name, deadline - dataplane::SteadyTime());
  }
  return any;
}

absl::StatusOr<format::Manifest> Recordings::OnMembers(luns::OpenLun& lun,
                                                       const catalog::ResourceName& name,
                                                       const format::Manifest& row) {
  TD_ASSIGN_OR_RETURN(auto stored, Stored(*lun.store, PathOf(name, row), luns_.clock(), row));
  if (!IsClosed(stored)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the members do not say that ", name.ToString(), " is closed"));
  }
  return stored;
}

void Recordings::Correct(const catalog::ResourceName& name, const format::Manifest& row,
                         const format::Manifest& stored) {
  if (format::EncodeManifest(stored) == format::EncodeManifest(row)) return;
  catalog_->PutRecording(name, stored);
}

void LogDeleted(const catalog::ResourceName& name, absl::string_view why) {
  dataplane::LogEach(dataplane::LogLevel::kInfo, "recordings", "recording deleted",
                     {{"recording", name.ToString()}, {"why", std::string(why)}});
}

absl::StatusOr<bool> Recordings::Remove(const catalog::ResourceName& name, luns::OpenLun& lun,
                                        absl::string_view why, const MayGo& may_go) {
  const auto lease = leases_->TakeExclusive(name.ToString());
  if (lease == nullptr) return false;
  // What was found before the lease may have changed or gone.
  TD_ASSIGN_OR_RETURN(auto manifest, catalog_->GetRecording(name));
  if (!manifest.has_value()) return true;
  if (may_go) {
    auto stored = OnMembers(lun, name, *manifest);
    if (!stored.ok()) {
      TellUnread(name.ToString(), stored.status());
      return false;
    }
    Correct(name, *manifest, *stored);
    manifest = *std::move(stored);
    if (!may_go(*manifest)) return false;
  }
  TD_RETURN_IF_ERROR(catalog_->CheckTakes());
  // A ring goes on all the same.
  if (const absl::Status carried = MetadataWriter(*this).CarrySignal(name, *manifest);
      !carried.ok()) {
    LogNotCarried(name, carried);
  }
  SetHalfDeleted(name.ToString(), true);
  TD_RETURN_IF_ERROR(lun.store->DeleteRecording(PathOf(name, *manifest)));
  SetHalfDeleted(name.ToString(), false);
  LogDeleted(name, why);
  catalog_->DeleteRecording(name);
  // Whoever sees the room sees that the recording is gone.
  lun.capacity->Forget(name.ToString());
  return true;
}

void Recordings::SetHalfDeleted(const std::string& name, bool is) {
  absl::MutexLock lock(&mutex_);
  if (is) half_deleted_.insert(name);
  if (!is) half_deleted_.erase(name);
}

absl::Status Recordings::CheckNotHalfDeleted(const FoundRecording& found) {
  absl::MutexLock lock(&mutex_);
  if (!half_deleted_.contains(found.name.ToString())) return absl::OkStatus();
  return Busy(found,
              "could not be deleted completely: delete it again; the next start of the storage "
              "node continues, too");
}

void Recordings::TellUnread(const std::string& name, const absl::Status& why) {
  {
    absl::MutexLock lock(&mutex_);
    if (unread_.size() >= kMostUnread || !unread_.insert(name).second) return;
  }
  dataplane::Log(dataplane::LogLevel::kWarning, "recordings",
                 "policies skip this recording: its manifest cannot be read; tapectl keep, or a "
                 "change of its labels, writes it again",
                 {{"recording", name}, {"error", std::string(why.message())}});
}

absl::StatusOr<FoundRecording> Recordings::Rewrite(
    const std::string& recording, const std::function<absl::Status(format::Manifest*)>& change) {
  // Before the lease, beside which nobody closes it.
  TD_RETURN_IF_ERROR(FindClosed(recording).status());
  const auto lease = leases_->TakeShared(recording);
  TD_ASSIGN_OR_RETURN(FoundRecording found, Find(recording));
  const absl::MutexLock lock(found.lun->rewriting.get());
  // It may have changed before the lock.
  TD_ASSIGN_OR_RETURN(found, Find(recording));
  if (lease == nullptr || found.manifest.state == services::RecordingState::kRecording) {
    return Busy(found, "is being closed or deleted; try again");
  }
  TD_RETURN_IF_ERROR(CheckNotHalfDeleted(found));
  TD_RETURN_IF_ERROR(catalog_->CheckTakes());
  TakeNewer(*found.lun->store, found.path(), luns_.clock(), &found.manifest);
  TD_RETURN_IF_ERROR(change(&found.manifest));
  found.manifest.Advance();
  const std::string text = format::EncodeManifest(found.manifest);
  if (text.size() > format::kMaxManifestBytes) {
    return services::LimitReached(
        format::kMaxManifestBytes, "bytes of a manifest",
        absl::StrCat(recording, ": its manifest would have ", text.size(),
                     " bytes with this change, and ", format::kMaxManifestBytes,
                     " are the limit; use shorter markers"));
  }
  recording::CallerLoop loop(luns_.clock());
  TD_ASSIGN_OR_RETURN(const auto files, found.lun->store->Open(found.path(), {}, loop));
  TD_RETURN_IF_ERROR(recording::Await<absl::Status>(
      loop, [&](auto done) { files->WriteManifest(text, std::move(done)); }));
  WriteSigmfView(*found.lun->store, found.path(), found.manifest, luns_.clock());
  found.lun->capacity->Settle(recording, found.lun->TakenBy(found.manifest),
                              recording::Capacity::Known::kByFiles);
  catalog_->PutRecording(found.name, found.manifest);
  return found;
}

// What is acknowledged stays, even if the power is cut.
absl::StatusOr<FoundRecording> Recordings::Note(const std::string& recording,
                                                const NoteLive& to_live,
                                                const NoteClosed& to_closed) {
  TD_ASSIGN_OR_RETURN(const FoundRecording found, Find(recording));
  const auto live = live_.Find(recording);
  if (live == nullptr || live->closed() != nullptr) {
    return Rewrite(recording,
                   [&](format::Manifest* manifest) { return to_closed(found, manifest); });
  }
  TD_ASSIGN_OR_RETURN(const bool taken, to_live(found, *live));
  if (!taken) return Busy(found, "is being closed; try again");
  if (live->AwaitNoted()) return found;
  return Busy(found, "failed before this was on the disk; try again");
}

bool Recordings::AwaitClosed(const std::string& recording, dataplane::Deadline deadline) {
  // Its writer lets go of the lease a moment before it says that it is closed.
  const auto live = live_.Find(recording);
  if (live != nullptr && !live->AwaitClosed(deadline)) return false;
  return leases_->AwaitEnd(recording, deadline);
}

absl::StatusOr<repair::RepairProgress> Recordings::MendManifest(const std::string& recording) {
  TD_ASSIGN_OR_RETURN(FoundRecording found, Find(recording));
  const absl::MutexLock lock(found.lun->rewriting.get());
  TD_ASSIGN_OR_RETURN(found, Find(recording));
  TD_RETURN_IF_ERROR(CheckNotHalfDeleted(found));
  return repair::RepairManifest(*found.lun->store, found.path(), found.manifest, luns_.clock());
}

services::Recording Recordings::Present(const catalog::RecordingRow& row) {
  services::Recording recording = format::ToRecording(row.manifest, row.name.channel_name());
  Shorten(&recording);
  const auto live = live_.Find(recording.name);
  // Its writer lets go of it a moment after the catalog knows that it is closed.
  if (live != nullptr && live->closed() == nullptr) {
    recording.state = services::RecordingState::kRecording;
    recording.blocks = live->blocks;
    recording.bytes = live->bytes;
    recording.missing_blocks = live->missing_blocks;
    recording.durable_watermark = live->durable;
    recording.start_time_ns = live->start_time_ns();
    recording.stage_times = live->stage_times();
    recording = live->Noted(std::move(recording));
  } else if (!IsClosed(row.manifest) && !leases_->IsHeld(recording.name)) {
    recording.cause = kNotClosedYet;
  }
  return recording;
}

absl::Status Busy(const FoundRecording& recording, absl::string_view why) {
  const bool writing = recording.manifest.state == services::RecordingState::kRecording;
  const std::string name = recording.name.ToString();
  return services::RecordingBusy(name, writing ? "RECORDING" : "IN_USE",
                                 absl::StrCat(name, " ", why));
}

}  // namespace tapedeck::storage_node::recordings
