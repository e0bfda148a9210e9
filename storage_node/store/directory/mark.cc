#include "storage_node/store/directory/mark.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/index.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::store::directory {
namespace {

// As many names as one line of a log should have.
constexpr size_t kNamesShown = 8;

// An extended attribute of what Tapedeck has made; its value is the uid of the LUN.
constexpr char kMark[] = "user.tapedeck.lun";

// Some file systems have no attributes: there the names in our own directory have to do.
bool HasNoMarks(int error) { return error == EOPNOTSUPP; }

bool IsOf(const format::Manifest& manifest, const store::RecordingPath& path) {
  return manifest.id == path.recording && manifest.identity.channel == path.channel;
}

bool HeaderCarriesMark(const Member& member, const disk::Directory& recording,
                       const store::RecordingPath& path) {
  const auto index = recording.OpenFile("index", O_RDONLY);
  if (!index.ok()) return false;
  format::Page page = {};
  const auto read = disk::ReadSome(*index, page, 0, recording.PathOf("index"), member.path());
  if (!read.ok() || *read != page.size()) return false;
  const auto header = format::DecodeHeader(page, member.number());
  if (!header.ok() || header->lun != member.lun()) return false;
  const auto manifest = format::DecodeManifest(header->manifest);
  return !manifest.ok() || IsOf(*manifest, path);
}

}  // namespace

absl::StatusOr<format::Manifest> ReadManifest(const disk::Directory& recording,
                                              const std::string& name) {
  TD_ASSIGN_OR_RETURN(const std::string text, recording.ReadFile(name, format::kMaxManifestBytes));
  return format::DecodeManifest(text);
}

bool CarriesMark(const Member& member, const disk::Directory& recording,
                 const store::RecordingPath& path) {
  for (const char* name : {kManifestFile, kDeletedManifestFile}) {
    const auto manifest = ReadManifest(recording, name);
    if (manifest.ok() && manifest->identity.lun == member.lun() && IsOf(*manifest, path)) {
      return true;
    }
  }
  return HeaderCarriesMark(member, recording, path);
}

std::optional<store::RecordingPath> BegunDeletion(const disk::Directory& recording,
                                                  store::RecordingPath path) {
  const auto kept = recording.KindOf(kManifestFile);
  const auto deleted = recording.KindOf(kDeletedManifestFile);
  if (!kept.ok() || *kept != disk::EntryKind::kNone) return std::nullopt;
  if (!deleted.ok() || *deleted != disk::EntryKind::kFile) return std::nullopt;
  const auto manifest = ReadManifest(recording, kDeletedManifestFile);
  if (manifest.ok() && IsOf(*manifest, path)) path.members = manifest->members;
  return path;
}

absl::Status MarkFile(const disk::Fd& fd, const std::string& uid, const std::string& path,
                      const std::string& member) {
  if (fsetxattr(fd.get(), kMark, uid.data(), uid.size(), 0) == 0 || HasNoMarks(errno)) {
    return absl::OkStatus();
  }
  return disk::IoError("fsetxattr", path, member, errno);
}

bool IsMarked(const disk::Fd& fd, const std::string& uid) {
  char value[64] = {};
  const ssize_t size = fgetxattr(fd.get(), kMark, value, sizeof(value));
  if (size < 0) return HasNoMarks(errno);
  return absl::string_view(value, static_cast<size_t>(size)) == uid;
}

absl::Status MakeMarkedFile(const disk::Directory& folder, const std::string& name,
                            const std::string& uid) {
  const std::string path = folder.PathOf(name);
  const disk::Fd unnamed(openat(folder.fd(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0640));
  if (unnamed.get() < 0) {
    TD_ASSIGN_OR_RETURN(const auto fd, folder.OpenFile(name, O_WRONLY | O_CREAT | O_EXCL));
    return MarkFile(fd, uid, path, folder.member());
  }
  TD_RETURN_IF_ERROR(MarkFile(unnamed, uid, path, folder.member()));
  const std::string self = absl::StrCat("/proc/self/fd/", unnamed.get());
  if (linkat(AT_FDCWD, self.c_str(), folder.fd(), name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return disk::IoError("linkat", path, folder.member(), errno);
  }
  return absl::OkStatus();
}

Foreign::~Foreign() {
  if (names_.empty()) return;
  const size_t shown = std::min(names_.size(), kNamesShown);
  const std::string rest = names_.size() > shown ? ", ..." : "";
  dataplane::Log(
      dataplane::LogLevel::kWarning, "directory", "left alone: not Tapedeck's",
      {{"path", directory_},
       {"entries", absl::StrCat(names_.size())},
       {"names", absl::StrCat(absl::StrJoin(std::span(names_).first(shown), ", "), rest)}});
}

}  // namespace tapedeck::storage_node::store::directory
