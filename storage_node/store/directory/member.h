// A member of a LUN of directories: one of them, locked against other processes, with its two
// threads and its spare files.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "services/base/threads/task_thread.h"
#include "services/model/seams/catalog.h"
#include "storage_node/disk/directory.h"
#include "storage_node/disk/file_lock.h"
#include "storage_node/format/config.h"
#include "storage_node/format/uuid.h"
#include "storage_node/store/behind_mark.h"
#include "storage_node/store/directory/spares.h"
#include "storage_node/store/kind.h"

namespace tapedeck::storage_node::store::directory {

// MEMBER/.tapedeck holds lun.json, lock, spares and, of a mirror, behind.json and deleted: names of
// channels never start with a dot.
inline constexpr char kConfigDirectory[] = ".tapedeck";

// Any thread.
class Member final : public BehindMark {
 public:
  // Makes `lun`'s member `number` out of an empty directory (a file system's own lost+found aside)
  // that belongs to no LUN and lies in none, or opens one that Create made. NOT_FOUND or
  // FAILED_PRECONDITION (MEMBER_UNUSABLE, MEMBER_NOT_EMPTY), RESOURCE_EXHAUSTED (LIMIT_REACHED).
  static absl::StatusOr<std::unique_ptr<Member>> Create(const services::Lun& lun, uint32_t number);
  static absl::StatusOr<std::unique_ptr<Member>> Open(const services::Lun& lun, uint32_t number);

  // What a member may be: see MemberKind (store/kind.h).
  static bool Is(const std::string& path);
  static absl::StatusOr<MemberName> Check(const std::string& path);

  // What the member at `path` says of itself; changes nothing. NOT_FOUND or FAILED_PRECONDITION
  // (MEMBER_UNUSABLE), or why it cannot be read.
  static absl::StatusOr<format::LunMember> DescribedBy(const std::string& path);
  // Writes `lun`'s description onto its member `number`, which is open nowhere.
  static absl::Status Describe(const services::Lun& lun, uint32_t number);
  static absl::StatusOr<std::string> HeldBy(const std::string& path);

  // The same on this one, unless it says so already; what it needs to keep as many spares as that
  // is there then. Its disk may be full of spare files.
  absl::Status Tell(const services::Lun& lun);

  absl::StatusOr<std::string> ReadBehind() override;
  absl::Status WriteBehind(const std::string& text) override;
  absl::Status AddDeleted(const store::RecordingPath& path) override;
  absl::StatusOr<std::set<store::RecordingPath>> Deleted() override;

  // Undoes Create, if the directory is still the member of this LUN: removes what Tapedeck has made
  // beside the recordings, which must be gone.
  static absl::Status Remove(const services::Lun& lun, uint32_t number);

  // All that is done on the member goes through it.
  const disk::Directory& root() const { return root_; }
  const std::string& path() const { return root_.path(); }
  uint32_t number() const { return number_; }
  const format::Uuid& lun() const { return lun_; }

  // Transfers, and the slower flushes beside them: fdatasync covers what was written before it
  // started, so it must not hold up the writes that follow.
  services::TaskThread& io() { return *threads_.io; }
  services::TaskThread& sync() { return *threads_.sync; }

  Spares& spares() { return spares_; }

  // Whether it is still the directory that was opened, and ours, and whether its disk takes what is
  // written if it has failed to: INTERNAL (STORE_IO). Waits for the disk.
  absl::Status Look();

  // A write or a flush has failed: the next Look tries one. Any thread.
  void SuspectDisk() { suspect_ = true; }

  // Runs what is queued on both, ends them, and makes no more spares.
  void Stop();

 private:
  struct Threads {
    std::unique_ptr<services::TaskThread> io;
    std::unique_ptr<services::TaskThread> sync;
  };

  static absl::StatusOr<Threads> MakeThreads(uint32_t number);
  absl::Status StartSpares(const services::Lun& lun);
  Member(const services::Lun& lun, uint32_t number, disk::Directory root, disk::Directory config,
         disk::FileLock lock, Threads threads);
  absl::Status LookAtPath() const;
  absl::Status LookAtMarks() const;

  const disk::Directory root_;
  const uint32_t number_;
  const format::Uuid lun_;
  const disk::Directory config_;
  const disk::FileLock lock_;
  std::atomic<bool> suspect_ = false;
  Spares spares_;
  const Threads threads_;
};

inline constexpr MemberKind kMemberKind{.is = Member::Is,
                                        .check = Member::Check,
                                        .described_by = Member::DescribedBy,
                                        .describe = Member::Describe,
                                        .held_by = Member::HeldBy};

}  // namespace tapedeck::storage_node::store::directory
