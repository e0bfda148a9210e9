// A member of a LUN of directories: one of them, locked against other processes, with its two
// threads.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/catalog.h"
#include "storage_node/disk/file_lock.h"
#include "storage_node/disk/io_thread.h"

namespace tapedeck::storage_node::directory {

// MEMBER/.tapedeck holds lun.json and lock: names of channels never start with a dot.
std::string ConfigDirectory(const std::string& member);

// Any thread.
class Member {
 public:
  // Makes `lun`'s member `number` out of a directory that exists and belongs to no LUN, or opens
  // one that Create made. NOT_FOUND or FAILED_PRECONDITION (MEMBER_UNUSABLE).
  static absl::StatusOr<std::unique_ptr<Member>> Create(const services::Lun& lun, uint32_t number);
  static absl::StatusOr<std::unique_ptr<Member>> Open(const services::Lun& lun, uint32_t number);

  const std::string& path() const { return path_; }

  // Transfers, and the slower flushes beside them: fdatasync covers what was written before it
  // started, so it must not hold up the writes that follow.
  disk::IoThread& io() { return io_; }
  disk::IoThread& sync() { return sync_; }

  // Runs what is queued on both, and ends them.
  void Stop();

 private:
  Member(std::string path, disk::FileLock lock, uint32_t number);

  const std::string path_;
  const disk::FileLock lock_;
  disk::IoThread io_;
  disk::IoThread sync_;
};

}  // namespace tapedeck::storage_node::directory
