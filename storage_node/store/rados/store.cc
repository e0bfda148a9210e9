#include "storage_node/store/rados/store.h"

#include <cerrno>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/threads/task_thread.h"
#include "storage_node/store/host_ring.h"
#include "storage_node/store/rados/names.h"
#include "storage_node/store/rados/note.h"
#include "storage_node/store/rados/recording.h"
#include "storage_node/store/rados/recording_list.h"

namespace tapedeck::storage_node::store::rados {
namespace {

struct StoreThreads {
  std::unique_ptr<services::TaskThread> io;
  std::unique_ptr<services::TaskThread> slow;
};

class RadosStore final : public Store, public Recovery {
 public:
  RadosStore(std::unique_ptr<Cluster> cluster, std::unique_ptr<Holding> holding,
             StoreThreads threads, std::string lun_uid)
      : lun_uid_(std::move(lun_uid)),
        cluster_(std::move(cluster)),
        holding_(std::move(holding)),
        threads_(std::move(threads)),
        notebook_(*cluster_, *holding_) {}
  ~RadosStore() override;

  absl::Status Load();

  absl::StatusOr<std::unique_ptr<RecordingFiles>> Open(const RecordingPath& path,
                                                       const Opening& how,
                                                       dataplane::Executor& executor) override;
  absl::Status DeleteRecording(const RecordingPath& path) override;
  absl::Status BeginDeletion(const RecordingPath& path) override;
  absl::StatusOr<std::vector<RecordingPath>> BegunDeletions(const Known& known) override;
  absl::StatusOr<std::vector<std::string>> UnknownChannels(const Known& known) override {
    TD_ASSIGN_OR_RETURN(const auto paths, ListRecordings(known));
    return ChannelsLacking(paths, known);
  }
  absl::StatusOr<std::vector<RecordingPath>> ListRecordings(const Known& known) override;
  absl::Status Look() override;
  absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(const RingSpec& spec) override {
    return MakeHostRing(spec, {this});
  }
  Extras extras() override { return {.recovery = this, .notebook = &notebook_}; }

 private:
  StoreParts parts() { return {*cluster_, *holding_, *threads_.io, *threads_.slow}; }
  // Waits for the cluster; NOT_FOUND if there is no such recording.
  absl::StatusOr<std::shared_ptr<StoredRecording>> Find(const RecordingPath& path);
  absl::StatusOr<std::unique_ptr<RecordingFiles>> Create(const RecordingPath& path,
                                                         uint64_t block_bytes,
                                                         dataplane::Executor& executor);
  // INTERNAL (STORE_IO) once the LUN was found to be somebody else's.
  absl::StatusOr<std::unique_ptr<RecordingFiles>> OpenFiles(std::shared_ptr<StoredRecording> stored,
                                                            dataplane::Executor& executor);

