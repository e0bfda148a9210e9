#include "storage_node/store/device/store.h"

#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/device/file_device.h"
#include "storage_node/store/device/member.h"
#include "storage_node/store/device/note.h"
#include "storage_node/store/device/recording.h"
#include "storage_node/store/host_ring.h"
#include "storage_node/store/kind.h"

namespace tapedeck::storage_node::store::device {
namespace {

// Of a slot's manifest; gaps and runs have the rest.
constexpr uint64_t kAnnotationBytes = 24 << 10;
constexpr uint64_t kDescriptionBytes = 12 << 10;

class DeviceStore final : public Store, public Recovery {
 public:
  DeviceStore(Member member, std::unique_ptr<SlotTable> table)
      : superblock_(member.superblock),
        space_(member.superblock.units()),
        table_(std::move(table)),
        device_(std::move(member.device)),
        notebook_(*device_, superblock_) {}

  // Adopts what the table has read.
  absl::Status Fill();
  void LogOpened() const;

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
  Extras extras() override {
    return {.layout = {.step_bytes = kUnitBytes,
                       .counts_manifest = false,
                       .annotation_bytes = kAnnotationBytes,
                       .description_bytes = kDescriptionBytes},
            .size_bytes = space_.units() * kUnitBytes,
            .recovery = this,
            .notebook = &notebook_,
            .disk_engine = &device_->engine()};
  }

