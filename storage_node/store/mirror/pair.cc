#include "storage_node/store/mirror/pair.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::store::mirror {
namespace {

std::string Since(const format::Behind& behind) {
  return absl::FormatTime(absl::RFC3339_sec, absl::FromUnixNanos(behind.since_ns),
                          absl::UTCTimeZone());
}

void LogMember(dataplane::LogLevel level, absl::string_view event, const std::string& member,
               absl::string_view why) {
  dataplane::Log(level, "mirror", event, {{"member", member}, {"why", std::string(why)}});
}

}  // namespace

absl::StatusOr<std::shared_ptr<Pair>> Pair::Create(std::string lun_uid, Members members) {
  std::optional<format::Behind> behind[kCopies];
  for (const Member& member : members) {
    if (member.says.has_value()) behind[member.says->member] = member.says;
  }
  const std::string& first = members[0].name;
  const std::string& second = members[1].name;
  if (behind[0].has_value() && behind[1].has_value()) {
    return disk::Unusable(
        first, absl::StrCat("it and ", second, " were each used without the other, since ",
                            Since(*behind[0]), " and ", Since(*behind[1]),
                            ": neither copy is complete; remove the one that you need less, and "
                            "attach the LUN with the other"));
  }
  for (uint32_t m = 0; m < kCopies; ++m) {
    const Member& other = members[OtherOf(m)];
    if (members[m].store != nullptr || other.store != nullptr) continue;
    return members[m].missing;
  }
  for (uint32_t m = 0; m < kCopies; ++m) {
    const Member& other = members[OtherOf(m)];
    if (!behind[m].has_value() || other.store != nullptr) continue;
    return disk::Unusable(
        members[m].name, absl::StrCat("its copy is behind since ", Since(*behind[m]),
                                      ", and the whole one is missing: ", other.missing.message()));
  }
  TD_ASSIGN_OR_RETURN(auto marks, services::TaskThread::Create("mirror-marks"));
  std::shared_ptr<Pair> pair(new Pair(std::move(lun_uid), members, std::move(marks)));
  absl::MutexLock lock(&pair->mutex_);
  for (uint32_t m = 0; m < kCopies; ++m) {
    const Member& other = members[OtherOf(m)];
    pair->states_[m].behind = behind[m];
    pair->states_[m].durable = other.says.has_value() && other.says->member == m;
  }
  return pair;
}

Pair::Pair(std::string lun_uid, const Members& members, std::unique_ptr<services::TaskThread> marks)
    : lun_uid_(std::move(lun_uid)),
      names_{members[0].name, members[1].name},
      marks_(std::move(marks)) {
  for (uint32_t m = 0; m < kCopies; ++m) {
    states_[m].store = members[m].store;
    states_[m].missing = members[m].missing;
    states_[m].says_so = members[m].says.has_value() && members[m].says->member == m;
  }
}

void Pair::Close() {
  marks_->Stop();
  std::vector<std::shared_ptr<Store>> stores;
  absl::MutexLock lock(&mutex_);
  stores.swap(leaving_);
  for (State& state : states_) stores.push_back(std::move(state.store));
}

std::shared_ptr<Store> Pair::store(uint32_t member) const {
  absl::MutexLock lock(&mutex_);
  return states_[member].store;
}

bool Pair::behind(uint32_t member) const {
  absl::MutexLock lock(&mutex_);
  return states_[member].behind.has_value();
}

uint32_t Pair::whole() const {
  absl::MutexLock lock(&mutex_);
  return states_[0].store != nullptr && !states_[0].behind.has_value() ? 0 : 1;
}

absl::Status Pair::lacking() const {
  absl::MutexLock lock(&mutex_);
  for (uint32_t m = 0; m < kCopies; ++m) {
    const State& state = states_[m];
    const std::string since =
        state.behind.has_value()
            ? absl::StrCat(" is behind since ", Since(*state.behind), " (", state.behind->why, ")")
            : " is not behind yet";
    if (state.store == nullptr) {
      return absl::UnavailableError(absl::StrCat(
          "one copy is left: member ", names_[m], " is missing (", state.missing.message(),
          "), and", since, "; when it is back, scrub the LUN: tapectl scrub start LUN --restart"));
    }
    if (state.behind.has_value()) {
      return absl::UnavailableError(
          absl::StrCat("one copy is whole: member ", names_[m], since,
                       "; scrub the LUN: tapectl scrub start LUN --restart"));
    }
  }
  return absl::OkStatus();
}

uint64_t Pair::omissions() const {
  absl::MutexLock lock(&mutex_);
  return omissions_;
}

Absent Pair::Begin(uint32_t member) {
  ++omissions_;
  ++states_[member].absences;
  return std::make_shared<const Absence>(shared_from_this(), member);
}

void Pair::End(uint32_t member) {
  absl::MutexLock lock(&mutex_);
  ++omissions_;
  --states_[member].absences;
}

absl::StatusOr<Absent> Pair::Leave(uint32_t member, const absl::Status& why) {
  absl::MutexLock marking(&marking_);
  std::shared_ptr<Store> other;
  {
    absl::MutexLock lock(&mutex_);
    if (states_[member].behind.has_value() && states_[member].durable) return Begin(member);
    const State& left = states_[OtherOf(member)];
    if (left.store == nullptr || left.behind.has_value()) return why;
    other = left.store;
  }
  const format::Behind behind{.lun_uid = lun_uid_,
                              .member = member,
                              .since_ns = absl::ToUnixNanos(dataplane::WallTime()),
                              .why = std::string(why.message())};
  const std::string text = format::EncodeBehind(behind);
  if (absl::Status marked = other->extras().behind_mark->WriteBehind(text); !marked.ok()) {
    LogMember(dataplane::LogLevel::kError, "copy not left", names_[member], marked.message());
    return marked;
  }
  LogMember(dataplane::LogLevel::kError, "copy behind", names_[member], why.message());
  absl::MutexLock lock(&mutex_);
  states_[member].behind = behind;
  states_[member].durable = true;
  states_[member].says_so = false;
  return Begin(member);
}

