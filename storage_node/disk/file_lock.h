// Keeps a second process away from a directory or a device. flock(2) belongs to the open file, so
// it also holds while the kernel finishes the I/O of a process that died.
#pragma once

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "storage_node/disk/directory.h"
#include "storage_node/disk/fd.h"

namespace tapedeck::storage_node::disk {

// Waits up to 250 ms for a holder that is just ending: a killed one's last I/O must be over before
// recovery reads. False if it has not. Asks `is_free` every 50 ms, as neither flock(2) nor open(2)
// with O_EXCL waits with a limit or tells when it would succeed.
bool AwaitHolder(absl::FunctionRef<bool()> is_free);

// Locks the open file for as long as it is open, after AwaitHolder. False if another process still
// has it.
absl::StatusOr<bool> LockFile(const Fd& fd, const std::string& path, const std::string& member);

// Pid and host of this process, one line: for whoever finds the lock taken.
std::string HolderText();

// FAILED_PRECONDITION (MEMBER_UNUSABLE): `call` has failed because of `holder`.
absl::Status InUse(const std::string& call, const std::string& holder, const std::string& member);

// Who has the lock, for people: "process with pid 7 on host a"; empty: nobody. Takes and writes
// nothing; for a moment others who ask or take it may have to wait.
absl::StatusOr<std::string> HolderOf(const Directory& directory, const std::string& name);

// Released with the object. The file stays and tells who held it last.
class FileLock {
 public:
  // Waits up to 250 ms for a holder that is just ending. FAILED_PRECONDITION names the holder's pid
  // and host, or says what else than a file of our own has the name, e.g. a link, which is never
  // followed. Blocking: for start-up and creation only.
  static absl::StatusOr<FileLock> Take(const Directory& directory, const std::string& name);
  // The same of a path.
  static absl::StatusOr<FileLock> Take(const std::string& path, const std::string& member);

  // The open file.
  int fd() const { return fd_.get(); }

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace tapedeck::storage_node::disk
