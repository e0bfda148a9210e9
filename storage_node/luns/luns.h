// The LUNs of a node: the open ones with their stores, the offline ones, and the queues that wait
// for their disks.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "dataplane/clock.h"
#include "services/base/errors.h"
#include "services/model/seams/catalog.h"
#include "storage_node/format/uuid.h"
#include "storage_node/luns/channels.h"
#include "storage_node/luns/disk_space.h"
#include "storage_node/luns/lun_config.h"
#include "storage_node/luns/lun_queue.h"
#include "storage_node/luns/member_roots.h"
#include "storage_node/luns/opening_turns.h"
#include "storage_node/recording/lun_meter.h"
#include "storage_node/recording/writing/capacity.h"
#include "storage_node/recording/writing/footprint.h"
#include "storage_node/store/list.h"

namespace tapedeck::storage_node::luns {

// What a LUN is to its channels: as it is, or as it would be after a change.
struct LunTerms {
  services::Lun config;
  store::Layout layout;
  uint64_t limit = 0;  // of its capacity; 0: none

  uint64_t members() const { return config.striped_members(); }
  // Of new recordings with blocks of that size.
  recording::Footprint footprint(uint64_t block_bytes) const {
    return {layout, block_bytes, config.striped_members()};
  }
};

// Says that all after it in its struct is gone.
class Gone {
 public:
  Gone() = default;
  Gone(Gone&&) = default;
  ~Gone() {
    if (said_ != nullptr) said_->Notify();
  }
  std::shared_ptr<const absl::Notification> said() const { return said_; }

 private:
  std::shared_ptr<absl::Notification> said_ = std::make_shared<absl::Notification>();
};

// A policy deletes one recording at a time: whether the next one goes, too, depends on it.
struct DeletionTurn {
  absl::Mutex mutex;
  bool taken ABSL_GUARDED_BY(mutex) = false;
};

// Held by shared_ptr: by the table, by sessions and by queries that are under way.
struct OpenLun {
  Gone gone;  // the store is closed, and its members may be unmounted
  LunConfig config;
  store::StoreKind kind;
  std::shared_ptr<recording::Capacity> capacity;
  std::shared_ptr<recording::LunMeter> meter = std::make_shared<recording::LunMeter>();
  std::shared_ptr<const store::CopyHealth> health;  // null: it keeps one copy
  std::shared_ptr<FoundSpace> space = std::make_shared<FoundSpace>();
  std::string channel_root;            // the directory its channel configurations lie under
  std::unique_ptr<Channels> channels;  // null while only its files are looked at
  // Held while the manifest of a closed recording is replaced.
  std::shared_ptr<absl::Mutex> rewriting = std::make_shared<absl::Mutex>();
  std::shared_ptr<DeletionTurn> deleting = std::make_shared<DeletionTurn>();
  // Held while what the members say of the LUN is replaced.
  std::shared_ptr<absl::Mutex> describing = std::make_shared<absl::Mutex>();
  // Held from the check of a change of the LUN or of its channels until it is done: what one allows
  // depends on the others. Taken before `describing`.
  std::shared_ptr<absl::Mutex> changing = std::make_shared<absl::Mutex>();
  std::unique_ptr<store::Store> store;

  // Of new recordings with blocks of that size.
  recording::Footprint footprint(uint64_t block_bytes) const {
    return {store->extras().layout, block_bytes, config->striped_members()};
  }
  // Why one of its copies is not whole; OK: both are, or it keeps one.
  absl::Status lacking() const { return health == nullptr ? absl::OkStatus() : health->lacking(); }
  LunTerms terms() const { return {*config.now(), store->extras().layout, capacity->limit()}; }

