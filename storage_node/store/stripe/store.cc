#include "storage_node/store/stripe/store.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/host_ring.h"
#include "storage_node/store/stripe/absent_part.h"
#include "storage_node/store/stripe/recording.h"

namespace tapedeck::storage_node::store::stripe {
namespace {

using Members = std::vector<std::unique_ptr<Store>>;

// The same note on every member. A crash may leave an older one on some.
class StripedNotebook final : public Notebook {
 public:
  void Add(Notebook* member) {
    if (member != nullptr) members_.push_back(member);
  }
  bool empty() const { return members_.empty(); }

  absl::StatusOr<Note> ReadNote() override {
    Note newest;
    absl::Status damage;
    for (Notebook* member : members_) {
      auto note = member->ReadNote();
      if (!note.ok()) damage = note.status();
      if (note.ok() && note->generation > newest.generation) newest = *std::move(note);
    }
    if (newest.generation == 0 && !damage.ok()) return damage;
    return newest;
  }
  absl::Status WriteNote(const Note& note) override {
    for (Notebook* member : members_) TD_RETURN_IF_ERROR(member->WriteNote(note));
    return absl::OkStatus();
  }

 private:
  std::vector<Notebook*> members_;  // not owned
};

class StripedStore final : public Store {
 public:
  // `names` of the members, for errors.
  StripedStore(Members members, std::vector<std::string> names)
      : members_(std::move(members)), names_(std::move(names)) {
    for (const auto& member : members_) notebook_.Add(member->notebook());
  }

  absl::StatusOr<std::unique_ptr<RecordingFiles>> CreateRecording(
      const RecordingPath& path, uint64_t block_bytes, dataplane::Executor& executor) override;
  absl::StatusOr<std::unique_ptr<RecordingFiles>> OpenRecording(
      const RecordingPath& path, dataplane::Executor& executor) override;
  absl::Status DeleteRecording(const RecordingPath& path) override;
  absl::Status FinishDeletions(const Known& known) override;
  absl::StatusOr<std::vector<RecordingPath>> ListRecordings(const Known& known) override;
  absl::Status Look() override;
  // Blocks go round, so the smallest member is full first.
  Layout layout() const override { return members_[0]->layout(); }
  uint64_t size_bytes() const override {
    uint64_t smallest = members_[0]->size_bytes();
    for (const auto& member : members_) smallest = std::min(smallest, member->size_bytes());
    return smallest * members_.size();
  }
  absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(const RingSpec& spec) override;
  std::unique_ptr<dataplane::Memory> Prepare(std::unique_ptr<dataplane::Memory> memory) override;
  Notebook* notebook() override { return notebook_.empty() ? nullptr : &notebook_; }
  absl::Status Describe(const services::Lun& lun) override {
    for (const auto& member : members_) TD_RETURN_IF_ERROR(member->Describe(lun));
    return absl::OkStatus();
  }

 private:
  absl::Status Absent(size_t member, const RecordingPath& path) const;

