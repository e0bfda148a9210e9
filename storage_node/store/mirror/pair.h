// The two members of a mirrored LUN: which is there, and which is behind.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "services/base/threads/task_thread.h"
#include "storage_node/format/behind.h"
#include "storage_node/store/copies.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store::mirror {

inline constexpr uint32_t kCopies = 2;
inline uint32_t OtherOf(uint32_t member) { return 1 - member; }

// Something is being done on one copy alone: the other does not count as whole until this has gone,
// and a scrub has been over all of it.
class Absence;
using Absent = std::shared_ptr<const Absence>;

// Any thread. Nothing counts on one copy alone before the member that has it says durably that the
// other one is behind.
class Pair final : public CopyHealth, public std::enable_shared_from_this<Pair> {
 public:
  struct Member {
    std::string name;
    std::shared_ptr<Store> store;        // null: it is not there
    absl::Status missing;                // why
    std::optional<format::Behind> says;  // which copy is behind
  };
  using Members = std::array<Member, kCopies>;
  using Left = absl::AnyInvocable<void(absl::StatusOr<Absent>)>;

  // Members that are there have been read. FAILED_PRECONDITION (MEMBER_UNUSABLE): each is behind
  // the other, or the one that is there is; the missing one's error if none is.
  static absl::StatusOr<std::shared_ptr<Pair>> Create(std::string lun_uid, Members members);
  // What was asked of LeaveLater is done, and the members are closed. Waits for the disk.
  void Close();

  const std::string& name(uint32_t member) const { return names_[member]; }
  // Null: it is not there.
  std::shared_ptr<Store> store(uint32_t member) const;
  bool behind(uint32_t member) const override;
  // The one to believe: it is there, and not behind.
  uint32_t whole() const;
  absl::Status lacking() const override;
  uint64_t omissions() const;

  // Goes on without the member, because of `why`. The other one says durably that it is behind. An
  // error, which is `why` where it is the last whole one: nothing may go on. Waits for the disk.
  absl::StatusOr<Absent> Leave(uint32_t member, const absl::Status& why);
  // The same on a thread of its own, on which `left` is called.
  void LeaveLater(uint32_t member, absl::Status why, Left left);

  // After Leave: it is gone, and is closed by Reap when nobody has it any more.
  void Remove(uint32_t member, const absl::Status& why);
  // Waits for the disk.
  void Reap();
  // Nobody has what it was, so that it can be opened again.
  bool CanReturn(uint32_t member) const;
  // Why it is still not there.
  void SetMissing(uint32_t member, const absl::Status& why);
  // It is there again. INTERNAL (STORE_IO): it says that the copy that is in use is behind, which
  // nothing contradicts. One that is behind itself, and says that, stays away.
  absl::Status Return(uint32_t member, std::shared_ptr<Store> store,
                      const std::optional<format::Behind>& says);

  // A member that is behind says so itself, so that it is not believed when it is alone. Waits for
  // the disk.
  void TellBehind();

  // See Copies::Trust; `purge` is called before anything is believed.
  absl::Status Trust(uint64_t omissions, const std::function<absl::Status(uint32_t)>& purge);

 private:
  friend class Absence;
  struct State {
    std::shared_ptr<Store> store;
    std::weak_ptr<Store> old;  // the one that was removed
    absl::Status missing;
    std::optional<format::Behind> behind;
    bool durable = false;  // the other one says so durably
    bool says_so = false;  // it does itself
    uint64_t absences = 0;
  };

  Pair(std::string lun_uid, const Members& members, std::unique_ptr<services::TaskThread> marks);
  Absent Begin(uint32_t member) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(uint32_t member);
  absl::Status Untrusted(uint64_t omissions, uint32_t* member) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  const std::string lun_uid_;
  const std::array<std::string, kCopies> names_;
  const std::unique_ptr<services::TaskThread> marks_;
  absl::Mutex marking_;  // held while marks are written; taken before mutex_
  mutable absl::Mutex mutex_;
  std::array<State, kCopies> states_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Store>> leaving_ ABSL_GUARDED_BY(mutex_);
  uint64_t omissions_ ABSL_GUARDED_BY(mutex_) = 0;
};

class Absence {
 public:
  Absence(std::shared_ptr<Pair> pair, uint32_t member) : pair_(std::move(pair)), member_(member) {}
  Absence(const Absence&) = delete;
  Absence& operator=(const Absence&) = delete;
  ~Absence() { pair_->End(member_); }

 private:
  const std::shared_ptr<Pair> pair_;
  const uint32_t member_;
};

}  // namespace tapedeck::storage_node::store::mirror
