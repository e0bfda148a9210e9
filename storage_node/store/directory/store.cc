#include "storage_node/store/directory/store.h"

#include <fcntl.h>

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/model/words/resource_name.h"
#include "storage_node/format/limits.h"
#include "storage_node/format/sigmf.h"
#include "storage_node/store/directory/listing.h"
#include "storage_node/store/directory/mark.h"
#include "storage_node/store/directory/presence.h"
#include "storage_node/store/host_ring.h"

namespace tapedeck::storage_node::store::directory {
namespace {

using disk::Directory;
using disk::EntryKind;

// What a deleted recording is renamed to until its files are gone; with a tilde and a number, which
// no id has, where something else has that name.
constexpr absl::string_view kDeletedPrefix = ".deleted-";
constexpr char kDeletedNumber = '~';
constexpr int kDeletedNames = 10;

// All that a recording's directory has of ours. What carries the mark goes last, so that a deletion
// that is cut short can be gone on with.
constexpr const char* kFiles[] = {
    "data",        "data.sigmf-meta.new", "index", "manifest.json.new", kDamagedManifestFile,
    kManifestFile, kDeletedManifestFile};

// None: `name` is no such name.
std::optional<std::string> IdOfDeleted(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, kDeletedPrefix) || name.empty()) return std::nullopt;
  return std::string(name.substr(0, name.find(kDeletedNumber)));
}

// Written by us, and as it was then.
bool HasOwnSigmf(const Directory& recording) {
  const auto text = recording.ReadFile(kSigmfMetaFile, format::kMaxManifestBytes);
  return text.ok() && format::IsOwnSigmf(*text);
}

class DirectoryStore final : public store::Store,
                             public store::OpenData,
                             public store::Recovery,
                             public store::MemberFiles {
 public:
  DirectoryStore(std::unique_ptr<Member> member, Kind kind)
      : member_(std::move(member)), kind_(std::move(kind)), presence_(*member_) {}
  // What is queued may still use what the kind holds.
  ~DirectoryStore() override { member_->Stop(); }

  absl::StatusOr<std::unique_ptr<store::RecordingFiles>> Open(
      const store::RecordingPath& path, const store::Opening& how,
      dataplane::Executor& executor) override;
  absl::Status DeleteRecording(const store::RecordingPath& path) override;
  absl::Status BeginDeletion(const store::RecordingPath& path) override;
  absl::StatusOr<std::vector<store::RecordingPath>> BegunDeletions(
      const store::Known& known) override {
    return ListBegunDeletions(*member_, known);
  }
  absl::Status FinishDeletions(const store::Known& known) override;
  absl::StatusOr<std::vector<std::string>> UnknownChannels(const store::Known& known) override {
    return ListUnknownChannels(*member_, known);
  }
  absl::StatusOr<std::vector<store::RecordingPath>> ListRecordings(
      const store::Known& known) override {
    return directory::ListRecordings(*member_, known);
  }
  absl::Status Look() override { return presence_.Look(); }
  absl::Status Describe(const services::Lun& lun) override { return member_->Tell(lun); }
  absl::Status WriteSigmf(const store::RecordingPath& path, absl::string_view text) override;
  void Prewrite(const services::Lun& lun) override {
    member_->spares().Keep(lun.prewrite_files, lun.prewrite_bytes);
  }
  absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(
      const store::RingSpec& spec) override {
    return store::MakeHostRing(spec, {this});
  }
  store::Extras extras() override {
    return {.recovery = this,
            .member_files = this,
            .open_data = this,
            .behind_mark = member_.get(),
            .disk_engine = kind_.disk_engine.get()};
  }

 private:
  const Directory& root() const { return member_->root(); }
  absl::Status MakeRecordingDirectory(const store::RecordingPath& path) const;
  // Gives the recording's directory the name of a deleted one, which is returned. NOT_FOUND.
  absl::StatusOr<std::string> SetAside(const Directory& channel,
                                       const std::string& recording) const;
  // Of a recording whose deletion is durable.
  absl::Status RemoveFiles(const Directory& channel, const std::string& name,
                           const std::string& recording) const;
  bool MayRemove(const Directory& channel, const std::string& name,
                 const store::RecordingPath& path, const store::Known& known) const;
  absl::Status FinishChannel(const std::string& id, const store::Known& known) const;
  absl::StatusOr<std::unique_ptr<store::RecordingFiles>> OpenMade(const store::RecordingPath& path,
                                                                  Purpose purpose,
                                                                  dataplane::Executor& executor) {
    TD_ASSIGN_OR_RETURN(auto files, OpenFiles::Open(*member_, path, kind_.data_flags, purpose));
    TD_RETURN_IF_ERROR(presence_.Add(files));
    return kind_.open(std::move(files), executor);
  }

  const std::unique_ptr<Member> member_;
  const Kind kind_;
  Presence presence_;
};

