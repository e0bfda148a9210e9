#include "storage_node/directory/store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/durable_file.h"
#include "storage_node/disk/io_error.h"
#include "storage_node/store/host_ring.h"

namespace tapedeck::storage_node::directory {
namespace {

// What a deleted recording is renamed to until its files are gone.
constexpr char kDeletedPrefix[] = ".deleted-";

// The directories of a member's channels, whole paths.
absl::StatusOr<std::vector<std::string>> ChannelDirectories(const std::string& member) {
  std::vector<std::string> directories;
  TD_ASSIGN_OR_RETURN(const auto names, disk::ListDirectory(member, member));
  for (const std::string& name : names) {
    const std::string path = absl::StrCat(member, "/", name);
    struct stat status;
    if (name[0] == '.' || stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    directories.push_back(path);
  }
  return directories;
}

class DirectoryStore final : public store::Store {
 public:
  DirectoryStore(std::unique_ptr<Member> member, Kind kind)
      : member_(std::move(member)), kind_(std::move(kind)) {}
  // What is queued may still use what the kind holds.
  ~DirectoryStore() override { member_->Stop(); }

  absl::StatusOr<std::unique_ptr<store::RecordingFiles>> CreateRecording(
      const store::RecordingPath& path, uint64_t block_bytes,
      dataplane::Executor& executor) override;
  absl::StatusOr<std::unique_ptr<store::RecordingFiles>> OpenRecording(
      const store::RecordingPath& path, dataplane::Executor& executor) override;
  absl::Status DeleteRecording(const store::RecordingPath& path) override;
  absl::Status FinishDeletions() override;
  absl::StatusOr<std::vector<store::RecordingPath>> ListRecordings() override;
  absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(
      const store::RingSpec& spec) override {
    return store::MakeHostRing(spec, {this});
  }
  std::unique_ptr<dataplane::Memory> Prepare(std::unique_ptr<dataplane::Memory> memory) override {
    return kind_.prepare ? kind_.prepare(std::move(memory)) : std::move(memory);
  }

 private:
  const std::string& root() const { return member_->path(); }
  std::string ChannelDirectory(const store::RecordingPath& path) const {
    return absl::StrCat(root(), "/", path.channel);
  }
  std::string Directory(const store::RecordingPath& path) const {
    return absl::StrCat(ChannelDirectory(path), "/", path.recording);
  }
  absl::Status MakeRecordingDirectory(const store::RecordingPath& path) const;
  // Of a recording whose deletion is durable.
  absl::Status RemoveFiles(const std::string& directory) const;
  absl::StatusOr<std::unique_ptr<store::RecordingFiles>> Open(const store::RecordingPath& path,
                                                              bool create,
                                                              dataplane::Executor& executor) {
    TD_ASSIGN_OR_RETURN(auto files,
                        OpenFiles::Open(*member_, Directory(path), kind_.data_flags, create));
    return kind_.open(std::move(files), executor);
  }

  const std::unique_ptr<Member> member_;
  const Kind kind_;
};

absl::Status DirectoryStore::MakeRecordingDirectory(const store::RecordingPath& path) const {
  TD_RETURN_IF_ERROR(disk::MakeDirectory(ChannelDirectory(path), root()));
  const std::string recording = Directory(path);
  if (mkdir(recording.c_str(), 0750) != 0) {
    if (errno == EEXIST) return absl::AlreadyExistsError(absl::StrCat("mkdir ", recording));
    return disk::IoError("mkdir", recording, root(), errno);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<store::RecordingFiles>> DirectoryStore::CreateRecording(
    const store::RecordingPath& path, uint64_t /*block_bytes*/, dataplane::Executor& executor) {
  TD_RETURN_IF_ERROR(member_->spares().WithRoom([&] { return MakeRecordingDirectory(path); }));
  return Open(path, /*create=*/true, executor);
}

absl::StatusOr<std::unique_ptr<store::RecordingFiles>> DirectoryStore::OpenRecording(
    const store::RecordingPath& path, dataplane::Executor& executor) {
  return Open(path, /*create=*/false, executor);
}

absl::Status DirectoryStore::DeleteRecording(const store::RecordingPath& path) {
  const std::string channel = ChannelDirectory(path);
  const std::string from = Directory(path);
  const std::string gone = absl::StrCat(channel, "/", kDeletedPrefix, path.recording);
  if (rename(from.c_str(), gone.c_str()) != 0 && errno != ENOENT) {
    return disk::IoError("rename", from, root(), errno);
  }
  if (access(channel.c_str(), F_OK) == 0) {
    TD_RETURN_IF_ERROR(disk::SyncDirectory(channel, root()));
  }
  TD_RETURN_IF_ERROR(RemoveFiles(gone));
  rmdir(channel.c_str());  // fails, as it should, unless it is empty
  return absl::OkStatus();
}

absl::Status DirectoryStore::RemoveFiles(const std::string& directory) const {
  member_->spares().GiveBack(absl::StrCat(directory, "/data"));
  TD_RETURN_IF_ERROR(disk::RemoveTree(directory, root()));
  member_->spares().RoomCameFree();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<store::RecordingPath>> DirectoryStore::ListRecordings() {
  std::vector<store::RecordingPath> paths;
  TD_ASSIGN_OR_RETURN(const auto directories, ChannelDirectories(root()));
  for (const std::string& directory : directories) {
    TD_ASSIGN_OR_RETURN(const auto names, disk::ListDirectory(directory, root()));
    for (const std::string& name : names) {
      const std::string data = absl::StrCat(directory, "/", name, "/data");
      if (name[0] == '.' || access(data.c_str(), F_OK) != 0) continue;
      paths.push_back({.channel = directory.substr(root().size() + 1), .recording = name});
    }
  }
  return paths;
}

absl::Status DirectoryStore::FinishDeletions() {
  TD_ASSIGN_OR_RETURN(const auto directories, ChannelDirectories(root()));
  for (const std::string& directory : directories) {
    TD_ASSIGN_OR_RETURN(const auto names, disk::ListDirectory(directory, root()));
    for (const std::string& name : names) {
      if (!absl::StartsWith(name, kDeletedPrefix)) continue;
      TD_RETURN_IF_ERROR(RemoveFiles(absl::StrCat(directory, "/", name)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<store::Store> MakeStore(std::unique_ptr<Member> member, Kind kind) {
  return std::make_unique<DirectoryStore>(std::move(member), std::move(kind));
}

absl::Status Remove(const services::Lun& lun, uint32_t number) {
  const std::string& member = lun.members[number];
  return disk::RemoveTree(ConfigDirectory(member), member);
}

}  // namespace tapedeck::storage_node::directory
