// Files written before a recording needs them. The first write to a part of a file makes the file
// system change its metadata. Later writes do not.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/model/seams/catalog.h"
#include "storage_node/disk/directory.h"

namespace tapedeck::storage_node::store::directory {

// A spare file of a member by itself: its name, its mark, and the writing of its bytes.

// A spare in the making.
struct SparePart {
  std::string name;      // the spare's
  uint64_t bytes = 0;    // it is to have
  bool made = false;     // NAME.part is ours
  uint64_t written = 0;  // from the start
};

// What a spare is called until it is whole.
std::string UnfinishedSpare(const std::string& name);
bool IsUnfinishedSpare(absl::string_view name);
// Of N or N.part, as NewName has made them.
std::optional<uint64_t> SpareNumber(absl::string_view name);

// Whether the file has the LUN's mark.
bool IsOurSpare(const disk::Directory& folder, const std::string& name, const std::string& lun_uid);
void LogSpareRemoved(const disk::Directory& folder, const std::string& name, absl::string_view why);

// Goes on with the part, which gets its mark first, until it is a spare or `go_on`, which is asked
// before each megabyte, says no. `member`: for errors.
absl::Status WriteSpare(const disk::Directory& folder, const std::string& lun_uid,
                        const std::string& member, absl::FunctionRef<bool()> go_on,
                        SparePart* part);

// A member's spare data files: MEMBER/.tapedeck/spares/N, of prewrite_bytes, every one of them
// written and flushed while the file was called N.part. Each carries the LUN's uid as an extended
// attribute, where the file system has those: what lacks it is not ours, and left alone. A thread
// of its own makes what lacks, as long as nothing is recorded on the member, and removes what is
// too much. Owned by the member; any thread. Where there never were any: no directory, no thread.
class Spares {
 public:
  // Starts with what lies there, and removes what is not whole.
  Spares(const services::Lun& lun, uint32_t number);
  ~Spares() { Stop(); }

  // Begins to make what lacks, from now on. RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no
  // thread. Not beside itself or Keep.
  absl::Status Start();

  // So many files of so many bytes are kept from now on; 0: none. Where others or more are there
  // they go: on the thread, or at once if that was never started.
  void Keep(uint32_t files, uint64_t bytes);

  // Removes the spares below a member's .tapedeck, and their directory unless more lies there.
  static absl::Status Remove(const disk::Directory& config, const std::string& lun_uid);

  // After at most a megabyte more. From then on files are taken, but neither made nor given back.
  void Stop();

  // Renames a spare to the file `data` of `recording`, which must not exist. That is one step, also
  // for a power cut: once the new name is durable the old one is gone. False: there is none.
  bool Take(const disk::Directory& recording);

  // Takes back the data file of a recording whose deletion is durable, unless it is too short, has
  // parts that were never written, is still in use, or none lacks: then it stays where it is.
  void GiveBack(const disk::Directory& recording);

  // The file system has more room: what it was too full for is tried again.
  void RoomCameFree();

  // The file system is full: removes a spare, and makes none until RoomCameFree. False: there is
  // none.
  bool Release();

  // Calls `call` again while the disk is too full for it and there are spares to remove.
  template <typename Call>
  absl::Status WithRoom(Call call) {
    absl::Status status = call();
    while (absl::IsResourceExhausted(status) && Release()) status = call();
    return status;
  }

  // A recording that is open. While it is recorded into the thread waits, from before it takes its
  // file on; its file is not given back, because late writes may still be under way.
  class Use {
   public:
    Use(Spares& spares, bool records);
    ~Use();
    // Once.
    void SetFile(uint64_t inode);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Spares& spares_;
    const bool records_;
    std::optional<uint64_t> inode_;
  };

 private:
  enum class Next { kStop, kRemove, kWrite };

  absl::StatusOr<disk::Directory> Folder() const;
  absl::StatusOr<disk::Directory> FolderIfThere() const;
  void FindFiles() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Loop();
  // What there is to do; kWrite: `*part`.
  Next Await(SparePart* part);
  void End(SparePart part, const absl::Status& status);
  bool Wanted() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !full_ && recorders_ == 0 && files_.size() < wanted_;
  }
  bool GoOn(const SparePart& part);
  // Tells what is too much from what is kept.
  void DropSurplus() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // One file. False: there is none.
  bool RemoveSurplus();
  void RemoveOurs(const std::string& name, absl::string_view why) const;
  void DropPart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string NewName() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether it still is one of ours.
  bool IsSpare(const disk::Directory& folder, const std::string& name) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes the data file as long as a spare if it can be one.
  bool MakeSpare(const disk::Directory& recording) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint32_t number_;
  const std::string member_;
  const absl::StatusOr<disk::Directory> root_;  // an error: as if there were no spares
  const std::string lun_uid_;
  absl::Mutex mutex_;
  uint32_t wanted_ ABSL_GUARDED_BY(mutex_);
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_);
  bool looked_ ABSL_GUARDED_BY(mutex_) = false;               // for what lies there
  std::vector<std::string> files_ ABSL_GUARDED_BY(mutex_);    // names
  std::vector<std::string> surplus_ ABSL_GUARDED_BY(mutex_);  // likewise; to be removed
  std::optional<SparePart> part_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  std::multiset<uint64_t> open_ ABSL_GUARDED_BY(mutex_);  // inodes
  uint64_t recorders_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Time quiet_since_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();  // nobody records
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;                           // part_ is open
  bool full_ ABSL_GUARDED_BY(mutex_) = false;                              // or the disk fails
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tapedeck::storage_node::store::directory
