// The blocking half of a recording's files on one member: system calls with their errors.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/disk/directory.h"
#include "storage_node/disk/fd.h"
#include "storage_node/store/directory/member.h"
#include "storage_node/store/directory/spares.h"
#include "storage_node/store/known.h"
#include "storage_node/store/lost.h"
#include "storage_node/store/opening.h"

namespace tapedeck::storage_node::store::directory {

// Held by shared_ptr: by the recording and by each operation under way. Runs on the member's
// threads: transfers, reservations and Trim on io(), the rest on sync().
class OpenFiles {
 public:
  // `data_flags`: as of open(2), for the data file alone, e.g. O_DIRECT.
  static absl::StatusOr<std::shared_ptr<OpenFiles>> Open(Member& member,
                                                         const store::RecordingPath& path,
                                                         int data_flags, Purpose purpose);

  Member& member() { return member_; }
  const std::string& member_path() const { return member_.path(); }
  int data_fd() const { return data_.fd.get(); }
  const std::string& data_path() const { return data_.path; }

  // Whether what is recorded into still has a name: else it is gone once it is closed, and INTERNAL
  // (STORE_IO). Waits for the disk.
  absl::Status Look() const;
  // Once it is set nothing is written any more, and no flush ends well.
  store::Lost& lost() { return lost_; }
  // What a write or a flush has come to, also one past this: a failure makes the disk suspect.
  absl::Status Ended(absl::Status status) const;

  // Gives the data file space up to `end` and some beyond. reserved(): up to where it has. Any
  // thread.
  absl::Status ReserveData(uint64_t end);
  // The same before anybody needs it: no spare is given up for it, and none for what is mended.
  absl::Status ReserveAhead(uint64_t end);
  uint64_t reserved() const { return data_.reserved; }

  absl::Status WriteData(std::span<const std::byte> bytes, uint64_t offset);
  absl::Status ReadData(std::span<std::byte> into, uint64_t offset) const;
  // Makes the index again if it is gone.
  absl::Status WriteIndex(std::span<const std::byte> bytes, uint64_t offset);
  // DATA_LOSS (STORE_IO): it is gone.
  absl::StatusOr<size_t> ReadIndex(std::span<std::byte> into, uint64_t offset);
  absl::Status Trim(uint64_t data_bytes, uint64_t index_bytes);

  // Of an index that was made again the name too.
  absl::Status Sync();
  absl::Status SyncDirectories() const;
  absl::Status WriteManifest(const std::string& text) const;
  absl::StatusOr<std::string> ReadManifest() const;

  // OUT_OF_RANGE: the file ended at `end`, before a block that needs bytes up to `needed`.
  absl::Status EndsEarly(uint64_t end, uint64_t needed) const;

 private:
  // `reserved` is the size fallocate has given it, or its size as a spare.
  struct File {
    disk::Fd fd;
    std::string path;
    std::atomic<uint64_t> reserved = 0;
    uint64_t inode = 0;
  };

  OpenFiles(Member& member, disk::Directory channel, disk::Directory directory, Purpose purpose);
  absl::Status OpenFile(const std::string& name, int flags, File* file) const;
  // What stands for the data file where that is gone: it ends at byte 0, and takes nothing.
  absl::Status StandIn();
  absl::Status KeepDamagedManifest() const;
  // Both unless it is open.
  absl::Status OpenIndex();
  absl::Status MakeIndex();
  // What the index's copy is for others, if it could not be opened.
  absl::Status IndexStatus(const absl::Status& opened) const;
  absl::Status Write(const File& file, std::span<const std::byte> bytes, uint64_t offset) const;
  absl::Status SyncFile(const File& file) const;
  absl::Status SyncFiles();
  absl::Status Reserve(File* file, uint64_t end, uint64_t step) const;
  absl::Status TryToReserve(File* file, uint64_t end, uint64_t step) const;
  absl::Status Truncate(File* file, uint64_t bytes) const;

  Member& member_;
  const disk::Directory channel_;
  const disk::Directory directory_;
  const bool records_;
  const uint64_t data_step_bytes_;  // reserved ahead
  const uint64_t index_step_bytes_;
  File data_;
  File index_;
  Spares::Use use_;
  bool has_data_ = true;
  store::Lost lost_;
  // Flushes ask, beside the thread that makes the index again.
  std::atomic<bool> index_open_ = false;
  std::atomic<bool> index_named_ = true;  // false: in a directory that was not flushed since
};

}  // namespace tapedeck::storage_node::store::directory
