#include "storage_node/luns/config_files.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/model/words/resource_name.h"
#include "storage_node/catalog/names.h"
#include "storage_node/disk/directory.h"
#include "storage_node/disk/durable_file.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/config.h"
#include "storage_node/format/limits.h"
#include "storage_node/format/lun_note.h"

namespace tapedeck::storage_node::luns {
namespace {

std::string LunDirectory(const std::string& state_dir) { return absl::StrCat(state_dir, "/luns"); }

std::string LunFile(const std::string& state_dir, const std::string& lun_id) {
  return absl::StrCat(LunDirectory(state_dir), "/", lun_id, ".json");
}

std::string NewFile(absl::string_view file) { return absl::StrCat(file, ".new"); }

constexpr char kChannelFile[] = "channel.json";

// The channel that directory `id` says it is; NOT_FOUND: it says nothing.
absl::StatusOr<services::Channel> ReadChannel(const disk::Directory& root, const OpenLun& lun,
                                              const std::string& id) {
  TD_ASSIGN_OR_RETURN(const auto directory, root.OpenDirectory(id));
  TD_ASSIGN_OR_RETURN(const std::string text,
                      directory.ReadFile(kChannelFile, format::kMaxConfigBytes));
  TD_ASSIGN_OR_RETURN(format::ChannelFile file, format::DecodeChannelFile(text));
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName said,
                      catalog::ParseChannelName(file.channel.name));
  const std::string name = absl::StrCat(lun.config->name, "/channels/", id);
  // Its LUN may have had another name, but not another uid.
  const bool same_lun =
      file.lun_uid.empty() ? file.channel.name == name : file.lun_uid == lun.config->recorded_uid();
  if (!same_lun || said.channel != id) {
    return absl::DataLossError(
        absl::StrCat(directory.PathOf(kChannelFile), ": it belongs to ", file.channel.name));
  }
  file.channel.name = name;
  return std::move(file.channel);
}

// The note of a LUN of devices, for which its mutex is held.
struct OpenNote {
  uint64_t generation = 0;
  bool right = false;  // it says what the LUN is
  format::LunNote said;
};

absl::StatusOr<OpenNote> ReadLunNote(const OpenLun& lun) {
  TD_ASSIGN_OR_RETURN(const store::Note note, lun.store->extras().notebook->ReadNote());
  OpenNote open{.generation = note.generation};
  if (note.generation > 0) {
    TD_ASSIGN_OR_RETURN(open.said, format::DecodeLunNote(note.text));
  }
  const auto config = lun.config.now();
  open.right =
      note.generation > 0 && format::EncodeLun(open.said.lun, 0) == format::EncodeLun(*config, 0);
  open.said.lun = *config;
  // An older one of another member may have the LUN's name of that time.
  for (services::Channel& channel : open.said.channels) {
    TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(channel.name));
    channel.name = absl::StrCat(lun.config->name, "/channels/", name.channel);
  }
  return open;
}

store::Note NextNote(const OpenNote& note) {
  return {.generation = note.generation + 1, .text = format::EncodeLunNote(note.said)};
}

absl::Status WriteLunNote(const OpenLun& lun, const OpenNote& note) {
  return lun.store->extras().notebook->WriteNote(NextNote(note));
}

bool HasNotebook(const OpenLun& lun) {
  return lun.store != nullptr && lun.store->extras().notebook != nullptr;
}

void EraseChannel(OpenNote* note, const std::string& name) {
  std::erase_if(note->said.channels,
                [&](const services::Channel& channel) { return channel.name == name; });
}

// Where the channels of a LUN of directories are read, and then where else they lie.
std::vector<std::string> ChannelRoots(const OpenLun& lun) {
  if (lun.store == nullptr || lun.store->extras().copies == nullptr) return {lun.channel_root};
  return lun.store->extras().copies->roots();
}

absl::StatusOr<std::vector<std::string>> ChannelRootsToWrite(const OpenLun& lun) {
  if (lun.store == nullptr || lun.store->extras().copies == nullptr) {
    return std::vector<std::string>{lun.channel_root};
  }
  TD_ASSIGN_OR_RETURN(auto roots, lun.store->extras().copies->RootsToWrite());
  std::ranges::reverse(roots);  // the one that is read says it last
  return roots;
}

// Recordings of a channel whose own file is lost.
absl::StatusOr<std::set<std::string>> RecordingsOf(const OpenLun& lun, const std::string& id) {
  std::set<std::string> recordings;
  if (lun.store == nullptr) return recordings;
  TD_ASSIGN_OR_RETURN(const auto paths, lun.store->ListRecordings(
                                            {.channels = {id}, .recordings = {}, .is_part = true}));
  for (const store::RecordingPath& path : paths) {
    if (path.channel == id) recordings.insert(path.recording);
  }
  return recordings;
}

