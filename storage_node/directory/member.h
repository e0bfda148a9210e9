// A member of a LUN of directories: one of them, locked against other processes, with its two
// threads and its spare files.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/catalog.h"
#include "storage_node/directory/spares.h"
#include "storage_node/disk/file_lock.h"
#include "storage_node/disk/io_thread.h"

namespace tapedeck::storage_node::directory {

// MEMBER/.tapedeck holds lun.json, lock and spares: names of channels never start with a dot.
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

  Spares& spares() { return spares_; }

  // Runs what is queued on both, ends them, and makes no more spares.
  void Stop();

 private:
  Member(const services::Lun& lun, uint32_t number, disk::FileLock lock);

  const std::string path_;
  const disk::FileLock lock_;
  Spares spares_;
  disk::IoThread io_;
  disk::IoThread sync_;
};

}  // namespace tapedeck::storage_node::directory
