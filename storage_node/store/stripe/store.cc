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
#include "storage_node/store/stripe/members.h"
#include "storage_node/store/stripe/recording.h"

namespace tapedeck::storage_node::store::stripe {
namespace {

// The same note on every member. A crash may leave an older one on some.
class StripedNotebook final : public Notebook {
 public:
  // Outlived by `members`, which have one each.
  explicit StripedNotebook(const Members& members) : members_(members) {}

  absl::StatusOr<Note> ReadNote() override {
    Note newest;
    absl::Status damage;
    for (const ListedMember* member : members_.All()) {
      auto note = member->store->extras().notebook->ReadNote();
      if (!note.ok()) damage = note.status();
      if (note.ok() && note->generation > newest.generation) newest = *std::move(note);
    }
    if (newest.generation == 0 && !damage.ok()) return damage;
    return newest;
  }
  absl::Status WriteNote(const Note& note) override {
    for (const ListedMember* member : members_.All()) {
      TD_RETURN_IF_ERROR(member->store->extras().notebook->WriteNote(note));
    }
    return absl::OkStatus();
  }

 private:
  const Members& members_;
};

// A member to which a recording does not reach does not vouch for what has its name there.
Known KnownOn(const Known& known, size_t member) {
  Known there{.channels = known.channels, .recordings = {}, .is_part = known.is_part};
  for (const RecordingPath& path : known.recordings) {
    if (member < path.members) there.recordings.insert(there.recordings.end(), path);
  }
  return there;
}

// Blocks go round, so the smallest member is full first.
uint64_t SizeOf(uint64_t smallest, const ListedMember& member) {
  return std::min(smallest, member.store->extras().size_bytes);
}

class StripedStore final : public Store, public Recovery, public MemberFiles, public MemberList {
 public:
  explicit StripedStore(ListedMembers members) : members_(std::move(members)) {}

  absl::StatusOr<std::unique_ptr<RecordingFiles>> Open(const RecordingPath& path,
                                                       const Opening& how,
                                                       dataplane::Executor& executor) override;
  absl::Status DeleteRecording(const RecordingPath& path) override;
  absl::Status BeginDeletion(const RecordingPath& path) override;
  absl::StatusOr<std::vector<RecordingPath>> BegunDeletions(const Known& known) override;
  absl::Status FinishDeletions(const Known& known) override;
  absl::StatusOr<std::vector<std::string>> UnknownChannels(const Known& known) override;
  absl::StatusOr<std::vector<RecordingPath>> ListRecordings(const Known& known) override;
  absl::Status Look() override;
  absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(const RingSpec& spec) override;
  Extras extras() override;
  absl::Status Describe(const services::Lun& lun) override;
  void Prewrite(const services::Lun& lun) override;
  uint64_t SizeWith(const ListedMembers& more) const override;
  void Add(ListedMembers more) override { members_.Add(std::move(more)); }

 private:
  using Files = absl::StatusOr<std::unique_ptr<RecordingFiles>>;
  Files Create(const RecordingPath& path, uint64_t block_bytes, dataplane::Executor& executor);
  Files OpenToRead(const RecordingPath& path, dataplane::Executor& executor);
  Files OpenToGoOn(const RecordingPath& path, dataplane::Executor& executor);
  static absl::Status Absent(const ListedMember& member, const RecordingPath& path);