  // Of its capacity, by a recording; 0 while that is not closed: its writer has it then.
  uint64_t TakenBy(const format::Manifest& manifest) const {
    if (manifest.state == services::RecordingState::kRecording) return 0;
    return recording::Footprint(store->extras().layout, manifest.block_bytes, manifest.members)
        .Of(manifest);
  }
};

// Once its store is open.
inline void TakeHealth(OpenLun& lun) {
  if (auto* const copies = lun.store->extras().copies; copies != nullptr) {
    lun.health = copies->health();
  }
}

// What is told of an open LUN by who must not wait: without a hold on its store, which the last of
// those who have one closes.
struct LunFigures {
  LunConfig config;
  std::shared_ptr<const recording::Capacity> capacity;
  std::shared_ptr<const recording::LunMeter> meter;
  std::shared_ptr<const store::CopyHealth> health;  // null: it keeps one copy
};

// Its members are not there, or not usable.
struct OfflineLun {
  services::Lun config;
  absl::Status cause;
  bool standby = false;  // another node has it, as it may
};

// What is configured, or less where its store has only `size` bytes, or an unknown number: 0.
inline uint64_t LimitOf(const services::Lun& config, uint64_t size) {
  const uint64_t limit = config.capacity_bytes;
  return limit == 0 || size == 0 ? std::max(limit, size) : std::min(limit, size);
}
inline std::shared_ptr<recording::Capacity> CapacityOf(const services::Lun& config,
                                                       store::Store& store) {
  return std::make_shared<recording::Capacity>(LimitOf(config, store.extras().size_bytes));
}

struct LunsSettings {
  std::string state_dir;                          // exists
  std::shared_ptr<const dataplane::Clock> clock;  // set
  format::Random random;                          // set
  MemberRoots member_roots;
  std::set<std::string> standby_members;  // of LUNs that are opened once no other node has them
  // Sessions do themselves what LUNs' queues are asked for: for simulations, in which nothing
  // waits.
  bool no_queues = false;
};

// Any thread. Keys are ids, without "luns/". Lives as long as the node; its queues are stopped
// before what their tasks use goes.
class Luns {
 public:
  explicit Luns(LunsSettings settings) : settings_(std::move(settings)) {
    queues_.SetAtOnce(settings_.no_queues);
    ring_queues_.SetAtOnce(settings_.no_queues);
  }
  ~Luns() { StopQueues(); }

  const std::string& state_dir() const { return settings_.state_dir; }
  const dataplane::Clock& clock() const { return *settings_.clock; }
  const format::Random& random() const { return settings_.random; }
  const MemberRoots& member_roots() const { return settings_.member_roots; }
  OpeningTurns& turns() { return turns_; }
  // Of one that is not open here.
  bool IsStandby(const std::string& id) const {
    absl::MutexLock lock(&mutex_);
    const auto it = offline_.find(id);
    return it != offline_.end() && IsStandby(it->second.config);
  }
  // Whether another node may have it: then it is not opened before that is known to be gone.
  bool IsStandby(const services::Lun& config) const {
    return std::ranges::any_of(config.members, [&](const std::string& member) {
      return settings_.standby_members.contains(member);
    });
  }

  // What is queued on one uses the others. Of what sessions wait for, and of what nobody waits for:
  // policies' deletions, and LUNs that were offline.
  LunQueues& queues() { return queues_; }
  LunQueues& upkeep() { return upkeep_; }
  LunQueues& ring_queues() { return ring_queues_; }  // where rings are made
  LunQueues& looks() { return looks_; }  // where it is seen whether members are still there
  void StopQueues() {
    for (LunQueues* each : {&queues_, &upkeep_, &ring_queues_, &looks_}) each->Stop();
  }

  void Insert(const std::string& id, std::shared_ptr<OpenLun> lun) {
    absl::MutexLock lock(&mutex_);
    luns_[id] = std::move(lun);
    offline_.erase(id);
  }

  void SetOffline(const std::string& id, OfflineLun lun) {
    absl::MutexLock lock(&mutex_);
    offline_[id] = std::move(lun);
  }

  // Of one that was open as `lun`; false if it is not any more. It is closed by CloseUnused.
  bool TakeOffline(const std::string& id, const std::shared_ptr<OpenLun>& lun,
                   const absl::Status& cause) {
    absl::MutexLock lock(&mutex_);
    const auto it = luns_.find(id);
    if (it == luns_.end() || it->second != lun) return false;
    offline_[id] = {.config = *lun->config.now(), .cause = cause};
    closing_.emplace(id, lun);
    luns_.erase(it);
    return true;
  }

  // Of one that is open, or has just been taken offline.
  void SetConfig(const std::string& id, OpenLun& lun, const services::Lun& config) {
    absl::MutexLock lock(&mutex_);
    lun.config.Set(config);
    const auto it = offline_.find(id);
    if (it != offline_.end() && it->second.config.uid == config.uid) it->second.config = config;
  }

