#include "storage_node/store/posix/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/durable_file.h"
#include "storage_node/disk/io_error.h"
#include "storage_node/store/posix/member.h"
#include "storage_node/store/posix/recording.h"

namespace tapedeck::storage_node::store::posix {
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

class PosixStore final : public Store {
 public:
  explicit PosixStore(std::vector<std::unique_ptr<Member>> members)
      : members_(std::move(members)) {}

  absl::StatusOr<std::unique_ptr<RecordingFiles>> CreateRecording(
      const RecordingPath& path, uint64_t block_bytes, dataplane::Executor& executor) override;
  absl::StatusOr<std::unique_ptr<RecordingFiles>> OpenRecording(
      const RecordingPath& path, dataplane::Executor& executor) override;
  absl::Status DeleteRecording(const RecordingPath& path) override;
  absl::StatusOr<std::vector<RecordingPath>> ListRecordings() override;
  absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(const RingSpec& spec) override;

  // Finishes deletions that a crash cut short.
  absl::Status Sweep();

 private:
  static std::string ChannelDirectory(const Member& member, const RecordingPath& path) {
    return absl::StrCat(member.path(), "/", path.channel);
  }
  absl::StatusOr<std::unique_ptr<RecordingFiles>> OpenAll(const RecordingPath& path, int flags,
                                                          dataplane::Executor& executor);

  const std::vector<std::unique_ptr<Member>> members_;
};

absl::StatusOr<std::unique_ptr<RecordingFiles>> PosixStore::OpenAll(const RecordingPath& path,
                                                                    int flags,
                                                                    dataplane::Executor& executor) {
  std::vector<Member*> members;
  std::vector<std::string> directories;
  for (const auto& member : members_) {
    members.push_back(member.get());
    directories.push_back(absl::StrCat(ChannelDirectory(*member, path), "/", path.recording));
  }
  TD_ASSIGN_OR_RETURN(auto files, OpenFiles::Open(members, std::move(directories), flags));
  return std::make_unique<PosixRecording>(std::move(files), executor);
}

absl::StatusOr<std::unique_ptr<RecordingFiles>> PosixStore::CreateRecording(
    const RecordingPath& path, uint64_t /*block_bytes*/, dataplane::Executor& executor) {
  for (const auto& member : members_) {
    const std::string channel = ChannelDirectory(*member, path);
    TD_RETURN_IF_ERROR(disk::MakeDirectory(channel, member->path()));
    const std::string recording = absl::StrCat(channel, "/", path.recording);
    if (mkdir(recording.c_str(), 0750) != 0) {
      if (errno == EEXIST) return absl::AlreadyExistsError(absl::StrCat("mkdir ", recording));
      return disk::IoError("mkdir", recording, member->path(), errno);
    }
  }
  return OpenAll(path, O_CREAT | O_EXCL, executor);
}

absl::StatusOr<std::unique_ptr<RecordingFiles>> PosixStore::OpenRecording(
    const RecordingPath& path, dataplane::Executor& executor) {
  return OpenAll(path, 0, executor);
}

// Member 0 is renamed last: as long as its directory stands the recording is listed, so that a
// deletion cut short by an error can be repeated.
absl::Status PosixStore::DeleteRecording(const RecordingPath& path) {
  std::vector<std::string> gone;
  for (size_t m = members_.size(); m-- > 0;) {
    const Member& member = *members_[m];
    const std::string channel = ChannelDirectory(member, path);
    const std::string from = absl::StrCat(channel, "/", path.recording);
    gone.push_back(absl::StrCat(channel, "/", kDeletedPrefix, path.recording));
    if (rename(from.c_str(), gone.back().c_str()) != 0 && errno != ENOENT) {
      return disk::IoError("rename", from, member.path(), errno);
    }
    if (access(channel.c_str(), F_OK) == 0) {
      TD_RETURN_IF_ERROR(disk::SyncDirectory(channel, member.path()));
    }
  }
  for (size_t i = 0; i < gone.size(); ++i) {
    const Member& member = *members_[members_.size() - 1 - i];
    TD_RETURN_IF_ERROR(disk::RemoveTree(gone[i], member.path()));
    rmdir(ChannelDirectory(member, path).c_str());  // fails, as it should, unless it is empty
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RecordingPath>> PosixStore::ListRecordings() {
  std::vector<RecordingPath> paths;
  const std::string& member = members_[0]->path();
  TD_ASSIGN_OR_RETURN(const auto directories, ChannelDirectories(member));
  for (const std::string& directory : directories) {
    TD_ASSIGN_OR_RETURN(const auto names, disk::ListDirectory(directory, member));
    for (const std::string& name : names) {
      const std::string data = absl::StrCat(directory, "/", name, "/data");
      if (name[0] == '.' || access(data.c_str(), F_OK) != 0) continue;
      paths.push_back({.channel = directory.substr(member.size() + 1), .recording = name});
    }
  }
  return paths;
}

absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> PosixStore::MakeRing(const RingSpec& spec) {
  TD_ASSIGN_OR_RETURN(auto memory, dataplane::host::Create(spec.slots * spec.slot_bytes));
  TD_ASSIGN_OR_RETURN(auto pool, dataplane::MemoryPool::Create(std::move(memory), spec.slot_bytes));
  return std::shared_ptr<dataplane::SlotPool>(std::move(pool));
}

absl::Status PosixStore::Sweep() {
  for (const auto& member : members_) {
    TD_ASSIGN_OR_RETURN(const auto directories, ChannelDirectories(member->path()));
    for (const std::string& directory : directories) {
      TD_ASSIGN_OR_RETURN(const auto names, disk::ListDirectory(directory, member->path()));
      for (const std::string& name : names) {
        if (!absl::StartsWith(name, kDeletedPrefix)) continue;
        TD_RETURN_IF_ERROR(disk::RemoveTree(absl::StrCat(directory, "/", name), member->path()));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun) {
  std::vector<std::unique_ptr<Member>> members;
  for (uint32_t m = 0; m < lun.members.size(); ++m) {
    auto member = Member::Create(lun, m);
    if (!member.ok()) {
      for (uint32_t made = 0; made < m; ++made) {
        TD_RETURN_IF_ERROR(disk::RemoveTree(ConfigDirectory(lun.members[made]), lun.members[made]));
      }
      return std::move(member).status();
    }
    members.push_back(*std::move(member));
  }
  return std::make_unique<PosixStore>(std::move(members));
}

absl::StatusOr<std::unique_ptr<Store>> Open(const services::Lun& lun) {
  std::vector<std::unique_ptr<Member>> members;
  for (uint32_t m = 0; m < lun.members.size(); ++m) {
    TD_ASSIGN_OR_RETURN(auto member, Member::Open(lun, m));
    members.push_back(std::move(member));
  }
  auto store = std::make_unique<PosixStore>(std::move(members));
  TD_RETURN_IF_ERROR(store->Sweep());
  return store;
}

absl::Status Remove(const services::Lun& lun) {
  for (const std::string& member : lun.members) {
    TD_RETURN_IF_ERROR(disk::RemoveTree(ConfigDirectory(member), member));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::store::posix
