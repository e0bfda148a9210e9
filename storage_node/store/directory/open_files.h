// The blocking half of a recording's files: system calls with their errors, one call at a time per
// member.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/disk/fd.h"
#include "storage_node/format/index.h"
#include "storage_node/store/posix/member.h"

namespace tapedeck::storage_node::store::posix {

// Held by shared_ptr: by the recording and by each operation under way. Every call names its member
// and runs on one of that member's threads: transfers, Trim on io(), the rest on sync().
class OpenFiles {
 public:
  // `directories`: the recording's directory on each member. `flags`: O_CREAT | O_EXCL to make
  // them, 0 to open them.
  static absl::StatusOr<std::shared_ptr<OpenFiles>> Open(const std::vector<Member*>& members,
                                                         std::vector<std::string> directories,
                                                         int flags);

  uint32_t members() const { return static_cast<uint32_t>(files_.size()); }
  uint32_t index_copies() const { return std::min(members(), format::kMaxIndexCopies); }
  Member& member(uint32_t m) { return *files_[m].member; }

  absl::Status WriteData(uint32_t m, std::span<const std::byte> bytes, uint64_t offset);
  absl::Status ReadData(uint32_t m, std::span<std::byte> into, uint64_t offset) const;
  absl::Status WriteIndex(uint32_t m, std::span<const std::byte> bytes, uint64_t offset);
  absl::StatusOr<size_t> ReadIndex(uint32_t m, std::span<std::byte> into, uint64_t offset) const;
  absl::Status TrimMember(uint32_t m, uint64_t data_bytes, uint64_t index_bytes);

  absl::Status SyncMember(uint32_t m) const;
  absl::Status SyncDirectories(uint32_t m) const;
  absl::Status WriteManifest(uint32_t m, const std::string& text) const;
  absl::StatusOr<std::string> ReadManifest(uint32_t m) const;

 private:
  // One file of one member; `reserved` is the size fallocate has given it.
  struct File {
    disk::Fd fd;
    std::string path;
    uint64_t reserved = 0;
  };
  struct MemberFiles {
    Member* member = nullptr;
    std::string directory;
    File data;
    File index;  // without fd where the member has no copy
  };

  OpenFiles() = default;
  static absl::StatusOr<File> OpenFile(std::string path, int flags, const Member& member);
  static absl::Status Reserve(File* file, uint64_t end, uint64_t step, const Member& member);
  static absl::Status Truncate(File* file, uint64_t bytes, const Member& member);

  std::vector<MemberFiles> files_;
};

}  // namespace tapedeck::storage_node::store::posix
