// A directory and its files, reached through its descriptor and never through a symbolic link. So
// whatever others put there, Tapedeck reads, writes and removes nothing outside of it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage_node/disk/fd.h"

namespace tapedeck::storage_node::disk {

// kOther: links, sockets, FIFOs, devices. None of those is ever ours.
enum class EntryKind { kNone, kFile, kDirectory, kOther };

struct Entry {
  std::string name;
  EntryKind kind = EntryKind::kNone;
};

// Any thread; blocking. Names are those of entries, without a slash. Errors: NOT_FOUND; or
// FAILED_PRECONDITION (MEMBER_UNUSABLE) where something that we do not make has the name, which is
// left as it is; or as IoError() says.
class Directory {
 public:
  // The directory that a user has named: links that lead to it are followed.
  static absl::StatusOr<Directory> Open(const std::string& path, const std::string& member);

  const std::string& path() const { return path_; }
  const std::string& member() const { return member_; }
  int fd() const { return fd_.get(); }
  std::string PathOf(absl::string_view name) const;

  // `name` may have several parts.
  absl::StatusOr<Directory> OpenDirectory(const std::string& name) const;
  // Makes it where it is not there.
  absl::StatusOr<Directory> MakeDirectory(const std::string& name) const;
  // ALREADY_EXISTS, whatever it is.
  absl::Status MakeNewDirectory(const std::string& name) const;

  // A regular file; `flags` as of open(2).
  absl::StatusOr<Fd> OpenFile(const std::string& name, int flags) const;
  // DATA_LOSS if it has more than `most` bytes.
  absl::StatusOr<std::string> ReadFile(const std::string& name, uint64_t most) const;
  // Old or new after any crash: writes NAME.new, syncs it, renames it and syncs the directory.
  absl::Status WriteFile(const std::string& name, absl::string_view text) const;

  absl::StatusOr<EntryKind> KindOf(const std::string& name) const;
  // Whether the entry of that name is what is open as `fd`. NOT_FOUND: there is none.
  absl::StatusOr<bool> IsOpenAs(const std::string& name, int fd) const;
  // By name.
  absl::StatusOr<std::vector<Entry>> List() const;

  // ALREADY_EXISTS: nothing is replaced.
  absl::Status Rename(const std::string& from, const Directory& into, const std::string& to) const;
  // A second name of a file. ALREADY_EXISTS: nothing is replaced. UNIMPLEMENTED: a file system
  // without such.
  absl::Status AddName(const std::string& file, const std::string& name) const;
  // Only a regular file; false if there is none of that name.
  absl::StatusOr<bool> RemoveFile(const std::string& name) const;
  // A symbolic link with that text. OK if it is there already.
  absl::Status MakeLink(const std::string& name, const std::string& target) const;
  // Only such a link; false if there is none of that name, or another.
  absl::StatusOr<bool> RemoveLink(const std::string& name, const std::string& target) const;
  // Only an empty directory; false if `name` is something else or not empty.
  absl::StatusOr<bool> RemoveEmpty(const std::string& name) const;

  // Makes the entries durable.
  absl::Status Sync() const;

 private:
  Directory(Fd fd, std::string path, std::string member)
      : fd_(std::move(fd)), path_(std::move(path)), member_(std::move(member)) {}
  absl::Status Failed(absl::string_view call, const std::string& name, int error) const;
  absl::StatusOr<bool> IsLink(const std::string& name, const std::string& target) const;
  // Something else lies there.
  absl::Status NotOurs(absl::string_view call, const std::string& name) const;

  Fd fd_;
  std::string path_;    // for error texts
  std::string member_;  // likewise
};

}  // namespace tapedeck::storage_node::disk