// A file without a byte says nothing that could be lost.
bool IsEmptyChannelFile(const disk::Directory& directory, const disk::Entry& entry) {
  if (entry.kind != disk::EntryKind::kFile || entry.name != kChannelFile) return false;
  const auto text = directory.ReadFile(kChannelFile, format::kMaxConfigBytes);
  return text.ok() && text->empty();
}

// A directory of that name may be what a crash has left of making the same channel, or have our
// recordings: what others have put beside those stays.
absl::Status CheckFree(const disk::Directory& root, const OpenLun& lun, const std::string& id) {
  TD_ASSIGN_OR_RETURN(const auto directory, root.OpenDirectory(id));
  if (ReadChannel(root, lun, id).ok()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const auto entries, directory.List());
  TD_ASSIGN_OR_RETURN(const auto recordings, RecordingsOf(lun, id));
  for (const disk::Entry& entry : entries) {
    if (entry.kind == disk::EntryKind::kFile && entry.name == NewFile(kChannelFile)) continue;
    if (recordings.contains(entry.name) || IsEmptyChannelFile(directory, entry)) continue;
    if (!recordings.empty() && entry.name != kChannelFile) continue;
    return disk::MemberNotEmpty(
        root.path(), entry.name,
        absl::StrCat("mkdir ", directory.path(), ": the directory exists and holds ", entry.name,
                     ", which is not Tapedeck's; choose another name for the channel, or move it "
                     "elsewhere"));
  }
  return absl::OkStatus();
}

// Where a LUN keeps its channels may be the state directory.
absl::Status OfRoot(const OpenLun& lun, const std::string& root, const absl::Status& status) {
  const bool member = std::ranges::count(lun.config->members, root) > 0;
  return member ? status : disk::OfState(root, status);
}

absl::Status WriteChannel(const disk::Directory& root, const OpenLun& lun,
                          const services::Channel& channel, const std::string& id) {
  TD_ASSIGN_OR_RETURN(const auto directory, root.MakeDirectory(id));
  TD_RETURN_IF_ERROR(CheckFree(root, lun, id));
  TD_RETURN_IF_ERROR(directory.WriteFile(
      kChannelFile, format::EncodeChannel(channel, lun.config->recorded_uid())));
  return root.Sync();
}

absl::Status RemoveChannel(const disk::Directory& root, const std::string& id) {
  const auto directory = root.OpenDirectory(id);
  // A link of that name is somebody else's.
  if (absl::IsNotFound(directory.status()) || absl::IsFailedPrecondition(directory.status())) {
    return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(directory.status());
  TD_RETURN_IF_ERROR(directory->RemoveFile(NewFile(kChannelFile)).status());
  TD_RETURN_IF_ERROR(directory->RemoveFile(kChannelFile).status());
  return root.RemoveEmpty(id).status();
}

// What `root` says of a channel becomes what it is.
absl::Status TellChannel(const disk::Directory& root, const OpenLun& lun,
                         const services::Channel& channel, bool make) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(channel.name));
  const std::string now = format::EncodeChannel(channel, lun.config->recorded_uid());
  const auto directory = root.OpenDirectory(name.channel);
  if (make && absl::IsNotFound(directory.status())) {
    return WriteChannel(root, lun, channel, name.channel);
  }
  TD_RETURN_IF_ERROR(directory.status());
  const auto text = directory->ReadFile(kChannelFile, format::kMaxConfigBytes);
  if (!text.ok() && !make) return text.status();
  return text.ok() && *text == now ? absl::OkStatus() : directory->WriteFile(kChannelFile, now);
}

