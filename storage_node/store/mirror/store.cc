#include "storage_node/store/mirror/store.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/host_ring.h"
#include "storage_node/store/mirror/pair.h"
#include "storage_node/store/mirror/recording.h"

namespace tapedeck::storage_node::store::mirror {
namespace {

using Says = std::optional<format::Behind>;

// What the member says of the copies of this LUN. FAILED_PRECONDITION (MEMBER_UNUSABLE): that
// cannot be read.
absl::StatusOr<Says> SaysOf(const services::Lun& lun, const std::string& name, Store& store) {
  auto text = store.behind_mark()->ReadBehind();
  if (text.ok() && text->empty()) return Says();
  auto behind = text.ok() ? format::DecodeBehind(*text) : text.status();
  if (!behind.ok()) {
    return disk::Unusable(name, absl::StrCat("which copy is behind cannot be read there: ",
                                             behind.status().message()));
  }
  // A LUN that was made of a copy has another one.
  if (behind->lun_uid != lun.recorded_uid()) return Says();
  return *std::move(behind);
}

class MirroredStore final : public Store, public Copies {
 public:
  MirroredStore(const MemberStore& kind, services::Lun lun, std::shared_ptr<Pair> pair)
      : kind_(kind), pair_(std::move(pair)), lun_(std::move(lun)) {}
  ~MirroredStore() override { pair_->Close(); }

  absl::StatusOr<std::unique_ptr<RecordingFiles>> CreateRecording(
      const RecordingPath& path, uint64_t block_bytes, dataplane::Executor& executor) override;
  absl::StatusOr<std::unique_ptr<RecordingFiles>> OpenRecording(
      const RecordingPath& path, dataplane::Executor& executor) override;
  absl::StatusOr<std::unique_ptr<RecordingFiles>> ReopenRecording(
      const RecordingPath& path, dataplane::Executor& executor) override;
  absl::StatusOr<std::unique_ptr<RecordingFiles>> OpenToMend(
      const RecordingPath& path, dataplane::Executor& executor) override;
  absl::Status DeleteRecording(const RecordingPath& path) override;
  absl::Status FinishDeletions(const Known& known) override;
  absl::StatusOr<std::vector<RecordingPath>> ListRecordings(const Known& known) override;
  absl::Status Look() override;
  Layout layout() const override { return Whole()->layout(); }
  uint64_t size_bytes() const override;
  absl::Status Describe(const services::Lun& lun) override;
  void Prewrite(const services::Lun& lun) override;
  absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(const RingSpec& spec) override;
  std::unique_ptr<dataplane::Memory> Prepare(std::unique_ptr<dataplane::Memory> memory) override;
  Copies* copies() override { return this; }

  std::shared_ptr<const CopyHealth> health() const override { return pair_; }
  std::vector<std::string> roots() const override;
  absl::StatusOr<std::vector<std::string>> RootsToWrite() override;
  uint64_t omissions() const override { return pair_->omissions(); }
  absl::Status Trust(uint64_t omissions, NowKnown known) override;

 private:
  // Never null: while both are gone, the LUN is offline.
  std::shared_ptr<Store> Whole() const { return pair_->store(pair_->whole()); }
  // Those that are there.
  std::vector<std::shared_ptr<Store>> Present() const;
  services::Lun lun() const {
    absl::MutexLock lock(&mutex_);
    return lun_;
  }
  absl::Status Missing(uint32_t member) const;
  // Of `member`, which then may be written to; or, where it cannot be, what stands for it.
  absl::StatusOr<MirroredRecording::Part> CreatePart(uint32_t member, const RecordingPath& path,
                                                     uint64_t block_bytes,
                                                     dataplane::Executor& executor);
  using OpenPart = absl::FunctionRef<absl::StatusOr<std::unique_ptr<RecordingFiles>>(Store&)>;
  absl::StatusOr<MirroredRecording::Parts> OpenParts(const RecordingPath& path, OpenPart open);
  // `what` is done on each; what fails on one is left there.
  absl::Status OnEach(absl::FunctionRef<absl::Status(Store&)> what);
  absl::Status LookAt(uint32_t member);
  absl::Status TryToReturn(uint32_t member);
  absl::Status Purge(uint32_t member, NowKnown known);

