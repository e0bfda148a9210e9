#include "storage_node/store/mirror/mirrored_store.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/host_ring.h"

namespace tapedeck::storage_node::store::mirror {

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

uint64_t MirroredStore::SmallestSize() const {
  uint64_t smallest = UINT64_MAX;
  for (const auto& store : Present()) smallest = std::min(smallest, store->extras().size_bytes);
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
    const Opening create = ToCreate(block_bytes);
    files = part.store->Open(path, create, executor);
    // One that somebody had deleted while this copy was not there. Any other may be the last of its
    // kind.
    if (absl::IsAlreadyExists(files.status()) && pair_->behind(member) &&
        WasOrdered(member, path)) {
      TD_RETURN_IF_ERROR(part.store->DeleteRecording(path));
      files = part.store->Open(path, create, executor);
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

MirroredStore::Files MirroredStore::Open(const RecordingPath& path, const Opening& how,
                                         dataplane::Executor& executor) {
  switch (how.purpose) {
    case Purpose::kCreate:
      return Create(path, how.block_bytes, executor);
    case Purpose::kGoOn:
      return OpenToGoOn(path, executor);
    case Purpose::kMend:
      return OpenToMend(path, executor);
    case Purpose::kRead:
    case Purpose::kPieces:
      break;
  }
  return OpenToRead(path, executor);
}

MirroredStore::Files MirroredStore::Create(const RecordingPath& path, uint64_t block_bytes,
                                           dataplane::Executor& executor) {
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
    part.store->DeleteRecording(path).IgnoreError();  // what is left the next start judges
  }
  return status;
}

bool MirroredStore::WasOrdered(uint32_t member, const RecordingPath& path) {
  const auto ordered =
      OrderedDeletions(member, {.channels = {path.channel}, .recordings = {path}, .is_part = true});
  return ordered.ok() && ordered->contains(path);
}

bool MirroredStore::StandsIn(uint32_t member, const RecordingPath& path) {
  const auto ordered =
      OrderedDeletions(member, {.channels = {path.channel}, .recordings = {path}, .is_part = true});
  return ordered.ok() && !ordered->contains(path);
}

// Who is not believed says nothing of which recordings there are, but of those that are lost.
absl::StatusOr<MirroredRecording::Parts> MirroredStore::OpenParts(const RecordingPath& path,
                                                                  Purpose purpose,
                                                                  dataplane::Executor& executor) {
  MirroredRecording::Parts parts;
  absl::Status absence = absl::NotFoundError(
      absl::StrCat("no recording ", path.channel, "/", path.recording, " is there"));
  bool any = false, lost = true;  // on the believed copy
  for (uint32_t m = 0; m < kCopies; ++m) {
    MirroredRecording::Part& part = parts[m];
    const bool behind = pair_->behind(m);
    part.store = pair_->store(m);
    auto files =
        part.store == nullptr ? Missing(m) : part.store->Open(path, {.purpose = purpose}, executor);
    if (files.ok()) {
      part.files = *std::move(files);
      any = any || !behind;
      continue;
    }
    part.why = files.status();
    if (behind || (part.store != nullptr && absl::IsNotFound(part.why))) continue;
    lost = false;
    if (part.store != nullptr) absence = part.why;
  }
  if (any) return parts;
  for (uint32_t m = 0; m < kCopies && lost; ++m) {
    if (parts[m].files != nullptr && StandsIn(m, path)) return parts;
  }
  return absence;
}

MirroredStore::Files MirroredStore::OpenToRead(const RecordingPath& path,
                                               dataplane::Executor& executor) {
  TD_ASSIGN_OR_RETURN(auto parts, OpenParts(path, Purpose::kPieces, executor));
  return std::make_unique<MirroredRecording>(pair_, std::move(parts),
                                             MirroredRecording::Purpose::kRead, executor);
}

MirroredStore::Files MirroredStore::OpenToGoOn(const RecordingPath& path,
                                               dataplane::Executor& executor) {
  TD_ASSIGN_OR_RETURN(auto parts, OpenParts(path, Purpose::kGoOn, executor));
  for (uint32_t m = 0; m < kCopies; ++m) {
    if (parts[m].files != nullptr) continue;
    TD_ASSIGN_OR_RETURN(parts[m].absent, pair_->Leave(m, parts[m].why));
  }
  return std::make_unique<MirroredRecording>(pair_, std::move(parts),
                                             MirroredRecording::Purpose::kWrite, executor);
}

MirroredStore::Files MirroredStore::OpenToMend(const RecordingPath& path,
                                               dataplane::Executor& executor) {
  TD_RETURN_IF_ERROR(OpenToRead(path, executor).status());  // one has it
  for (uint32_t m = 0; m < kCopies; ++m) {
    const auto store = pair_->store(m);
    if (store == nullptr) continue;
    const absl::Status status = store->Open(path, {}, executor).status();
    if (absl::IsNotFound(status)) {
      TD_RETURN_IF_ERROR(store->Open(path, {.purpose = Purpose::kMend}, executor).status());
    }
  }
  return OpenToRead(path, executor);
}

absl::Status MirroredStore::OnEach(absl::FunctionRef<absl::Status(Store&)> what) {
  for (uint32_t m = 0; m < kCopies; ++m) {
    const auto store = pair_->store(m);
    const absl::Status status = store == nullptr ? Missing(m) : what(*store);
    if (!status.ok()) TD_RETURN_IF_ERROR(pair_->Leave(m, status).status());
  }
  return absl::OkStatus();
}

absl::Status MirroredStore::BeginDeletion(const RecordingPath& path) {
  return OnEach([&](Store& store) { return store.extras().recovery->BeginDeletion(path); });
}

// Who is behind says nothing of what there is.
template <typename Listed, typename List>
absl::StatusOr<std::vector<Listed>> MirroredStore::ListedBy(const List& list) const {
  std::set<Listed> seen;
  for (uint32_t m = 0; m < kCopies; ++m) {
    const auto store = pair_->store(m);
    if (store == nullptr || pair_->behind(m)) continue;
    TD_ASSIGN_OR_RETURN(const auto listed, list(*store));
    seen.insert(listed.begin(), listed.end());
  }
  return std::vector<Listed>(seen.begin(), seen.end());
}

absl::StatusOr<std::vector<RecordingPath>> MirroredStore::BegunDeletions(const Known& known) {
  return ListedBy<RecordingPath>(
      [&](Store& store) { return store.extras().recovery->BegunDeletions(known); });
}

void MirroredStore::NoteDeleted(const RecordingPath& path) {
  const uint32_t whole = pair_->whole();
  const auto store = pair_->store(whole);
  if (pair_->lacking().ok() || store == nullptr) return;
  const absl::Status noted = store->extras().behind_mark->AddDeleted(path);
  if (noted.ok()) return;
  dataplane::LogEach(dataplane::LogLevel::kWarning, "mirror",
                     "deletion not noted: the other copy shows the recording again",
                     {{"recording", absl::StrCat(path.channel, "/", path.recording)},
                      {"error", std::string(noted.message())}});
}

// Whichever of its parts a crash leaves, it says that the deletion was ordered.
absl::Status MirroredStore::DeleteRecording(const RecordingPath& path) {
  TD_RETURN_IF_ERROR(BeginDeletion(path));
  NoteDeleted(path);
  return OnEach([&](Store& store) { return store.DeleteRecording(path); });
}

absl::Status MirroredStore::FinishDeletions(const Known& known) {
  absl::Status status;
  for (uint32_t m = 0; m < kCopies; ++m) {
    const auto store = pair_->store(m);
    if (store == nullptr) continue;
    const absl::Status finished = store->extras().recovery->FinishDeletions(known);
    if (!pair_->behind(m)) status.Update(finished);
  }
  return status;
}

absl::StatusOr<std::vector<std::string>> MirroredStore::UnknownChannels(const Known& known) {
  return ListedBy<std::string>(
      [&](Store& store) { return store.extras().recovery->UnknownChannels(known); });
}

absl::StatusOr<std::set<RecordingPath>> MirroredStore::OnlyBehind(const Known& known) {
  Known part = known;
  part.is_part = true;
  std::set<RecordingPath> only;
  for (uint32_t m = 0; m < kCopies; ++m) {
    const auto store = pair_->store(m);
    if (store == nullptr || !pair_->behind(m)) continue;
    TD_ASSIGN_OR_RETURN(const auto listed, store->ListRecordings(part));
    TD_ASSIGN_OR_RETURN(const auto ordered, OrderedDeletions(m, part));
    for (const RecordingPath& path : listed) {
      if (known.recordings.contains(path) && !ordered.contains(path)) only.insert(path);
    }
  }
  return only;
}

// What one copy says is ours may lie on the other one without a mark.
absl::StatusOr<std::vector<RecordingPath>> MirroredStore::ListRecordings(const Known& known) {
  Known all = known;
  all.is_part = true;
  TD_ASSIGN_OR_RETURN(const auto marked, ListedBy<RecordingPath>([&](Store& store) {
                        return store.ListRecordings(all);
                      }));
  all.recordings.insert(marked.begin(), marked.end());
  all.is_part = known.is_part;
  TD_ASSIGN_OR_RETURN(auto listed, ListedBy<RecordingPath>(
                                       [&](Store& store) { return store.ListRecordings(all); }));
  TD_ASSIGN_OR_RETURN(std::set<RecordingPath> others, OnlyBehind(known));
  for (const RecordingPath& path : listed) others.erase(path);
  listed.insert(listed.end(), others.begin(), others.end());
  return listed;
}

absl::Status MirroredStore::Describe(const services::Lun& lun) {
  {
    absl::MutexLock lock(&mutex_);
    lun_ = lun;
  }
  absl::Status status;
  for (uint32_t m = 0; m < kCopies; ++m) {
    const auto store = pair_->store(m);
    const absl::Status told =
        store == nullptr ? absl::OkStatus() : store->extras().member_files->Describe(lun);
    if (!pair_->behind(m)) status.Update(told);
  }
  return status;
}

void MirroredStore::Prewrite(const services::Lun& lun) {
  for (const auto& store : Present()) store->extras().member_files->Prewrite(lun);
}

absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MirroredStore::MakeRing(const RingSpec& spec) {
  const auto stores = Present();
  std::vector<Store*> users;
  for (const auto& store : stores) users.push_back(store.get());
  return MakeHostRing(spec, users);
}

}  // namespace tapedeck::storage_node::store::mirror
