// A member that was missing and is there again, and the copy that is made whole.
#include <set>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/mirror/mirrored_store.h"

namespace tapedeck::storage_node::store::mirror {

namespace {

void LogOnlyThere(const std::string& member, const RecordingPath& path) {
  dataplane::LogEach(
      dataplane::LogLevel::kWarning, "mirror",
      "recording kept: only this copy has it, and it was not deleted; lists show it after the "
      "LUN's next opening",
      {{"member", member}, {"recording", absl::StrCat(path.channel, "/", path.recording)}});
}

}  // namespace

absl::StatusOr<Says> SaysOf(const services::Lun& lun, const std::string& name, Store& store) {
  auto text = store.extras().behind_mark->ReadBehind();
  if (text.ok() && text->empty()) return Says();
  auto behind = text.ok() ? format::DecodeBehind(*text) : text.status();
  if (!behind.ok()) {
    return disk::Unusable(
        name, absl::StrCat("cannot read there which copy is behind: ", behind.status().message()));
  }
  // A LUN that was made of a copy has another one.
  if (behind->lun_uid != lun.recorded_uid()) return Says();
  return *std::move(behind);
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
  MemberFiles& files = *store->extras().member_files;
  files.Describe(now).IgnoreError();  // a scrub does it again
  files.Prewrite(now);
  return absl::OkStatus();
}

absl::Status MirroredStore::Look() {
  pair_->Reap();
  absl::Status status;
  for (uint32_t m = 0; m < kCopies; ++m) status.Update(LookAt(m));
  pair_->TellBehind();
  return status;
}

// What the other one has noted meanwhile, and what this one had begun.
absl::StatusOr<std::set<RecordingPath>> MirroredStore::OrderedDeletions(uint32_t member,
                                                                        const Known& known) {
  const auto store = pair_->store(member);
  const auto other = pair_->store(OtherOf(member));
  if (store == nullptr) return Missing(member);
  if (other == nullptr) return Missing(OtherOf(member));
  TD_ASSIGN_OR_RETURN(std::set<RecordingPath> ordered, other->extras().behind_mark->Deleted());
  TD_ASSIGN_OR_RETURN(const auto begun, store->extras().recovery->BegunDeletions(known));
  ordered.insert(begun.begin(), begun.end());
  return ordered;
}

// One that is being made is known before it is listed.
absl::Status MirroredStore::Purge(uint32_t member, NowKnown now_known) {
  const auto store = pair_->store(member);
  if (store == nullptr) return Missing(member);
  TD_ASSIGN_OR_RETURN(const Known before, now_known());
  TD_RETURN_IF_ERROR(store->extras().recovery->FinishDeletions(before));
  TD_ASSIGN_OR_RETURN(const auto paths, store->ListRecordings(before));
  TD_ASSIGN_OR_RETURN(const Known known, now_known());
  TD_ASSIGN_OR_RETURN(const auto whole, ListRecordings(known));
  std::set<RecordingPath> wanted = known.recordings;
  wanted.insert(whole.begin(), whole.end());
  TD_ASSIGN_OR_RETURN(const auto ordered, OrderedDeletions(member, before));
  for (const RecordingPath& path : paths) {
    if (wanted.contains(path)) continue;
    if (!ordered.contains(path)) {
      LogOnlyThere(pair_->name(member), path);
      continue;
    }
    TD_RETURN_IF_ERROR(store->DeleteRecording(path));
    dataplane::LogEach(dataplane::LogLevel::kInfo, "mirror", "recording deleted",
                       {{"member", pair_->name(member)},
                        {"recording", absl::StrCat(path.channel, "/", path.recording)},
                        {"why", "it was deleted while this copy was missing"}});
  }
  return absl::OkStatus();
}

absl::Status MirroredStore::Trust(uint64_t omissions, NowKnown known) {
  return pair_->Trust(omissions, [&](uint32_t member) { return Purge(member, known); });
}

}  // namespace tapedeck::storage_node::store::mirror