// Channels that the root which is believed has not even a directory of.
absl::Status RemoveOtherChannels(const disk::Directory& root, const OpenLun& lun,
                                 const disk::Directory& believed) {
  TD_ASSIGN_OR_RETURN(const auto entries, root.List());
  for (const disk::Entry& entry : entries) {
    if (entry.kind != disk::EntryKind::kDirectory || !services::CheckId(entry.name).ok()) continue;
    if (!absl::IsNotFound(believed.OpenDirectory(entry.name).status())) continue;
    if (ReadChannel(root, lun, entry.name).ok()) {
      TD_RETURN_IF_ERROR(RemoveChannel(root, entry.name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<services::Lun> ReadLunOf(const std::string& state_dir, const std::string& path) {
  const auto text = disk::ReadFile(path, format::kMaxConfigBytes, state_dir);
  if (!text.ok()) return disk::OfState(state_dir, text.status());
  auto lun = format::DecodeLun(*text);
  if (absl::IsFailedPrecondition(lun.status())) {
    return absl::FailedPreconditionError(absl::StrCat("read ", path, ": ", lun.status().message(),
                                                      ", with another state directory (--state)"));
  }
  if (lun.ok()) return lun;
  return absl::DataLossError(absl::StrCat("read ", path, ": ", lun.status().message(),
                                          "; move it elsewhere, then: tapectl lun attach --member "
                                          "with each of the LUN's members"));
}

}  // namespace

LunFiles LookAtLunFiles(const std::string& state_dir) {
  LunFiles found;
  const auto names = disk::ListDirectory(LunDirectory(state_dir), state_dir);
  services::AddFault(found.faults, disk::OfState(state_dir, names.status()));
  if (!names.ok()) return found;
  for (const std::string& name : *names) {
    if (!absl::EndsWith(name, ".json")) continue;
    auto lun = ReadLunOf(state_dir, absl::StrCat(LunDirectory(state_dir), "/", name));
    services::AddFault(found.faults, lun.status());
    if (lun.ok()) found.luns.push_back(*std::move(lun));
  }
  return found;
}

absl::StatusOr<std::vector<services::Lun>> ReadLunFiles(const std::string& state_dir) {
  LunFiles found = LookAtLunFiles(state_dir);
  if (!found.faults.empty()) return found.faults.front();
  return std::move(found.luns);
}

absl::Status WriteLunFile(const std::string& state_dir, const services::Lun& lun) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseLunName(lun.name));
  absl::Status status = disk::MakeDirectory(LunDirectory(state_dir), state_dir);
  if (status.ok()) {
    status = disk::WriteFileAtomically(LunFile(state_dir, name.lun), format::EncodeLun(lun, 0),
                                       state_dir);
  }
  return disk::OfState(state_dir, status);
}

bool LunFileSays(const std::string& state_dir, const services::Lun& lun) {
  const auto name = catalog::ParseLunName(lun.name);
  if (!name.ok()) return false;
  const auto text =
      disk::ReadFile(LunFile(state_dir, name->lun), format::kMaxConfigBytes, state_dir);
  return text.ok() && *text == format::EncodeLun(lun, 0);
}

absl::Status ForgetLunFile(const std::string& state_dir, const std::string& lun_id) {
  const std::string file = LunFile(state_dir, lun_id);
  const auto text = disk::ReadFile(file, format::kMaxConfigBytes, state_dir);
  absl::Status status = disk::RemoveFile(file, state_dir);
  if (status.ok()) status = disk::SyncDirectory(LunDirectory(state_dir), state_dir);
  if (!status.ok() && text.ok()) {
    // The error that is returned says what is wrong.
    disk::WriteFileAtomically(file, *text, state_dir).IgnoreError();
  }
  return disk::OfState(state_dir, status);
}

void RemoveChannelFolder(const std::string& state_dir, const std::string& lun_id) {
  const auto luns = disk::Directory::Open(LunDirectory(state_dir), state_dir);
  const absl::Status status =
      luns.ok() ? luns->RemoveEmpty(absl::StrCat(lun_id, ".channels")).status() : luns.status();
  if (status.ok()) return;
  dataplane::Log(dataplane::LogLevel::kWarning, "config_files", "an empty folder is left",
                 {{"lun", lun_id}, {"error", std::string(status.message())}});
}

std::string ChannelRoot(const std::string& state_dir, const services::Lun& lun) {
  const auto kind = store::FindStoreKind(lun.store);
  if (kind.ok() && kind->capabilities.keeps_channel_files && !lun.members.empty())
    return lun.members[0];
  const auto name = catalog::ParseLunName(lun.name);
  return absl::StrCat(LunDirectory(state_dir), "/", name.ok() ? name->lun : "", ".channels");
}

absl::StatusOr<std::vector<services::Channel>> ReadChannelFiles(
    const OpenLun& lun, const std::set<std::string>& known) {
  std::vector<services::Channel> channels;
  absl::Status damage;  // of a note, whose first writing may have been cut short
  if (HasNotebook(lun)) {
    absl::MutexLock lock(lun.describing.get());
    auto note = ReadLunNote(lun);
    if (note.ok() && note->generation > 0) return std::move(note->said.channels);
    damage = note.status();
  }
  const std::string path = ChannelRoots(lun).front();
  const auto root = disk::Directory::Open(path, path);
  if (absl::IsNotFound(root.status())) {
    if (!damage.ok()) return damage;
    return channels;
  }
  TD_RETURN_IF_ERROR(root.status());
  TD_ASSIGN_OR_RETURN(const auto entries, root->List());
  for (const disk::Entry& entry : entries) {
    if (entry.kind != disk::EntryKind::kDirectory || !services::CheckId(entry.name).ok()) continue;
    auto channel = ReadChannel(*root, lun, entry.name);
    if (channel.ok()) {
      channels.push_back(*std::move(channel));
    } else if (!absl::IsNotFound(channel.status())) {
      if (known.contains(entry.name)) return channel.status();
      dataplane::Log(
          dataplane::LogLevel::kWarning, "config_files", "left alone: no channel of this LUN",
          {{"path", root->PathOf(entry.name)}, {"error", std::string(channel.status().message())}});
    }
  }
  return channels;
}

absl::Status WriteChannelFile(const OpenLun& lun, const services::Channel& channel) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(channel.name));
  if (HasNotebook(lun)) {
    absl::MutexLock lock(lun.describing.get());
    TD_ASSIGN_OR_RETURN(OpenNote note, ReadLunNote(lun));
    EraseChannel(&note, channel.name);
    note.said.channels.push_back(channel);
    return WriteLunNote(lun, note);
  }
  TD_ASSIGN_OR_RETURN(const auto paths, ChannelRootsToWrite(lun));
  for (const std::string& path : paths) {
    TD_RETURN_IF_ERROR(OfRoot(lun, path, disk::MakeDirectory(path, path)));
    TD_ASSIGN_OR_RETURN(const auto root, disk::Directory::Open(path, path));
    TD_RETURN_IF_ERROR(OfRoot(lun, path, WriteChannel(root, lun, channel, name.channel)));
  }
  return absl::OkStatus();
}

