#include "storage_node/scrub/scrubber.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/disk/errors.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::scrub {
namespace {

using services::Scrub;
using services::ScrubState;

// Their outcomes: findings are some hundred kilobytes at most.
constexpr size_t kMaxEnded = 16;

// The recordings and the LUN or channel of a name. Not offline.
absl::StatusOr<catalog::ResourceName> ParseScope(recordings::Recordings& recordings,
                                                 const std::string& parent) {
  if (const auto lun = catalog::ParseLunName(parent); lun.ok()) {
    TD_RETURN_IF_ERROR(recordings.luns().Find(lun->lun).status());
    return catalog::ResourceName{.lun = lun->lun, .channel = "-"};
  }
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName channel, catalog::ParseChannelName(parent));
  TD_RETURN_IF_ERROR(recordings.FindChannel(channel).status());
  TD_RETURN_IF_ERROR(recordings.luns().Find(channel.lun).status());
  return channel;
}

absl::Status StillStopping(const std::string& parent) {
  return disk::StoreIo(parent, "scrub",
                       absl::StrCat("scrub of ", parent,
                                    ": the previous scrub has not stopped in 10 s: its disk does "
                                    "not answer; see the node's log"));
}

}  // namespace

Scrubber::Scrubber(recordings::Recordings& recordings, absl::Duration patience)
    : recordings_(recordings), patience_(patience) {}

Scrubber::~Scrubber() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [parent, run] : runs_) run->AskToStop();
}

std::shared_ptr<ScrubRun> Scrubber::Find(const std::string& parent) {
  absl::MutexLock lock(&mutex_);
  const auto it = runs_.find(parent);
  return it == runs_.end() ? nullptr : it->second;
}

void Scrubber::Look() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [parent, run] : runs_) run->GiveUpAfter(patience_);
}

std::shared_ptr<absl::Mutex> Scrubber::RepairingOf(const std::string& lun) {
  absl::MutexLock lock(&mutex_);
  std::erase_if(repairing_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<absl::Mutex>& known = repairing_[lun];
  std::shared_ptr<absl::Mutex> repairing = known.lock();
  if (repairing == nullptr) known = repairing = std::make_shared<absl::Mutex>();
  return repairing;
}

void Scrubber::DropOldest() {
  std::multimap<absl::Time, std::string> ended;
  for (const auto& [parent, run] : runs_) {
    const absl::Time time = run->end_time();
    if (time < absl::InfiniteFuture()) ended.emplace(time, parent);
  }
  for (; ended.size() > kMaxEnded; ended.erase(ended.begin())) runs_.erase(ended.begin()->second);
}

absl::StatusOr<Scrub> Scrubber::StartScrub(const services::ScrubStart& start) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName scope, ParseScope(recordings_, start.parent));
  const auto before = Find(start.parent);
  if (before != nullptr && before->state().state == ScrubState::kRunning) {
    if (!start.restart) {
      before->SetRate(start.rate_bytes_per_s);
      return before->state();
    }
    before->AskToStop();
  }
  if (before != nullptr && !before->AwaitEnd()) return StillStopping(start.parent);
  TD_ASSIGN_OR_RETURN(const auto lun, recordings_.luns().Find(scope.lun));
  auto run =
      std::make_shared<ScrubRun>(recordings_, RepairingOf(scope.lun), scope, lun->meter, start);
  absl::MutexLock lock(&mutex_);
  std::shared_ptr<ScrubRun>& current = runs_[start.parent];
  if (current != before) return current->state();  // another call has just begun one
  if (absl::Status status = threads_.Run([run] { run->Work(); }); !status.ok()) {
    if (current == nullptr) runs_.erase(start.parent);
    return status;
  }
  current = run;
  DropOldest();
  return run->state();
}

std::vector<std::string> Scrubber::under_way() const {
  std::vector<std::string> parents;
  absl::MutexLock lock(&mutex_);
  for (const auto& [parent, run] : runs_) {
    if (run->end_time() == absl::InfiniteFuture()) parents.push_back(parent);
  }
  return parents;
}

absl::StatusOr<Scrub> Scrubber::GetScrub(const std::string& parent) {
  TD_RETURN_IF_ERROR(ParseScope(recordings_, parent).status());
  const auto run = Find(parent);
  return run == nullptr ? Scrub{.parent = parent} : run->state();
}

absl::StatusOr<Scrub> Scrubber::StopScrub(const std::string& parent) {
  TD_RETURN_IF_ERROR(ParseScope(recordings_, parent).status());
  const auto run = Find(parent);
  if (run == nullptr) return Scrub{.parent = parent};
  run->AskToStop();
  run->AwaitEnd();
  return run->state();
}

}  // namespace tapedeck::storage_node::scrub