absl::Status DirectoryStore::MakeRecordingDirectory(const store::RecordingPath& path) const {
  TD_ASSIGN_OR_RETURN(const Directory channel, root().MakeDirectory(path.channel));
  return channel.MakeNewDirectory(path.recording);
}

absl::StatusOr<std::unique_ptr<store::RecordingFiles>> DirectoryStore::Open(
    const store::RecordingPath& path, const store::Opening& how, dataplane::Executor& executor) {
  const bool creates = how.purpose == Purpose::kCreate;
  if (creates || how.purpose == Purpose::kMend) {
    const absl::Status made =
        member_->spares().WithRoom([&] { return MakeRecordingDirectory(path); });
    if (!made.ok() && (creates || !absl::IsAlreadyExists(made))) return made;
  }
  auto files = OpenMade(path, how.purpose, executor);
  // Nothing would tell later whose it was.
  if (creates && !files.ok()) DeleteRecording(path).IgnoreError();
  return files;
}

absl::Status DirectoryStore::WriteSigmf(const store::RecordingPath& path, absl::string_view text) {
  TD_ASSIGN_OR_RETURN(const Directory directory,
                      root().OpenDirectory(absl::StrCat(path.channel, "/", path.recording)));
  TD_ASSIGN_OR_RETURN(const EntryKind kind, directory.KindOf(kSigmfMetaFile));
  if (kind != EntryKind::kNone && !HasOwnSigmf(directory)) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory.PathOf(kSigmfMetaFile),
                     " is not Tapedeck's, or was edited: the node leaves it as it is"));
  }
  TD_RETURN_IF_ERROR(directory.MakeLink(kSigmfDataLink, "data"));
  return directory.WriteFile(kSigmfMetaFile, text);
}

absl::StatusOr<std::string> DirectoryStore::SetAside(const Directory& channel,
                                                     const std::string& recording) const {
  TD_RETURN_IF_ERROR(channel.OpenDirectory(recording).status());  // a link is not renamed
  absl::Status status;
  for (int number = 0; number < kDeletedNames; ++number) {
    std::string name = absl::StrCat(kDeletedPrefix, recording);
    if (number > 0) absl::StrAppend(&name, std::string(1, kDeletedNumber), number);
    status = channel.Rename(recording, channel, name);
    if (status.ok()) return name;
    if (!absl::IsAlreadyExists(status)) break;
  }
  return status;
}