absl::Status DescribeOnMembers(const OpenLun& lun, const std::vector<services::Channel>& channels) {
  if (HasNotebook(lun)) {
    absl::MutexLock lock(lun.describing.get());
    const auto note = ReadLunNote(lun);
    if (note.ok() && note->right) return absl::OkStatus();
    if (note.ok() && note->generation > 0) return WriteLunNote(lun, *note);
    return WriteLunNote(lun, {.said = {.lun = *lun.config.now(), .channels = channels}});
  }
  if (lun.store != nullptr)
    TD_RETURN_IF_ERROR(lun.store->extras().member_files->Describe(*lun.config.now()));
  std::optional<disk::Directory> believed;
  for (const std::string& path : ChannelRoots(lun)) {
    auto root = disk::Directory::Open(path, path);
    if (!root.ok() && channels.empty()) continue;  // nothing was ever written there
    TD_RETURN_IF_ERROR(root.status());
    for (const services::Channel& channel : channels) {
      TD_RETURN_IF_ERROR(TellChannel(*root, lun, channel, believed.has_value()));
    }
    if (believed.has_value()) {
      TD_RETURN_IF_ERROR(RemoveOtherChannels(*root, lun, *believed));
    } else {
      believed = *std::move(root);
    }
  }
  return absl::OkStatus();
}

absl::Status WriteLunOnMembers(const OpenLun& lun, const services::Lun& config) {
  if (!HasNotebook(lun)) return lun.store->extras().member_files->Describe(config);
  TD_ASSIGN_OR_RETURN(OpenNote note, ReadLunNote(lun));
  note.said.lun = config;
  return WriteLunNote(lun, note);
}

absl::Status WriteLunOnNewMembers(const OpenLun& lun, const services::Lun& config,
                                  const store::ListedMembers& more) {
  if (!HasNotebook(lun)) {
    for (const auto& member : more)
      TD_RETURN_IF_ERROR(member.store->extras().member_files->Describe(config));
    return absl::OkStatus();
  }
  TD_ASSIGN_OR_RETURN(OpenNote note, ReadLunNote(lun));
  note.said.lun = config;
  store::Note next = NextNote(note);
  // One that was just made has its first note, of generation 1, beside this one: a write that is
  // cut short leaves that.
  next.generation = next.generation / 2 * 2;
  for (const auto& member : more) {
    TD_RETURN_IF_ERROR(member.store->extras().notebook->WriteNote(next));
  }
  return absl::OkStatus();
}

absl::Status RemoveChannelFile(const OpenLun& lun, const std::string& channel_id) {
  if (HasNotebook(lun)) {
    absl::MutexLock lock(lun.describing.get());
    TD_ASSIGN_OR_RETURN(OpenNote note, ReadLunNote(lun));
    EraseChannel(&note, absl::StrCat(lun.config->name, "/channels/", channel_id));
    return WriteLunNote(lun, note);
  }
  TD_ASSIGN_OR_RETURN(const auto paths, ChannelRootsToWrite(lun));
  for (const std::string& path : paths) {
    const auto root = disk::Directory::Open(path, path);
    if (absl::IsNotFound(root.status())) continue;
    TD_RETURN_IF_ERROR(root.status());
    TD_RETURN_IF_ERROR(OfRoot(lun, path, RemoveChannel(*root, channel_id)));
    TD_RETURN_IF_ERROR(OfRoot(lun, path, root->Sync()));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::luns
