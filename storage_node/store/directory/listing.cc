#include "storage_node/store/directory/listing.h"

#include <algorithm>
#include <utility>

#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/model/words/resource_name.h"
#include "storage_node/disk/directory.h"
#include "storage_node/store/directory/mark.h"

namespace tapedeck::storage_node::store::directory {

using disk::Directory;
using disk::EntryKind;

namespace {

// What a member's own directory has of ours beside the channels.
bool IsOfMember(const disk::Entry& entry) {
  return entry.kind == EntryKind::kDirectory &&
         (entry.name == kConfigDirectory || entry.name == "lost+found");
}

bool IsOfChannel(const disk::Entry& entry) {
  return entry.kind == EntryKind::kFile &&
         (entry.name == "channel.json" || entry.name == "channel.json.new");
}

bool LooksLikeRecording(const Directory& channel, const std::string& name) {
  const auto directory = channel.OpenDirectory(name);
  const auto index = directory.ok() ? directory->KindOf("index") : directory.status();
  return index.ok() && *index == EntryKind::kFile;
}

void LogUnknown(const std::string& path) {
  dataplane::LogEach(dataplane::LogLevel::kError, "directory",
                     "left alone: it looks like a recording, and neither its manifest nor its "
                     "index says that it is this LUN's",
                     {{"path", path}});
}

// A directory with a manifest alone, which is not that of a recording of this LUN here. False: it
// has none.
bool LogLoneManifest(const Directory& channel, const std::string& name) {
  const auto directory = channel.OpenDirectory(name);
  if (!directory.ok()) return false;
  const auto manifest = ReadManifest(*directory, kManifestFile);
  if (!manifest.ok()) return false;
  dataplane::LogEach(dataplane::LogLevel::kError, "directory",
                     "left alone: the manifest of another recording, without its index",
                     {{"path", directory->path()},
                      {"recording", manifest->id},
                      {"channel", manifest->identity.channel},
                      {"lun_uid", manifest->identity.lun.ToString()}});
  return true;
}

bool HasFileOfRecording(const Directory& directory) {
  for (const char* name : {"data", "index", kManifestFile}) {
    const auto kind = directory.KindOf(name);
    if (kind.ok() && *kind == EntryKind::kFile) return true;
  }
  return false;
}

bool IsRecording(const Member& member, const Directory& channel, const store::RecordingPath& path,
                 const store::Known& known) {
  const auto directory = channel.OpenDirectory(path.recording);
  if (!directory.ok()) return false;
  // One that has lost its payload, or has it elsewhere, is damaged, and no less there.
  if (!HasFileOfRecording(*directory)) return false;
  return known.recordings.contains(path) || CarriesMark(member, *directory, path);
}

absl::Status ListChannel(const Member& member, const std::string& id, const store::Known& known,
                         std::vector<store::RecordingPath>* paths) {
  const auto channel = member.root().OpenDirectory(id);
  if (IsNotThere(channel.status())) return absl::OkStatus();
  TD_RETURN_IF_ERROR(channel.status());
  TD_ASSIGN_OR_RETURN(const auto entries, channel->List());
  Foreign foreign(channel->path());
  for (const disk::Entry& entry : entries) {
    store::RecordingPath path{.channel = id, .recording = entry.name};
    const bool directory =
        entry.kind == EntryKind::kDirectory && services::CheckId(entry.name).ok();
    if (directory && IsRecording(member, *channel, path, known)) {
      paths->push_back(std::move(path));
    } else if (known.is_part) {
      continue;
    } else if (directory && LooksLikeRecording(*channel, entry.name)) {
      LogUnknown(channel->PathOf(entry.name));
    } else if (directory && LogLoneManifest(*channel, entry.name)) {
      continue;
    } else if (!IsOfChannel(entry)) {
      foreign.Add(entry.name);
    }
  }
  return absl::OkStatus();
}

void MentionForeign(const Member& member, const store::Known& known) {
  const auto entries = member.root().List();
  if (!entries.ok()) return;
  Foreign foreign(member.root().path());
  for (const disk::Entry& entry : *entries) {
    const bool channel = entry.kind == EntryKind::kDirectory && known.channels.contains(entry.name);
    if (!channel && !IsOfMember(entry)) foreign.Add(entry.name);
  }
}

bool HasMarkedRecording(const Member& member, const std::string& id) {
  const auto channel = member.root().OpenDirectory(id);
  const auto entries = channel.ok() ? channel->List() : channel.status();
  if (!entries.ok()) return false;
  return std::ranges::any_of(*entries, [&](const disk::Entry& entry) {
    return entry.kind == EntryKind::kDirectory && services::CheckId(entry.name).ok() &&
           IsRecording(member, *channel, {.channel = id, .recording = entry.name}, {});
  });
}

absl::Status ListBegunIn(const Member& member, const std::string& id, const store::Known& known,
                         std::vector<store::RecordingPath>* paths) {
  const auto channel = member.root().OpenDirectory(id);
  if (IsNotThere(channel.status())) return absl::OkStatus();
  TD_RETURN_IF_ERROR(channel.status());
  TD_ASSIGN_OR_RETURN(const auto entries, channel->List());
  for (const disk::Entry& entry : entries) {
    const store::RecordingPath path{.channel = id, .recording = entry.name};
    if (entry.kind != EntryKind::kDirectory || !services::CheckId(entry.name).ok()) continue;
    const auto directory = channel->OpenDirectory(entry.name);
    if (!directory.ok()) continue;
    auto begun = BegunDeletion(*directory, path);
    if (!begun.has_value()) continue;
    const bool ours = known.recordings.contains(path) || CarriesMark(member, *directory, path);
    if (ours) paths->push_back(*std::move(begun));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsNotThere(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsFailedPrecondition(status);
}

absl::StatusOr<std::vector<store::RecordingPath>> ListRecordings(const Member& member,
                                                                 const store::Known& known) {
  std::vector<store::RecordingPath> paths;
  if (!known.is_part) MentionForeign(member, known);
  for (const std::string& id : known.channels) {
    TD_RETURN_IF_ERROR(ListChannel(member, id, known, &paths));
  }
  return paths;
}

absl::StatusOr<std::vector<store::RecordingPath>> ListBegunDeletions(const Member& member,
                                                                     const store::Known& known) {
  std::vector<store::RecordingPath> paths;
  for (const std::string& id : known.channels) {
    TD_RETURN_IF_ERROR(ListBegunIn(member, id, known, &paths));
  }
  return paths;
}

absl::StatusOr<std::vector<std::string>> ListUnknownChannels(const Member& member,
                                                             const store::Known& known) {
  std::vector<std::string> ids;
  TD_ASSIGN_OR_RETURN(const auto entries, member.root().List());
  for (const disk::Entry& entry : entries) {
    if (entry.kind != EntryKind::kDirectory || !services::CheckId(entry.name).ok()) continue;
    if (known.channels.contains(entry.name) || !HasMarkedRecording(member, entry.name)) continue;
    ids.push_back(entry.name);
  }
  return ids;
}

}  // namespace tapedeck::storage_node::store::directory