void Pair::LeaveLater(uint32_t member, absl::Status why, Left left) {
  marks_->Run([this, member, why = std::move(why), left = std::move(left)]() mutable {
    left(Leave(member, why));
  });
}

void Pair::Remove(uint32_t member, const absl::Status& why) {
  absl::MutexLock lock(&mutex_);
  State& state = states_[member];
  if (state.store == nullptr) return;
  state.old = state.store;
  leaving_.push_back(std::move(state.store));
  state.store = nullptr;
  state.missing = why;
}

void Pair::Reap() {
  std::vector<std::shared_ptr<Store>> unused;
  absl::MutexLock lock(&mutex_);
  for (std::shared_ptr<Store>& store : leaving_) {
    if (store.use_count() == 1) unused.push_back(std::move(store));
  }
  std::erase(leaving_, nullptr);
}

bool Pair::CanReturn(uint32_t member) const {
  absl::MutexLock lock(&mutex_);
  return states_[member].store == nullptr && states_[member].old.expired();
}

void Pair::SetMissing(uint32_t member, const absl::Status& why) {
  absl::MutexLock lock(&mutex_);
  states_[member].missing = why;
}

absl::Status Pair::Return(uint32_t member, std::shared_ptr<Store> store,
                          const std::optional<format::Behind>& says) {
  absl::MutexLock lock(&mutex_);
  State& state = states_[member];
  if (says.has_value() && says->member != member) {
    const absl::Status doubt =
        disk::StoreIo(names_[member], "open",
                      absl::StrCat("member ", names_[member], " is back, and says that ",
                                   names_[OtherOf(member)], " is behind since ", Since(*says)));
    if (!state.behind.has_value()) return doubt;
    state.missing = doubt;
    return absl::OkStatus();
  }
  state.says_so = says.has_value();
  // Where the other one has no mark, this one was to be mended when it went.
  if (says.has_value() && !state.behind.has_value()) state.behind = says;
  state.store = std::move(store);
  LogMember(dataplane::LogLevel::kInfo, "member back", names_[member],
            state.behind.has_value() ? "its copy is behind: scrub the LUN" : "nothing was missed");
  return absl::OkStatus();
}

void Pair::TellBehind() {
  absl::MutexLock marking(&marking_);
  for (uint32_t m = 0; m < kCopies; ++m) {
    std::shared_ptr<Store> store;
    std::string text;
    {
      absl::MutexLock lock(&mutex_);
      const State& state = states_[m];
      if (state.store == nullptr || !state.behind.has_value() || state.says_so) continue;
      store = state.store;
      text = format::EncodeBehind(*state.behind);
    }
    // The other one says it anyway.
    const bool told = store->extras().behind_mark->WriteBehind(text).ok();
    absl::MutexLock lock(&mutex_);
    states_[m].says_so = told && states_[m].store == store;
  }
}

absl::Status Pair::Untrusted(uint64_t omissions, uint32_t* member) const {
  for (uint32_t m = 0; m < kCopies; ++m) {
    if (states_[m].behind.has_value()) *member = m;
  }
  if (*member == kCopies) return absl::OkStatus();
  const State& state = states_[*member];
  if (state.store == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("member ", names_[*member], " is missing: ", state.missing.message()));
  }
  if (state.absences > 0 || omissions_ != omissions) {
    return absl::UnavailableError(absl::StrCat("changes were made without member ", names_[*member],
                                               " during the scrub: scrub again"));
  }
  return absl::OkStatus();
}

absl::Status Pair::Trust(uint64_t omissions, const std::function<absl::Status(uint32_t)>& purge) {
  uint32_t member = kCopies;
  {
    absl::MutexLock lock(&mutex_);
    TD_RETURN_IF_ERROR(Untrusted(omissions, &member));
    if (member == kCopies) return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(purge(member));
  absl::MutexLock marking(&marking_);
  std::array<std::shared_ptr<Store>, kCopies> stores;
  {
    absl::MutexLock lock(&mutex_);
    TD_RETURN_IF_ERROR(Untrusted(omissions, &member));
    if (states_[OtherOf(member)].store == nullptr) {
      return absl::UnavailableError(
          absl::StrCat("member ", names_[OtherOf(member)], " is not there"));
    }
    for (uint32_t m = 0; m < kCopies; ++m) stores[m] = states_[m].store;
  }
  // What the whole copy says is believed longest: a crash in between leaves this one behind. Nobody
  // leaves a member meanwhile, which takes marking_.
  absl::Status status = stores[member]->extras().behind_mark->WriteBehind("");
  if (status.ok()) status = stores[OtherOf(member)]->extras().behind_mark->WriteBehind("");
  absl::MutexLock lock(&mutex_);
  states_[member].says_so = false;
  states_[member].durable = false;
  if (!status.ok()) return status;  // nobody knows what the disk has: it is written again
  states_[member].behind.reset();
  LogMember(dataplane::LogLevel::kInfo, "copy whole again", names_[member], "it was scrubbed");
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::store::mirror