  const MemberStore kind_;
  const std::shared_ptr<Pair> pair_;
  mutable absl::Mutex mutex_;
  services::Lun lun_ ABSL_GUARDED_BY(mutex_);  // as it is now
};

std::vector<std::shared_ptr<Store>> MirroredStore::Present() const {
  std::vector<std::shared_ptr<Store>> stores;
  const uint32_t whole = pair_->whole();
  for (const uint32_t m : {whole, OtherOf(whole)}) {
    if (auto store = pair_->store(m); store != nullptr) stores.push_back(std::move(store));
  }
  return stores;
}

std::vector<std::string> MirroredStore::roots() const {
  std::vector<std::string> roots;
  const uint32_t whole = pair_->whole();
  for (const uint32_t m : {whole, OtherOf(whole)}) {
    if (pair_->store(m) != nullptr) roots.push_back(pair_->name(m));
  }
  return roots;
}

absl::StatusOr<std::vector<std::string>> MirroredStore::RootsToWrite() {
  TD_RETURN_IF_ERROR(OnEach([](Store&) { return absl::OkStatus(); }));
  return roots();
}

uint64_t MirroredStore::size_bytes() const {
  uint64_t smallest = UINT64_MAX;
  for (const auto& store : Present()) smallest = std::min(smallest, store->size_bytes());
  return smallest;
}

absl::Status MirroredStore::Missing(uint32_t member) const {
  return disk::StoreIo(pair_->name(member), "open",
                       absl::StrCat("member ", pair_->name(member), " is not there"));
}

absl::StatusOr<MirroredRecording::Part> MirroredStore::CreatePart(uint32_t member,
                                                                  const RecordingPath& path,
                                                                  uint64_t block_bytes,
                                                                  dataplane::Executor& executor) {
  MirroredRecording::Part part{.store = pair_->store(member)};
  absl::StatusOr<std::unique_ptr<RecordingFiles>> files = Missing(member);
  if (part.store != nullptr) {
    files = part.store->CreateRecording(path, block_bytes, executor);
    // One that was deleted while this copy was not there.
    if (absl::IsAlreadyExists(files.status()) && pair_->behind(member)) {
      TD_RETURN_IF_ERROR(part.store->DeleteRecording(path));
      files = part.store->CreateRecording(path, block_bytes, executor);
    }
  }
  const absl::Status status = files.status();
  if (files.ok()) {
    part.files = *std::move(files);
  } else if (absl::IsAlreadyExists(status) || absl::IsResourceExhausted(status)) {
    return status;
  } else {
    part.why = status;
    TD_ASSIGN_OR_RETURN(part.absent, pair_->Leave(member, status));
  }
  return part;
}

absl::StatusOr<std::unique_ptr<RecordingFiles>> MirroredStore::CreateRecording(
    const RecordingPath& path, uint64_t block_bytes, dataplane::Executor& executor) {
  MirroredRecording::Parts parts;
  absl::Status status;
  for (uint32_t m = 0; m < kCopies && status.ok(); ++m) {
    auto part = CreatePart(m, path, block_bytes, executor);
    status = part.status();
    if (part.ok()) parts[m] = *std::move(part);
  }
  if (status.ok()) {
    return std::make_unique<MirroredRecording>(pair_, std::move(parts),
                                               MirroredRecording::Purpose::kWrite, executor);
  }
  // The part that failed may be another recording's: only our own are removed.
  for (MirroredRecording::Part& part : parts) {
    if (part.files == nullptr) continue;
    part.files = nullptr;
    part.store->DeleteRecording(path).IgnoreError();
  }
  return status;
}

// Who is not believed says nothing of which recordings there are.
absl::StatusOr<MirroredRecording::Parts> MirroredStore::OpenParts(const RecordingPath& path,
                                                                  OpenPart open) {
  MirroredRecording::Parts parts;
  absl::Status absence = absl::NotFoundError(
      absl::StrCat("no recording ", path.channel, "/", path.recording, " is there"));
  bool any = false;
  for (uint32_t m = 0; m < kCopies; ++m) {
    MirroredRecording::Part& part = parts[m];
    const bool behind = pair_->behind(m);
    part.store = pair_->store(m);
    auto files = part.store == nullptr ? Missing(m) : open(*part.store);
    if (files.ok()) {
      part.files = *std::move(files);
      any = any || !behind;
      continue;
    }
    part.why = files.status();
    if (!behind && part.store != nullptr && !absl::IsNotFound(files.status())) absence = part.why;
  }
  if (!any) return absence;
  return parts;
}

absl::StatusOr<std::unique_ptr<RecordingFiles>> MirroredStore::OpenRecording(
    const RecordingPath& path, dataplane::Executor& executor) {
  TD_ASSIGN_OR_RETURN(auto parts, OpenParts(path, [&](Store& store) {
                        return store.OpenRecording(path, executor);
                      }));
  return std::make_unique<MirroredRecording>(pair_, std::move(parts),
                                             MirroredRecording::Purpose::kRead, executor);
}

absl::StatusOr<std::unique_ptr<RecordingFiles>> MirroredStore::ReopenRecording(
    const RecordingPath& path, dataplane::Executor& executor) {
  TD_ASSIGN_OR_RETURN(auto parts, OpenParts(path, [&](Store& store) {
                        return store.ReopenRecording(path, executor);
                      }));
  for (uint32_t m = 0; m < kCopies; ++m) {
    if (parts[m].files != nullptr) continue;
    TD_ASSIGN_OR_RETURN(parts[m].absent, pair_->Leave(m, parts[m].why));
  }
  return std::make_unique<MirroredRecording>(pair_, std::move(parts),
                                             MirroredRecording::Purpose::kWrite, executor);
}

absl::StatusOr<std::unique_ptr<RecordingFiles>> MirroredStore::OpenToMend(
    const RecordingPath& path, dataplane::Executor& executor) {
  TD_RETURN_IF_ERROR(OpenRecording(path, executor).status());  // one has it
  for (uint32_t m = 0; m < kCopies; ++m) {
    const auto store = pair_->store(m);
    if (store == nullptr) continue;
    const absl::Status status = store->OpenRecording(path, executor).status();
    if (absl::IsNotFound(status)) {
      TD_RETURN_IF_ERROR(store->OpenToMend(path, executor).status());
    }
  }
  return OpenRecording(path, executor);
}

absl::Status MirroredStore::OnEach(absl::FunctionRef<absl::Status(Store&)> what) {
  for (uint32_t m = 0; m < kCopies; ++m) {
    const auto store = pair_->store(m);
    const absl::Status status = store == nullptr ? Missing(m) : what(*store);
    if (!status.ok()) TD_RETURN_IF_ERROR(pair_->Leave(m, status).status());
  }
  return absl::OkStatus();
}

// Without a manifest anywhere it counts as one that had not begun, whichever of its parts a crash
// leaves.
absl::Status MirroredStore::DeleteRecording(const RecordingPath& path) {
  TD_RETURN_IF_ERROR(OnEach([&](Store& store) { return store.ForgetManifest(path); }));
  return OnEach([&](Store& store) { return store.DeleteRecording(path); });
}

absl::Status MirroredStore::FinishDeletions(const Known& known) {
  absl::Status status;
  for (uint32_t m = 0; m < kCopies; ++m) {
    const auto store = pair_->store(m);
    if (store == nullptr) continue;
    const absl::Status finished = store->FinishDeletions(known);
    if (!pair_->behind(m)) status.Update(finished);
  }
  return status;
}

absl::StatusOr<std::vector<RecordingPath>> MirroredStore::ListRecordings(const Known& known) {
  std::set<RecordingPath> seen;
  for (uint32_t m = 0; m < kCopies; ++m) {
    const auto store = pair_->store(m);
    if (store == nullptr || pair_->behind(m)) continue;
    TD_ASSIGN_OR_RETURN(const auto paths, store->ListRecordings(known));
    seen.insert(paths.begin(), paths.end());
  }
  return std::vector<RecordingPath>(seen.begin(), seen.end());
}

absl::Status MirroredStore::LookAt(uint32_t member) {
  const auto store = pair_->store(member);
  if (store == nullptr) return TryToReturn(member);
  const absl::Status status = store->Look();
  if (status.ok()) return status;
  TD_RETURN_IF_ERROR(pair_->Leave(member, status).status());
  pair_->Remove(member, status);
  return absl::OkStatus();
}

// What was missing may be there at any time. It is locked by what it was until nobody has that.
absl::Status MirroredStore::TryToReturn(uint32_t member) {
  if (!pair_->CanReturn(member)) return absl::OkStatus();
  const services::Lun now = lun();
  auto opened = kind_.open(now, member);
  if (!opened.ok()) {
    pair_->SetMissing(member, opened.status());
    return absl::OkStatus();
  }
  const std::shared_ptr<Store> store = *std::move(opened);
  const auto says = SaysOf(now, pair_->name(member), *store);
  if (!says.ok()) {
    pair_->SetMissing(member, says.status());
    return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(pair_->Return(member, store, *says));
  store->Describe(now).IgnoreError();  // a scrub does it again
  store->Prewrite(now);
  return absl::OkStatus();
}

absl::Status MirroredStore::Look() {
  pair_->Reap();
  absl::Status status;
  for (uint32_t m = 0; m < kCopies; ++m) status.Update(LookAt(m));
  pair_->TellBehind();
  return status;
}

absl::Status MirroredStore::Describe(const services::Lun& lun) {
  {
    absl::MutexLock lock(&mutex_);
    lun_ = lun;
  }
  absl::Status status;
  for (uint32_t m = 0; m < kCopies; ++m) {
    const auto store = pair_->store(m);
    const absl::Status told = store == nullptr ? absl::OkStatus() : store->Describe(lun);
    if (!pair_->behind(m)) status.Update(told);
  }
  return status;
}

void MirroredStore::Prewrite(const services::Lun& lun) {
  for (const auto& store : Present()) store->Prewrite(lun);
}

// One that is being made is known before it is listed.
absl::Status MirroredStore::Purge(uint32_t member, NowKnown now_known) {
  const auto store = pair_->store(member);
  if (store == nullptr) return Missing(member);
  TD_ASSIGN_OR_RETURN(const Known before, now_known());
  TD_RETURN_IF_ERROR(store->FinishDeletions(before));
  TD_ASSIGN_OR_RETURN(const auto paths, store->ListRecordings(before));
  TD_ASSIGN_OR_RETURN(const Known known, now_known());
  TD_ASSIGN_OR_RETURN(const auto whole, ListRecordings(known));
  std::set<RecordingPath> wanted = known.recordings;
  wanted.insert(whole.begin(), whole.end());
  for (const RecordingPath& path : paths) {
    if (wanted.contains(path)) continue;
    TD_RETURN_IF_ERROR(store->DeleteRecording(path));
    dataplane::LogEach(dataplane::LogLevel::kInfo, "mirror", "recording deleted",
                       {{"member", pair_->name(member)},
                        {"recording", absl::StrCat(path.channel, "/", path.recording)},
                        {"why", "it was deleted while this copy was not there"}});
  }
  return absl::OkStatus();
}

absl::Status MirroredStore::Trust(uint64_t omissions, NowKnown known) {
  return pair_->Trust(omissions, [&](uint32_t member) { return Purge(member, known); });
}

absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MirroredStore::MakeRing(const RingSpec& spec) {
  const auto stores = Present();
  std::vector<Store*> users;
  for (const auto& store : stores) users.push_back(store.get());
  return MakeHostRing(spec, users);
}

std::unique_ptr<dataplane::Memory> MirroredStore::Prepare(
    std::unique_ptr<dataplane::Memory> memory) {
  for (const auto& store : Present()) memory = store->Prepare(std::move(memory));
  return memory;
}

absl::StatusOr<std::unique_ptr<Store>> Make(const MemberStore& kind, const services::Lun& lun,
                                            Pair::Members members) {
  TD_ASSIGN_OR_RETURN(auto pair, Pair::Create(lun.recorded_uid(), std::move(members)));
  return std::make_unique<MirroredStore>(kind, lun, std::move(pair));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Create(const MemberStore& kind, const services::Lun& lun) {
  Pair::Members members;
  for (uint32_t m = 0; m < kCopies; ++m) {
    auto member = kind.create(lun, m);
    if (!member.ok()) {
      members = {};
      for (uint32_t made = 0; made < m; ++made) TD_RETURN_IF_ERROR(kind.remove(lun, made));
      return std::move(member).status();
    }
    members[m] = {.name = lun.members[m], .store = *std::move(member)};
  }
  return Make(kind, lun, std::move(members));
}

absl::StatusOr<std::unique_ptr<Store>> Open(const MemberStore& kind, const services::Lun& lun) {
  Pair::Members members;
  for (uint32_t m = 0; m < kCopies; ++m) {
    members[m].name = lun.members[m];
    auto member = kind.open(lun, m);
    if (!member.ok()) {
      members[m].missing = member.status();
      continue;
    }
    members[m].store = *std::move(member);
    TD_ASSIGN_OR_RETURN(members[m].says, SaysOf(lun, members[m].name, *members[m].store));
  }
  return Make(kind, lun, std::move(members));
}

absl::Status Remove(const MemberStore& kind, const services::Lun& lun) {
  for (uint32_t m = 0; m < lun.members.size(); ++m) TD_RETURN_IF_ERROR(kind.remove(lun, m));
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::store::mirror