  const Members members_;
  const std::vector<std::string> names_;
  StripedNotebook notebook_;
};

absl::StatusOr<std::unique_ptr<RecordingFiles>> StripedStore::CreateRecording(
    const RecordingPath& path, uint64_t block_bytes, dataplane::Executor& executor) {
  StripedRecording::Parts parts;
  for (const auto& member : members_) {
    auto part = member->CreateRecording(path, block_bytes, executor);
    if (!part.ok()) {
      // The part that failed may be another recording's: only our own are removed.
      const size_t made = parts.size();
      parts.clear();
      for (size_t m = 0; m < made; ++m) members_[m]->DeleteRecording(path).IgnoreError();
      return std::move(part).status();
    }
    parts.push_back(*std::move(part));
  }
  return std::make_unique<StripedRecording>(std::move(parts));
}

absl::Status StripedStore::Absent(size_t member, const RecordingPath& path) const {
  return disk::StoreIo(names_[member], "open",
                       absl::StrCat("member ", names_[member], ": nothing of recording ",
                                    path.channel, "/", path.recording, " is there any more"),
                       absl::StatusCode::kOutOfRange);
}

// Somebody may have removed a part: the others' blocks are there. A part whose indexes are all gone
// tells nothing, and is kept.
absl::StatusOr<std::unique_ptr<RecordingFiles>> StripedStore::OpenRecording(
    const RecordingPath& path, dataplane::Executor& executor) {
  StripedRecording::Parts parts;
  bool any = false, indexed = false;
  absl::Status absence;
  for (size_t m = 0; m < members_.size(); ++m) {
    auto part = members_[m]->OpenRecording(path, executor);
    if (!part.ok() && !absl::IsNotFound(part.status())) return std::move(part).status();
    if (part.ok()) {
      any = true;
      indexed = indexed || m < format::kMaxIndexCopies;
      parts.push_back(*std::move(part));
    } else {
      absence = part.status();
      parts.push_back(std::make_unique<AbsentPart>(Absent(m, path), executor));
    }
  }
  if (!any) return absence;
  if (!indexed) {
    return dataplane::Recoded(absl::StatusCode::kDataLoss, Absent(0, path));
  }
  return std::make_unique<StripedRecording>(std::move(parts));
}

// Without a manifest anywhere it counts as one that had not begun, however many of its parts a
// crash leaves. Member 0 goes last: what is left then has an index, which says whose it is.
absl::Status StripedStore::DeleteRecording(const RecordingPath& path) {
  if (members_.size() > 1) {
    for (const auto& member : members_) TD_RETURN_IF_ERROR(member->ForgetManifest(path));
  }
  for (size_t m = members_.size(); m-- > 0;) {
    TD_RETURN_IF_ERROR(members_[m]->DeleteRecording(path));
  }
  return absl::OkStatus();
}

// What only some members know was being made or deleted when the node died, or has been removed
// from the others: whoever opens it finds out.
absl::StatusOr<std::vector<RecordingPath>> StripedStore::ListRecordings(const Known& known) {
  std::vector<RecordingPath> all;
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& member : members_) {
    TD_ASSIGN_OR_RETURN(const auto paths, member->ListRecordings(known));
    for (const RecordingPath& path : paths) {
      if (seen.emplace(path.channel, path.recording).second) all.push_back(path);
    }
  }
  return all;
}

absl::Status StripedStore::FinishDeletions(const Known& known) {
  for (const auto& member : members_) TD_RETURN_IF_ERROR(member->FinishDeletions(known));
  return absl::OkStatus();
}

absl::Status StripedStore::Look() {
  absl::Status status;
  for (const auto& member : members_) status.Update(member->Look());
  return status;
}

absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> StripedStore::MakeRing(const RingSpec& spec) {
  std::vector<Store*> users;
  for (const auto& member : members_) users.push_back(member.get());
  return MakeHostRing(spec, users);
}

std::unique_ptr<dataplane::Memory> StripedStore::Prepare(
    std::unique_ptr<dataplane::Memory> memory) {
  for (const auto& member : members_) memory = member->Prepare(std::move(memory));
  return memory;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Create(const MemberStore& kind, const services::Lun& lun) {
  Members members;
  for (uint32_t m = 0; m < lun.members.size(); ++m) {
    auto member = kind.create(lun, m);
    if (!member.ok()) {
      members.clear();
      for (uint32_t made = 0; made < m; ++made) TD_RETURN_IF_ERROR(kind.remove(lun, made));
      return std::move(member).status();
    }
    members.push_back(*std::move(member));
  }
  return std::make_unique<StripedStore>(std::move(members), lun.members);
}

absl::StatusOr<std::unique_ptr<Store>> Open(const MemberStore& kind, const services::Lun& lun) {
  Members members;
  for (uint32_t m = 0; m < lun.members.size(); ++m) {
    TD_ASSIGN_OR_RETURN(auto member, kind.open(lun, m));
    members.push_back(std::move(member));
  }
  return std::make_unique<StripedStore>(std::move(members), lun.members);
}

absl::Status Remove(const MemberStore& kind, const services::Lun& lun) {
  for (uint32_t m = 0; m < lun.members.size(); ++m) TD_RETURN_IF_ERROR(kind.remove(lun, m));
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::store::stripe
