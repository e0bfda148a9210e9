#include "storage_node/moving/mover.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/moving/move_drafts.h"

namespace tapedeck::storage_node::moving {
namespace {

constexpr absl::Duration kListPeriod = absl::Seconds(10);
constexpr size_t kRowsAtOnce = 256;  // manifests, with what was noted of each
// Of one round; those that are late beyond that are listed when these are moved.
constexpr size_t kMostDue = 4096;

// How fast the policy has it moved, as long as it is the one with which the recording was listed.
std::optional<uint64_t> RateOf(const luns::OpenLun& lun, const services::Channel& listed) {
  const auto name = catalog::ParseChannelName(listed.name);
  if (!name.ok()) return std::nullopt;
  const auto now = lun.channels->Find(name->channel);
  const bool same = now.has_value() && now->move_to == listed.move_to &&
                    now->move_after_ns == listed.move_after_ns;
  if (!same) return std::nullopt;
  return now->move_bytes_per_s == 0 ? services::copying::kBackgroundRate : now->move_bytes_per_s;
}

// Of a channel, without having all of them in memory at once.
absl::Status ForEachRow(catalog::Catalog& catalog, const catalog::ResourceName& channel,
                        absl::FunctionRef<void(const catalog::RecordingRow&)> look) {
  catalog::RowKey after;
  for (;;) {
    TD_ASSIGN_OR_RETURN(const auto rows, catalog.RecordingsAfter(channel, after, kRowsAtOnce));
    if (rows.empty()) return absl::OkStatus();
    for (const catalog::RecordingRow& row : rows) look(row);
    after = {.open_ns = rows.back().manifest.open_time_ns, .name = rows.back().name};
  }
}

std::string ReasonIn(const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  return reason.has_value() ? reason->reason : "";
}

}  // namespace

void Mover::KeepEarliest(std::vector<Due>* due) {
  std::ranges::sort(*due, {}, [](const Due& one) { return std::pair(one.time_ns, one.recording); });
  if (due->size() > kMostDue) due->resize(kMostDue);
}

void Mover::ListOfChannel(const std::string& lun, const services::Channel& channel,
                          std::vector<Due>* due) {
  const auto name = catalog::ParseChannelName(channel.name);
  if (!name.ok()) return;
  Channel& known = channels_[channel.name];
  const int64_t now = now_ns();
  const bool same = known.to == channel.move_to && known.after_ns == channel.move_after_ns;
  // What kept the ones before from their way may not be in that of another policy.
  if (!same) backoff_.Ended(channel.name);
  if (same && known.listed_ns <= now && now < known.next_list_ns) return;
  known = {
      .listed_ns = now,
      .next_list_ns = now + std::min(channel.move_after_ns, absl::ToInt64Nanoseconds(kListPeriod)),
      .after_ns = channel.move_after_ns,
      .to = channel.move_to};
  const auto of = std::make_shared<const Listed>(Listed{.lun = lun, .channel = channel});
  const bool all_wait = backoff_.Holds(channel.name, steady_ns());
  uint64_t waiting = 0;
  std::set<std::string> failed;
  const absl::Status listed =
      ForEachRow(*resources_.recordings.catalog(), *name, [&](const catalog::RecordingRow& row) {
        if (!IsDue(row.manifest, channel, now)) return;
        ++waiting;
        looking_.AssertHeld();
        std::string recording = row.name.ToString();
        if (backoff_.Has(recording)) failed.insert(recording);
        if (all_wait || backoff_.Holds(recording, steady_ns())) return;
        due->push_back({.time_ns = row.manifest.end_time_ns + channel.move_after_ns,
                        .recording = std::move(recording),
                        .of = of});
        if (due->size() >= 2 * kMostDue) KeepEarliest(due);
      });
  if (!listed.ok()) {
    dataplane::Log(dataplane::LogLevel::kError, "move", "recordings not listed",
                   {{"channel", channel.name}, {"error", std::string(listed.message())}});
    return;
  }
  known.waiting = waiting;
  backoff_.KeepOnly(absl::StrCat(channel.name, "/"), failed);
}

void Mover::ListDue(std::vector<Due>* due) {
  std::set<std::string> channels;
  for (const auto& [id, lun] : resources_.luns.All()) {
    for (const services::Channel& channel : lun->channels->All()) {
      if (channel.move_to.empty()) continue;
      channels.insert(channel.name);
      ListOfChannel(id, channel, due);
    }
  }
  std::erase_if(channels_, [&](const auto& known) {
    if (channels.contains(known.first)) return false;
    looking_.AssertHeld();
    backoff_.Ended(known.first);
    backoff_.KeepOnly(absl::StrCat(known.first, "/"), {});
    return true;
  });
  KeepEarliest(due);
}

void Mover::OnFailed(const Due& due, luns::OpenLun& lun, const absl::Status& status) {
  if (absl::IsCancelled(status)) {
    if (stop_) return;
    dataplane::LogEach(dataplane::LogLevel::kInfo, "move", "move ended: its policy has changed",
                       {{"recording", due.recording}, {"to", due.of->channel.move_to}});
    return;
  }
  ++lun.meter->failed_moves;
  const bool alone = IsOfRecording(status, due.recording) || ReasonIn(status) == "LIMIT_REACHED";
  const absl::Duration again =
      backoff_.Failed(alone ? due.recording : due.of->channel.name, steady_ns());
  dataplane::LogEach(dataplane::LogLevel::kWarning, "move", "recording not moved",
                     {{"recording", due.recording},
                      {"to", due.of->channel.move_to},
                      {"reason", ReasonIn(status)},
                      {"error", std::string(status.message())},
                      {"again_in", absl::FormatDuration(again)}});
}

absl::StatusOr<Moved> Mover::MoveOn(const Due& due, luns::OpenLun& lun,
                                    const MoveRunner::GoOn& go_on) {
  services::copying::Pace pace(
      [&](uint64_t) { return go_on() ? RateOf(lun, due.of->channel) : std::nullopt; });
  TD_ASSIGN_OR_RETURN(
      Moved moved,
      Move(resources_, {.recording = due.recording, .channel = due.of->channel, .now_ns = now_ns()},
           make_channel_, pace));
  if (moved.end != MoveOutcome::kMoved) return moved;
  // Here, as one that was given up may have ended well all the same.
  ++lun.meter->moved_recordings;
  lun.meter->moved_bytes += moved.bytes;
  dataplane::LogEach(
      dataplane::LogLevel::kInfo, "move", "recording moved",
      {{"recording", due.recording}, {"to", moved.copy}, {"bytes", absl::StrCat(moved.bytes)}});
  return moved;
}

absl::StatusOr<Moved> Mover::TryOne(const Due& due, const LunPair& pair,
                                    const std::shared_ptr<luns::OpenLun>& lun) {
  const auto work = [this, due, lun](const MoveRunner::GoOn& go_on) {
    {
      absl::MutexLock lock(&mutex_);
      under_way_.insert(due.recording);
    }
    auto moved = MoveOn(due, *lun, go_on);
    absl::MutexLock lock(&mutex_);
    under_way_.erase(under_way_.find(due.recording));
    return moved;
  };
  return runner_.Run(
      pair, [this] { return !stop_; }, work);
}

void Mover::MoveOne(const Due& due) {
  const int64_t now = steady_ns();
  if (backoff_.Holds(due.of->channel.name, now) || backoff_.Holds(due.recording, now)) return;
  const auto lun = resources_.luns.Find(due.of->lun);
  if (!lun.ok() || !RateOf(**lun, due.of->channel).has_value()) return;
  const auto to = catalog::ParseLunName(due.of->channel.move_to);
  const LunPair pair{.from = due.of->lun, .to = to.ok() ? to->lun : ""};
  if (runner_.Holds(pair)) return;
  const auto moved = TryOne(due, pair, *lun);
  if (!moved.ok()) return OnFailed(due, **lun, moved.status());
  backoff_.Ended(due.of->channel.name);
  if (moved->end == MoveOutcome::kInUse) {
    backoff_.Failed(due.recording, steady_ns());
    return;
  }
  --channels_[due.of->channel.name].waiting;
}

void Mover::ShowWaiting() {
  std::map<std::string, uint64_t> waiting;
  for (const auto& [name, channel] : channels_) {
    const auto parsed = catalog::ParseChannelName(name);
    if (parsed.ok()) waiting[parsed->lun] += channel.waiting;
  }
  absl::MutexLock lock(&mutex_);
  waiting_ = std::move(waiting);
}

void Mover::Look() {
  absl::MutexLock looking(&looking_);
  std::vector<Due> due;
  ListDue(&due);
  ShowWaiting();
  for (const Due& one : due) {
    if (stop_) return;
    MoveOne(one);
    ShowWaiting();
  }
}

}  // namespace tapedeck::storage_node::moving