absl::Status DirectoryStore::DeleteRecording(const store::RecordingPath& path) {
  const auto channel = root().OpenDirectory(path.channel);
  if (absl::IsNotFound(channel.status())) return absl::OkStatus();
  TD_RETURN_IF_ERROR(channel.status());
  auto name = SetAside(*channel, path.recording);
  if (absl::IsNotFound(name.status())) {
    // A deletion that has failed before may have come that far.
    name = absl::StrCat(kDeletedPrefix, path.recording);
    if (!MayRemove(*channel, *name, path, {})) return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(name.status());
  TD_RETURN_IF_ERROR(channel->Sync());
  TD_RETURN_IF_ERROR(RemoveFiles(*channel, *name, path.recording));
  return root().RemoveEmpty(path.channel).status();  // it stays unless it is empty
}

// The manifest stays under another name: the part of a member without an index has no other mark.
absl::Status DirectoryStore::BeginDeletion(const store::RecordingPath& path) {
  const auto directory = root().OpenDirectory(absl::StrCat(path.channel, "/", path.recording));
  if (IsNotThere(directory.status())) return absl::OkStatus();
  TD_RETURN_IF_ERROR(directory.status());
  TD_ASSIGN_OR_RETURN(const EntryKind kind, directory->KindOf(kManifestFile));
  if (kind == EntryKind::kFile) {
    TD_RETURN_IF_ERROR(directory->RemoveFile(kDeletedManifestFile).status());
    TD_RETURN_IF_ERROR(directory->Rename(kManifestFile, *directory, kDeletedManifestFile));
  }
  TD_ASSIGN_OR_RETURN(const EntryKind deleted, directory->KindOf(kDeletedManifestFile));
  if (deleted == EntryKind::kNone) {  // it had lost its manifest
    TD_RETURN_IF_ERROR(directory->OpenFile(kDeletedManifestFile, O_WRONLY | O_CREAT).status());
  }
  // An earlier attempt may have renamed it, and failed to make that durable.
  return directory->Sync();
}

absl::Status DirectoryStore::RemoveFiles(const Directory& channel, const std::string& name,
                                         const std::string& recording) const {
  TD_ASSIGN_OR_RETURN(const Directory directory, channel.OpenDirectory(name));
  member_->spares().GiveBack(directory);
  TD_RETURN_IF_ERROR(directory.RemoveLink(kSigmfDataLink, "data").status());
  if (HasOwnSigmf(directory)) TD_RETURN_IF_ERROR(directory.RemoveFile(kSigmfMetaFile).status());
  for (const char* file : kFiles) TD_RETURN_IF_ERROR(directory.RemoveFile(file).status());
  TD_ASSIGN_OR_RETURN(const bool gone, channel.RemoveEmpty(name));
  member_->spares().RoomCameFree();
  if (gone) return absl::OkStatus();
  // Whoever has put something there looks for it where it was.
  TD_RETURN_IF_ERROR(channel.Rename(name, channel, recording));
  Foreign foreign(channel.PathOf(recording));
  TD_ASSIGN_OR_RETURN(const auto entries, directory.List());
  for (const disk::Entry& entry : entries) foreign.Add(entry.name);
  return absl::OkStatus();
}

// The catalog vouches for it unless the recording itself is still there under its own name.
bool DirectoryStore::MayRemove(const Directory& channel, const std::string& name,
                               const store::RecordingPath& path, const store::Known& known) const {
  const auto directory = channel.OpenDirectory(name);
  if (!directory.ok()) return false;
  if (CarriesMark(*member_, *directory, path)) return true;
  const auto there = channel.KindOf(path.recording);
  return known.recordings.contains(path) && there.ok() && *there == EntryKind::kNone;
}

absl::Status DirectoryStore::FinishChannel(const std::string& id, const store::Known& known) const {
  const auto channel = root().OpenDirectory(id);
  if (IsNotThere(channel.status())) return absl::OkStatus();
  TD_RETURN_IF_ERROR(channel.status());
  TD_ASSIGN_OR_RETURN(const auto entries, channel->List());
  for (const disk::Entry& entry : entries) {
    const auto recording = IdOfDeleted(entry.name);
    if (!recording.has_value() || entry.kind != EntryKind::kDirectory) continue;
    if (!services::CheckId(*recording).ok()) continue;
    const store::RecordingPath path{.channel = id, .recording = *recording};
    if (!MayRemove(*channel, entry.name, path, known)) continue;
    TD_RETURN_IF_ERROR(RemoveFiles(*channel, entry.name, *recording));
    dataplane::LogEach(
        dataplane::LogLevel::kInfo, "directory", "recording deleted",
        {{"path", channel->PathOf(*recording)}, {"why", "the node stopped during its deletion"}});
  }
  return absl::OkStatus();
}

absl::Status DirectoryStore::FinishDeletions(const store::Known& known) {
  for (const std::string& id : known.channels) TD_RETURN_IF_ERROR(FinishChannel(id, known));
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<store::Store> MakeStore(std::unique_ptr<Member> member, Kind kind) {
  return std::make_unique<DirectoryStore>(std::move(member), std::move(kind));
}

}  // namespace tapedeck::storage_node::store::directory