  Members members_;
  StripedNotebook notebook_{members_};
};

uint64_t StripedStore::SizeWith(const ListedMembers& more) const {
  const auto members = members_.All();
  uint64_t smallest = UINT64_MAX;
  for (const auto* member : members) smallest = SizeOf(smallest, *member);
  for (const auto& member : more) smallest = SizeOf(smallest, member);
  return smallest * (members.size() + more.size());
}

Extras StripedStore::extras() {
  const Extras one = members_.first().extras();
  return {.layout = one.layout,
          .size_bytes = SizeWith({}),
          .recovery = this,
          .member_files = this,
          .notebook = one.notebook == nullptr ? nullptr : &notebook_,
          .open_data = one.open_data,  // of a recording on one member, which is the first
          .member_list = this};
}

absl::Status StripedStore::Describe(const services::Lun& lun) {
  for (const auto* member : members_.All()) {
    TD_RETURN_IF_ERROR(member->store->extras().member_files->Describe(lun));
  }
  return absl::OkStatus();
}

void StripedStore::Prewrite(const services::Lun& lun) {
  for (const auto* member : members_.All()) member->store->extras().member_files->Prewrite(lun);
}

StripedStore::Files StripedStore::Open(const RecordingPath& path, const Opening& how,
                                       dataplane::Executor& executor) {
  switch (how.purpose) {
    case Purpose::kCreate:
      return Create(path, how.block_bytes, executor);
    case Purpose::kGoOn:
      return OpenToGoOn(path, executor);
    case Purpose::kRead:
    case Purpose::kPieces:
    case Purpose::kMend:
      break;
  }
  return OpenToRead(path, executor);
}

StripedStore::Files StripedStore::Create(const RecordingPath& path, uint64_t block_bytes,
                                         dataplane::Executor& executor) {
  StripedRecording::Parts parts;
  const auto members = members_.First(path.members);
  for (const auto* member : members) {
    auto part = member->store->Open(path, ToCreate(block_bytes), executor);
    if (!part.ok()) {
      // The part that failed may be another recording's: only our own are removed.
      const size_t made = parts.size();
      parts.clear();
      // What is left the next start judges.
      for (size_t m = 0; m < made; ++m) members[m]->store->DeleteRecording(path).IgnoreError();
      return std::move(part).status();
    }
    parts.push_back(*std::move(part));
  }
  return std::make_unique<StripedRecording>(std::move(parts));
}

absl::Status StripedStore::Absent(const ListedMember& member, const RecordingPath& path) {
  return disk::StoreIo(member.name, "open",
                       absl::StrCat("member ", member.name, ": nothing of recording ", path.channel,
                                    "/", path.recording, " is there any more"),
                       absl::StatusCode::kOutOfRange);
}

// Somebody may have removed a part: the others' blocks are there. A part whose indexes are all gone
// tells nothing, and is kept.
StripedStore::Files StripedStore::OpenToRead(const RecordingPath& path,
                                             dataplane::Executor& executor) {
  StripedRecording::Parts parts;
  bool any = false, indexed = false;
  absl::Status absence;
  const auto members = members_.First(path.members);
  for (size_t m = 0; m < members.size(); ++m) {
    auto part = members[m]->store->Open(path, {}, executor);
    if (!part.ok() && !absl::IsNotFound(part.status())) return std::move(part).status();
    if (part.ok()) {
      any = true;
      indexed = indexed || m < format::kMaxIndexCopies;
      parts.push_back(*std::move(part));
    } else {
      absence = part.status();
      parts.push_back(std::make_unique<AbsentPart>(Absent(*members[m], path), executor));
    }
  }
  if (!any) return absence;
  if (!indexed) {
    return dataplane::Recoded(absl::StatusCode::kDataLoss, Absent(*members[0], path));
  }
  return std::make_unique<StripedRecording>(std::move(parts));
}

StripedStore::Files StripedStore::OpenToGoOn(const RecordingPath& path,
                                             dataplane::Executor& executor) {
  StripedRecording::Parts parts;
  for (const auto* member : members_.First(path.members)) {
    TD_ASSIGN_OR_RETURN(auto part,
                        member->store->Open(path, {.purpose = Purpose::kGoOn}, executor));
    parts.push_back(std::move(part));
  }
  return std::make_unique<StripedRecording>(std::move(parts));
}

absl::Status StripedStore::BeginDeletion(const RecordingPath& path) {
  for (const auto* member : members_.First(path.members)) {
    TD_RETURN_IF_ERROR(member->store->extras().recovery->BeginDeletion(path));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RecordingPath>> StripedStore::BegunDeletions(const Known& known) {
  std::set<RecordingPath> begun;
  const auto members = members_.All();
  for (size_t m = 0; m < members.size(); ++m) {
    TD_ASSIGN_OR_RETURN(const auto paths,
                        members[m]->store->extras().recovery->BegunDeletions(KnownOn(known, m)));
    begun.insert(paths.begin(), paths.end());
  }
  return std::vector<RecordingPath>(begun.begin(), begun.end());
}

// However many of its parts a crash leaves, each says that the deletion was ordered. Member 0 goes
// last: what is left then has an index, which says whose it is.
absl::Status StripedStore::DeleteRecording(const RecordingPath& path) {
  const auto members = members_.First(path.members);
  if (members.size() > 1) TD_RETURN_IF_ERROR(BeginDeletion(path));
  for (size_t m = members.size(); m-- > 0;) {
    TD_RETURN_IF_ERROR(members[m]->store->DeleteRecording(path));
  }
  return absl::OkStatus();
}

// What only some members know was being made or deleted when the node died, or has been removed
// from the others: whoever opens it finds out.
absl::StatusOr<std::vector<RecordingPath>> StripedStore::ListRecordings(const Known& known) {
  std::vector<RecordingPath> all;
  std::set<std::pair<std::string, std::string>> seen;
  const auto members = members_.All();
  for (size_t m = 0; m < members.size(); ++m) {
    TD_ASSIGN_OR_RETURN(const auto paths, members[m]->store->ListRecordings(KnownOn(known, m)));
    for (const RecordingPath& path : paths) {
      if (seen.emplace(path.channel, path.recording).second) all.push_back(path);
    }
  }
  return all;
}

absl::StatusOr<std::vector<std::string>> StripedStore::UnknownChannels(const Known& known) {
  std::set<std::string> ids;
  for (const auto* member : members_.All()) {
    TD_ASSIGN_OR_RETURN(const auto more, member->store->extras().recovery->UnknownChannels(known));
    ids.insert(more.begin(), more.end());
  }
  return std::vector<std::string>(ids.begin(), ids.end());
}

absl::Status StripedStore::FinishDeletions(const Known& known) {
  const auto members = members_.All();
  for (size_t m = 0; m < members.size(); ++m) {
    TD_RETURN_IF_ERROR(members[m]->store->extras().recovery->FinishDeletions(KnownOn(known, m)));
  }
  return absl::OkStatus();
}

absl::Status StripedStore::Look() {
  absl::Status status;
  for (const auto* member : members_.All()) status.Update(member->store->Look());
  return status;
}

absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> StripedStore::MakeRing(const RingSpec& spec) {
  std::vector<Store*> users;
  for (const auto* member : members_.All()) users.push_back(member->store.get());
  return MakeHostRing(spec, users);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Create(const MemberStore& kind, const services::Lun& lun) {
  ListedMembers members;
  for (uint32_t m = 0; m < lun.members.size(); ++m) {
    auto member = kind.create(lun, m);
    if (!member.ok()) {
      members.clear();
      for (uint32_t made = 0; made < m; ++made) TD_RETURN_IF_ERROR(kind.remove(lun, made));
      return std::move(member).status();
    }
    members.push_back({.name = lun.members[m], .store = *std::move(member)});
  }
  return std::make_unique<StripedStore>(std::move(members));
}

absl::StatusOr<std::unique_ptr<Store>> Open(const MemberStore& kind, const services::Lun& lun) {
  ListedMembers members;
  for (uint32_t m = 0; m < lun.members.size(); ++m) {
    TD_ASSIGN_OR_RETURN(auto member, kind.open(lun, m));
    members.push_back({.name = lun.members[m], .store = std::move(member)});
  }
  return std::make_unique<StripedStore>(std::move(members));
}

absl::Status Remove(const MemberStore& kind, const services::Lun& lun) {
  for (uint32_t m = 0; m < lun.members.size(); ++m) TD_RETURN_IF_ERROR(kind.remove(lun, m));
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::store::stripe
