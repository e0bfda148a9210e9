#include "storage_node/store/memory/store.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/status_macros.h"
#include "storage_node/store/memory/recording.h"

namespace tapedeck::storage_node::store::memory {
namespace {

class MemoryStore final : public Store {
 public:
  MemoryStore(std::shared_ptr<Arena> arena, uint64_t capacity_bytes)
      : arena_(std::move(arena)),
        capacity_bytes_(capacity_bytes),
        pools_(std::make_shared<ArenaPools>()) {}

  absl::StatusOr<std::unique_ptr<RecordingFiles>> Open(const RecordingPath& path,
                                                       const Opening& how,
                                                       dataplane::Executor& executor) override;
  absl::Status DeleteRecording(const RecordingPath& path) override;
  absl::StatusOr<std::vector<RecordingPath>> ListRecordings(const Known& known) override;
  absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(const RingSpec& spec) override;
  absl::Status Look() override { return absl::OkStatus(); }
  Extras extras() override {
    return {.layout = {.step_bytes = 1, .counts_index = false, .counts_manifest = false},
            .size_bytes = capacity_bytes_};
  }

 private:
  absl::StatusOr<std::unique_ptr<RecordingFiles>> Create(const RecordingPath& path,
                                                         uint64_t block_bytes,
                                                         dataplane::Executor& executor);

  using Key = std::pair<std::string, std::string>;

  const std::shared_ptr<Arena> arena_;
  const uint64_t capacity_bytes_;
  const std::shared_ptr<ArenaPools> pools_;  // shared with recordings
  absl::Mutex mutex_;
  std::map<Key, std::shared_ptr<StoredRecording>> recordings_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<std::unique_ptr<RecordingFiles>> MemoryStore::Create(const RecordingPath& path,
                                                                    uint64_t block_bytes,
                                                                    dataplane::Executor& executor) {
  absl::MutexLock lock(&mutex_);
  auto& stored = recordings_[{path.channel, path.recording}];
  if (stored != nullptr) {
    return absl::AlreadyExistsError(absl::StrCat("memory LUN: recording ", path.recording));
  }
  stored = std::make_shared<StoredRecording>(arena_, block_bytes);
  return std::make_unique<MemoryRecording>(stored, pools_, executor);
}

absl::StatusOr<std::unique_ptr<RecordingFiles>> MemoryStore::Open(const RecordingPath& path,
                                                                  const Opening& how,
                                                                  dataplane::Executor& executor) {
  if (how.purpose == Purpose::kCreate) return Create(path, how.block_bytes, executor);
  absl::MutexLock lock(&mutex_);
  const auto it = recordings_.find({path.channel, path.recording});
  if (it == recordings_.end()) {
    return absl::NotFoundError(absl::StrCat("memory LUN: no recording ", path.recording));
  }
  return std::make_unique<MemoryRecording>(it->second, pools_, executor);
}

absl::Status MemoryStore::DeleteRecording(const RecordingPath& path) {
  absl::MutexLock lock(&mutex_);
  recordings_.erase({path.channel, path.recording});
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RecordingPath>> MemoryStore::ListRecordings(const Known& /*known*/) {
  absl::MutexLock lock(&mutex_);
  std::vector<RecordingPath> paths;
  for (const auto& [key, stored] : recordings_) {
    paths.push_back({.channel = key.first, .recording = key.second});
  }
  return paths;
}

absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MemoryStore::MakeRing(const RingSpec& spec) {
  if (!spec.exposed_to_peer) {
    TD_ASSIGN_OR_RETURN(auto pool, ArenaPool::Create(arena_, spec.playback ? 0 : spec.slots,
                                                     spec.slot_bytes, spec.slots));
    pools_->Add(pool);
    return std::shared_ptr<dataplane::SlotPool>(std::move(pool));
  }
  TD_ASSIGN_OR_RETURN(auto memory, dataplane::host::Create(spec.slots * spec.slot_bytes));
  TD_ASSIGN_OR_RETURN(auto pool, dataplane::MemoryPool::Create(std::move(memory), spec.slot_bytes));
  return std::shared_ptr<dataplane::SlotPool>(std::move(pool));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun) {
  TD_ASSIGN_OR_RETURN(auto arena, Arena::Create(lun.capacity_bytes));
  return std::make_unique<MemoryStore>(std::move(arena), lun.capacity_bytes);
}

}  // namespace tapedeck::storage_node::store::memory