  const std::string lun_uid_;
  const std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Holding> holding_;
  StoreThreads threads_;
  RadosNotebook notebook_;
  absl::Mutex making_;  // one recording at a time; taken before mutex_
  absl::Mutex mutex_;
  std::map<RecordingPath, RowState> rows_ ABSL_GUARDED_BY(mutex_);
  // Those that somebody has open, or has something under way for.
  std::map<RecordingPath, std::weak_ptr<StoredRecording>> in_use_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<Lost>> open_ ABSL_GUARDED_BY(mutex_);
  absl::Status gone_ ABSL_GUARDED_BY(mutex_);
};

// Each of these waits for what the one before may still want of it.
RadosStore::~RadosStore() {
  threads_.io->Stop();
  threads_.slow->Stop();
  cluster_->AwaitAll();
  holding_ = nullptr;
}

absl::Status RadosStore::Load() {
  TD_ASSIGN_OR_RETURN(auto rows, ReadRows(*cluster_));
  dataplane::Log(dataplane::LogLevel::kInfo, "store/rados", "member opened",
                 {{"member", cluster_->member()},
                  {"epoch", absl::StrCat(holding_->epoch())},
                  {"recordings", absl::StrCat(rows.size())}});
  absl::MutexLock lock(&mutex_);
  rows_ = std::move(rows);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<StoredRecording>> RadosStore::Find(const RecordingPath& path) {
  {
    absl::MutexLock lock(&mutex_);
    if (!rows_.contains(path)) {
      return absl::NotFoundError(absl::StrCat(cluster_->member(), ": no recording ", KeyOf(path)));
    }
    const auto it = in_use_.find(path);
    if (it != in_use_.end()) {
      if (auto stored = it->second.lock()) return stored;
    }
  }
  TD_ASSIGN_OR_RETURN(auto opened, StoredRecording::Open(parts(), path, lun_uid_));
  absl::MutexLock lock(&mutex_);
  std::erase_if(in_use_, [](const auto& entry) { return entry.second.expired(); });
  // Somebody else may have opened it meanwhile: there is one, since it counts writes.
  auto& known = in_use_[path];
  if (auto stored = known.lock()) return stored;
  known = opened;
  return opened;
}

absl::StatusOr<std::unique_ptr<RecordingFiles>> RadosStore::OpenFiles(
    std::shared_ptr<StoredRecording> stored, dataplane::Executor& executor) {
  auto lost = std::make_shared<Lost>();
  absl::MutexLock lock(&mutex_);
  TD_RETURN_IF_ERROR(gone_);
  std::erase_if(open_, [](const auto& each) { return each.expired(); });
  open_.push_back(lost);
  return std::make_unique<RadosRecording>(std::move(stored), std::move(lost), executor);
}

// The row first: what a crash leaves has one, and is found.
absl::StatusOr<std::unique_ptr<RecordingFiles>> RadosStore::Create(const RecordingPath& path,
                                                                   uint64_t block_bytes,
                                                                   dataplane::Executor& executor) {
  absl::MutexLock making(&making_);
  TD_RETURN_IF_ERROR(holding_->status());
  {
    absl::MutexLock lock(&mutex_);
    if (rows_.contains(path)) {
      return absl::AlreadyExistsError(
          absl::StrCat(cluster_->member(), ": recording ", KeyOf(path)));
    }
  }
  TD_RETURN_IF_ERROR(WriteRow(*cluster_, path, RowState::kThere));
  auto stored = StoredRecording::Create(parts(), path, block_bytes, lun_uid_);
  if (!stored.ok()) {
    RemoveRow(*cluster_, path).IgnoreError();  // else the next start does
    return std::move(stored).status();
  }
  {
    absl::MutexLock lock(&mutex_);
    rows_[path] = RowState::kThere;
    in_use_[path] = *stored;
  }
  return OpenFiles(*std::move(stored), executor);
}

absl::StatusOr<std::unique_ptr<RecordingFiles>> RadosStore::Open(const RecordingPath& path,
                                                                 const Opening& how,
                                                                 dataplane::Executor& executor) {
  if (how.purpose == Purpose::kCreate) return Create(path, how.block_bytes, executor);
  TD_ASSIGN_OR_RETURN(auto stored, Find(path));
  return OpenFiles(std::move(stored), executor);
}

// From the first step on a start goes on with it.
absl::Status RadosStore::DeleteRecording(const RecordingPath& path) {
  TD_RETURN_IF_ERROR(holding_->status());
  auto stored = Find(path);
  {
    absl::MutexLock lock(&mutex_);
    if (!rows_.contains(path)) return absl::OkStatus();
  }
  if (stored.ok()) {
    TD_RETURN_IF_ERROR(BeginDeletion(path));
    TD_RETURN_IF_ERROR((*stored)->Remove());
  } else if (!absl::IsNotFound(stored.status())) {
    return std::move(stored).status();
  }
  TD_RETURN_IF_ERROR(RemoveRow(*cluster_, path));
  absl::MutexLock lock(&mutex_);
  rows_.erase(path);
  in_use_.erase(path);
  return absl::OkStatus();
}

absl::Status RadosStore::BeginDeletion(const RecordingPath& path) {
  {
    absl::MutexLock lock(&mutex_);
    const auto row = rows_.find(path);
    if (row == rows_.end() || row->second == RowState::kDeleting) return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(WriteRow(*cluster_, path, RowState::kDeleting));
  absl::MutexLock lock(&mutex_);
  rows_[path] = RowState::kDeleting;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RecordingPath>> RadosStore::BegunDeletions(const Known& /*known*/) {
  absl::MutexLock lock(&mutex_);
  std::vector<RecordingPath> paths;
  for (const auto& [path, state] : rows_) {
    if (state == RowState::kDeleting) {
      paths.push_back({.channel = path.channel, .recording = path.recording});
    }
  }
  return paths;
}

absl::StatusOr<std::vector<RecordingPath>> RadosStore::ListRecordings(const Known& /*known*/) {
  absl::MutexLock lock(&mutex_);
  std::vector<RecordingPath> paths;
  for (const auto& [path, state] : rows_) {
    if (state == RowState::kThere) {
      paths.push_back({.channel = path.channel, .recording = path.recording});
    }
  }
  return paths;
}

// Those that are told are told without the lock.
absl::Status RadosStore::Look() {
  cluster_->shelf().Sweep();
  const absl::Status status = holding_->status();
  if (status.ok()) return status;
  std::vector<std::weak_ptr<Lost>> open;
  {
    absl::MutexLock lock(&mutex_);
    gone_.Update(status);
    open.swap(open_);
  }
  for (const auto& each : open) {
    if (const auto lost = each.lock()) lost->Set(status);
  }
  return status;
}

absl::Status RemoveLunObjects(Cluster& cluster) {
  for (const char* object : {kListObject, kLunObject}) {
    librados::ObjectWriteOperation op;
    op.remove();
    const int r = cluster.Operate(object, op);
    if (r < 0 && r != -ENOENT) return cluster.Error("remove", object, r);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Store>> OpenOn(std::unique_ptr<Cluster> cluster,
                                              const services::Lun& lun, uint32_t member) {
  TD_RETURN_IF_ERROR(CheckLunObject(*cluster, lun, member));
  TD_ASSIGN_OR_RETURN(auto holding, Holding::Take(*cluster));
  StoreThreads threads;
  TD_ASSIGN_OR_RETURN(threads.io, services::TaskThread::Create(absl::StrCat("rados-io-", member)));
  TD_ASSIGN_OR_RETURN(threads.slow,
                      services::TaskThread::Create(absl::StrCat("rados-slow-", member)));
  auto store = std::make_unique<RadosStore>(std::move(cluster), std::move(holding),
                                            std::move(threads), lun.recorded_uid());
  TD_RETURN_IF_ERROR(store->Load());
  return store;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(auto cluster, Cluster::Connect(lun.members[member]));
  TD_RETURN_IF_ERROR(MakeLunObject(*cluster, lun, member));
  auto store = OpenOn(std::move(cluster), lun, member);
  if (!store.ok()) Remove(lun, member).IgnoreError();  // what is left says whose it is
  return store;
}

absl::StatusOr<std::unique_ptr<Store>> Open(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(auto cluster, Cluster::Connect(lun.members[member]));
  return OpenOn(std::move(cluster), lun, member);
}

absl::Status Remove(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(const auto cluster, Cluster::Connect(lun.members[member]));
  if (!CheckLunObject(*cluster, lun, member).ok()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const auto holding, Holding::Take(*cluster));
  return RemoveLunObjects(*cluster);
}

absl::StatusOr<format::LunMember> DescribedBy(const std::string& member) {
  TD_ASSIGN_OR_RETURN(const auto cluster, Cluster::Connect(member));
  return ReadLunObject(*cluster);
}

absl::StatusOr<std::string> HeldBy(const std::string& member) {
  TD_ASSIGN_OR_RETURN(const auto cluster, Cluster::Connect(member));
  return HolderOf(*cluster);
}

absl::Status Describe(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(const auto cluster, Cluster::Connect(lun.members[member]));
  TD_RETURN_IF_ERROR(ReadLunObject(*cluster).status());
  TD_ASSIGN_OR_RETURN(const auto holding, Holding::Take(*cluster));
  RadosNotebook notebook(*cluster, *holding);
  return store::Describe(notebook, lun);
}

}  // namespace tapedeck::storage_node::store::rados