  // One that was open as `lun` is no longer of this node. It is closed by CloseUnused.
  void TakeOut(const std::string& id, const std::shared_ptr<OpenLun>& lun) {
    absl::MutexLock lock(&mutex_);
    closing_.emplace(id, lun);
    luns_.erase(id);
  }

  // Those that were taken offline or out and are still open, for sessions that have not ended.
  std::set<std::string> Closing() const {
    absl::MutexLock lock(&mutex_);
    std::set<std::string> ids;
    for (const auto& [id, lun] : closing_) ids.insert(id);
    return ids;
  }

  // Closes those of them that nobody else holds: sessions must not, as this waits for the disk. One
  // thread at a time for one LUN.
  void CloseUnused(const std::string& id) {
    std::vector<std::shared_ptr<OpenLun>> unused;
    {
      absl::MutexLock lock(&mutex_);
      const auto [first, last] = closing_.equal_range(id);
      for (auto it = first; it != last; ++it) {
        if (it->second.use_count() == 1) unused.push_back(std::exchange(it->second, nullptr));
      }
    }
    unused.clear();
    absl::MutexLock lock(&mutex_);
    std::erase_if(closing_,
                  [&](const auto& entry) { return entry.first == id && entry.second == nullptr; });
  }

  void Erase(const std::string& id) {
    absl::MutexLock lock(&mutex_);
    luns_.erase(id);
    offline_.erase(id);
  }

  // Open or not.
  bool Has(const std::string& id) const {
    absl::MutexLock lock(&mutex_);
    return luns_.contains(id) || offline_.contains(id);
  }

  // Of all, open or not.
  std::set<std::string> Ids() const {
    absl::MutexLock lock(&mutex_);
    std::set<std::string> ids;
    for (const auto& [id, lun] : luns_) ids.insert(id);
    for (const auto& [id, lun] : offline_) ids.insert(id);
    return ids;
  }

  // NOT_FOUND (LUN_NOT_FOUND).
  absl::Status CheckExists(const std::string& id) const {
    return Has(id) ? absl::OkStatus() : NoSuchLun(id);
  }

  // NOT_FOUND (LUN_NOT_FOUND), FAILED_PRECONDITION (LUN_OFFLINE).
  absl::StatusOr<std::shared_ptr<OpenLun>> Find(const std::string& id) const {
    absl::MutexLock lock(&mutex_);
    const auto it = luns_.find(id);
    if (it != luns_.end()) return it->second;
    const auto offline = offline_.find(id);
    if (offline == offline_.end()) return NoSuchLun(id);
    return services::WithReason(absl::FailedPreconditionError(absl::StrCat(
                                    "LUN ", id, " is offline: ", offline->second.cause.message())),
                                "LUN_OFFLINE", {{"lun", id}});
  }

  // Those that are open, by name.
  std::vector<std::pair<std::string, std::shared_ptr<OpenLun>>> All() const {
    absl::MutexLock lock(&mutex_);
    return {luns_.begin(), luns_.end()};
  }

  // Of those that are open, by name.
  std::vector<std::pair<std::string, LunFigures>> Figures() const {
    absl::MutexLock lock(&mutex_);
    std::vector<std::pair<std::string, LunFigures>> figures;
    for (const auto& [id, lun] : luns_) {
      figures.emplace_back(id, LunFigures{lun->config, lun->capacity, lun->meter, lun->health});
    }
    return figures;
  }

  std::map<std::string, OfflineLun> Offline() const {
    absl::MutexLock lock(&mutex_);
    return offline_;
  }

 private:
  static absl::Status NoSuchLun(const std::string& id) {
    return services::WithReason(absl::NotFoundError(absl::StrCat(
                                    "no LUN ", id, "; tapectl lun list shows those there are")),
                                "LUN_NOT_FOUND", {{"lun", id}});
  }

  const LunsSettings settings_;
  OpeningTurns turns_;
  mutable absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<OpenLun>> luns_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, OfflineLun> offline_ ABSL_GUARDED_BY(mutex_);
  std::multimap<std::string, std::shared_ptr<OpenLun>> closing_ ABSL_GUARDED_BY(mutex_);
  LunQueues queues_;
  LunQueues upkeep_;
  LunQueues ring_queues_;
  LunQueues looks_;
};

}  // namespace tapedeck::storage_node::luns