 private:
  using Key = std::pair<std::string, std::string>;
  static Key KeyOf(const RecordingPath& path) { return {path.channel, path.recording}; }
  StoredRecording::Parts parts() { return {*device_, *table_, space_, superblock_}; }
  std::shared_ptr<StoredRecording> Find(const RecordingPath& path);
  absl::StatusOr<std::unique_ptr<RecordingFiles>> Create(const RecordingPath& path,
                                                         dataplane::Executor& executor);
  // INTERNAL (STORE_IO) once the device was found to be gone.
  absl::StatusOr<std::unique_ptr<RecordingFiles>> OpenFiles(std::shared_ptr<StoredRecording> stored,
                                                            dataplane::Executor& executor)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Superblock superblock_;
  Space space_;
  const std::unique_ptr<SlotTable> table_;
  const std::unique_ptr<Device> device_;  // waits for what is under way
  DeviceNotebook notebook_;
  absl::Mutex mutex_;
  std::map<Key, std::shared_ptr<StoredRecording>> recordings_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<Lost>> open_ ABSL_GUARDED_BY(mutex_);
  absl::Status gone_ ABSL_GUARDED_BY(mutex_);
};

absl::Status DeviceStore::Fill() {
  absl::MutexLock lock(&mutex_);
  for (auto& [slot, record] : table_->TakeLive()) {
    Runs units = record.data;
    Append(&units, record.index);
    const Key key = KeyOf(record.path);
    if (!space_.Take(units) || recordings_.contains(key)) {
      return disk::Unusable(
          device_->path(),
          absl::StrCat("slot ", slot, " of recording ", key.first, "/", key.second,
                       " and another one hold the same units; the device is left as it "
                       "is: copy it before anything else is tried"),
          absl::StatusCode::kDataLoss);
    }
    recordings_[key] = std::make_shared<StoredRecording>(parts(), slot, std::move(record));
  }
  return absl::OkStatus();
}

void DeviceStore::LogOpened() const {
  dataplane::Log(dataplane::LogLevel::kInfo, "store/device", "member opened",
                 {{"member", device_->path()},
                  {"engine", device_->engine().description()},
                  {"units", absl::StrCat(space_.units())},
                  {"free", absl::StrCat(space_.free_units())}});
}

std::shared_ptr<StoredRecording> DeviceStore::Find(const RecordingPath& path) {
  absl::MutexLock lock(&mutex_);
  const auto it = recordings_.find(KeyOf(path));
  return it == recordings_.end() ? nullptr : it->second;
}

absl::StatusOr<std::unique_ptr<RecordingFiles>> DeviceStore::OpenFiles(
    std::shared_ptr<StoredRecording> stored, dataplane::Executor& executor) {
  TD_RETURN_IF_ERROR(gone_);
  std::erase_if(open_, [](const auto& lost) { return lost.expired(); });
  auto lost = std::make_shared<Lost>();
  open_.push_back(lost);
  return std::make_unique<DeviceRecording>(std::move(stored), std::move(lost), executor);
}

// Those that are told are told without the lock.
absl::Status DeviceStore::Look() {
  const absl::Status status = device_->Look();
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

// Nothing is written yet: a recording is on the device from its first index entry or manifest on.
absl::StatusOr<std::unique_ptr<RecordingFiles>> DeviceStore::Create(const RecordingPath& path,
                                                                    dataplane::Executor& executor) {
  if (!table_->damaged().empty()) {
    return disk::Unusable(
        device_->path(),
        absl::StrCat("slot ", table_->damaged()[0],
                     " is damaged in both copies, so a new recording might overwrite its data; "
                     "existing recordings still play; record into another LUN"));
  }
  absl::MutexLock lock(&mutex_);
  TD_RETURN_IF_ERROR(gone_);
  if (recordings_.contains(KeyOf(path))) {
    return absl::AlreadyExistsError(absl::StrCat(device_->path(), ": recording ", path.recording));
  }
  const std::optional<uint32_t> slot = table_->TakeSlot();
  if (!slot.has_value()) {
    return disk::MemberFull(device_->path(),
                            absl::StrCat(device_->path(), ": all ", table_->slots(),
                                         " slots hold recordings; delete some"));
  }
  auto stored = std::make_shared<StoredRecording>(parts(), *slot, SlotRecord{.path = path});
  recordings_[KeyOf(path)] = stored;
  return OpenFiles(std::move(stored), executor);
}

absl::StatusOr<std::unique_ptr<RecordingFiles>> DeviceStore::Open(const RecordingPath& path,
                                                                  const Opening& how,
                                                                  dataplane::Executor& executor) {
  if (how.purpose == Purpose::kCreate) return Create(path, executor);
  auto stored = Find(path);
  if (stored == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(device_->path(), ": no recording ", path.channel, "/", path.recording));
  }
  absl::MutexLock lock(&mutex_);
  return OpenFiles(std::move(stored), executor);
}

absl::Status DeviceStore::DeleteRecording(const RecordingPath& path) {
  const auto stored = Find(path);
  if (stored == nullptr) return absl::OkStatus();
  TD_RETURN_IF_ERROR(stored->Delete());
  absl::MutexLock lock(&mutex_);
  const auto it = recordings_.find(KeyOf(path));
  if (it != recordings_.end() && it->second == stored) recordings_.erase(it);
  return absl::OkStatus();
}

absl::Status DeviceStore::BeginDeletion(const RecordingPath& path) {
  const auto stored = Find(path);
  return stored == nullptr ? absl::OkStatus() : stored->BeginDeletion();
}

absl::StatusOr<std::vector<RecordingPath>> DeviceStore::BegunDeletions(const Known& /*known*/) {
  absl::MutexLock lock(&mutex_);
  std::vector<RecordingPath> paths;
  for (const auto& [key, stored] : recordings_) {
    if (stored->is_being_deleted()) {
      paths.push_back({.channel = key.first, .recording = key.second});
    }
  }
  return paths;
}

absl::StatusOr<std::vector<RecordingPath>> DeviceStore::ListRecordings(const Known& /*known*/) {
  absl::MutexLock lock(&mutex_);
  std::vector<RecordingPath> paths;
  for (const auto& [key, stored] : recordings_) {
    paths.push_back({.channel = key.first, .recording = key.second});
  }
  return paths;
}

absl::StatusOr<std::unique_ptr<Store>> Make(absl::StatusOr<Member> member) {
  TD_RETURN_IF_ERROR(member.status());
  TD_ASSIGN_OR_RETURN(auto table, SlotTable::Load(*member->device, member->superblock));
  auto store = std::make_unique<DeviceStore>(*std::move(member), std::move(table));
  TD_RETURN_IF_ERROR(store->Fill());
  store->LogOpened();
  return store;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> CreateOn(std::unique_ptr<Device> device,
                                                const services::Lun& lun, uint32_t member) {
  return Make(CreateMember(std::move(device), lun, member));
}

absl::StatusOr<std::unique_ptr<Store>> OpenOn(std::unique_ptr<Device> device,
                                              const services::Lun& lun, uint32_t member) {
  return Make(OpenMember(std::move(device), lun, member));
}

absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(auto device, FileDevice::Open(lun.members[member], member));
  return CreateOn(std::move(device), lun, member);
}

absl::StatusOr<std::unique_ptr<Store>> Open(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(auto device, FileDevice::Open(lun.members[member], member));
  return OpenOn(std::move(device), lun, member);
}

absl::Status Remove(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(auto device, FileDevice::Open(lun.members[member], member));
  return RemoveMember(std::move(device), lun, member);
}

bool IsMember(const std::string& path) { return IsMemberPath(path) && IsBlockDevice(path).ok(); }

absl::StatusOr<MemberName> CheckMember(const std::string& path) {
  TD_ASSIGN_OR_RETURN(MemberName member, MemberPath(path));
  TD_RETURN_IF_ERROR(IsBlockDevice(member.name).status());
  return member;
}

absl::StatusOr<format::LunMember> DescribedBy(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const auto device, FileDevice::Open(path, 0));
  return DescribedBy(*device);
}

absl::Status Describe(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(const auto device, FileDevice::Open(lun.members[member], member));
  return Describe(*device, lun, member);
}

}  // namespace tapedeck::storage_node::store::device
