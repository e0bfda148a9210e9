#include "storage_node/recordings/retention.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/deadline.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::recordings {
namespace {

using catalog::SharedSummary;
using catalog::Summary;

// Of a summary or a manifest.
bool MayGo(const auto& recording) {
  return recording.state != services::RecordingState::kRecording && !recording.kept;
}

// A deletion that another thread has begun is waited for so long, in all of one call. The disk may
// hang, and whoever makes room holds up a stream.
constexpr absl::Duration kOthersDeletion = absl::Seconds(2);

// Has the LUN's turn until it goes, or does not get it in time.
class Turn {
 public:
  Turn(luns::DeletionTurn& turn, dataplane::Deadline deadline) : turn_(turn) {
    const absl::MutexLock lock(&turn_.mutex);
    const auto is_free = [this]()
                             ABSL_EXCLUSIVE_LOCKS_REQUIRED(turn_.mutex) { return !turn_.taken; };
    has_ = dataplane::AwaitUntil(turn_.mutex, absl::Condition(&is_free), deadline);
    if (has_) turn_.taken = true;
  }
  ~Turn() {
    if (!has_) return;
    const absl::MutexLock lock(&turn_.mutex);
    turn_.taken = false;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool has() const { return has_; }

 private:
  luns::DeletionTurn& turn_;
  bool has_ = false;
};

using Stream = std::pair<std::string, std::string>;  // channel and ID; no ID: it is in none

Stream StreamOf(const Summary& row) { return {row.name.channel, row.stream}; }

// The streams with a segment that is still written. Those after it stay: a stream loses its oldest
// samples, and no later ones.
class OpenStreams {
 public:
  OpenStreams(Recordings& recordings, const std::vector<SharedSummary>& rows) {
    for (const SharedSummary& row : rows) {
      const bool written = row->state == services::RecordingState::kRecording ||
                           recordings.live().Find(row->name.ToString()) != nullptr;
      if (!written || row->stream.empty()) continue;
      uint64_t& first = first_.try_emplace(StreamOf(*row), row->segment).first->second;
      first = std::min(first, row->segment);
    }
  }

  // Whether an older segment of this one's stream is still written.
  bool HasOlder(const Summary& row) const {
    const auto it = first_.find(StreamOf(row));
    return it != first_.end() && row.segment > it->second;
  }

 private:
  std::map<Stream, uint64_t> first_;  // segment of each that is still written
};

// Oldest first; of a stream by the numbers of its segments, as the machine's clock may step.
absl::StatusOr<std::vector<SharedSummary>> OldestFirst(Recordings& recordings,
                                                       const std::string& lun_id) {
  TD_ASSIGN_OR_RETURN(auto rows,
                      recordings.catalog()->ListSummaries({.lun = lun_id, .channel = "-"}));
  std::ranges::reverse(rows);
  std::map<Stream, std::vector<size_t>> streams;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]->stream.empty()) streams[StreamOf(*rows[i])].push_back(i);
  }
  for (const auto& [stream, places] : streams) {
    std::vector<SharedSummary> segments;
    for (const size_t place : places) segments.push_back(std::move(rows[place]));
    std::ranges::sort(segments, {}, [](const SharedSummary& row) { return row->segment; });
    for (size_t i = 0; i < places.size(); ++i) rows[places[i]] = std::move(segments[i]);
  }
  return rows;
}

enum class Order { kAny, kOfStreams };

// kEnough: neither this one nor a younger one. Room that others take meanwhile is made by the next
// pass, from the oldest on: going on here would take the youngest for it.
enum class Verdict { kGoes, kStays, kEnough };

Verdict GoesIf(bool lacking) { return lacking ? Verdict::kGoes : Verdict::kEnough; }

// How far a pass through the recordings came: kEnough ended it, or it reached the youngest, and
// nothing that should go is left or something is, as what is played or waits.
enum class Pass { kEnough, kAllGone, kSomeLeft };

// Oldest first, judges each that may go and deletes it if it goes: by what the catalog says of it,
// and then once more by its manifest on the members.
absl::StatusOr<Pass> DeleteWhere(Recordings& recordings, const std::string& lun_id,
                                 luns::OpenLun& lun, absl::string_view why, Order order,
                                 dataplane::Deadline patience,
                                 const std::function<Verdict(const Summary&)>& judge) {
  TD_ASSIGN_OR_RETURN(const auto rows, OldestFirst(recordings, lun_id));
  const OpenStreams open(recordings, rows);
  bool all = true;
  for (const SharedSummary& row : rows) {
    const bool waits = open.HasOlder(*row) && order == Order::kOfStreams;
    if (!MayGo(*row)) continue;
    // Another thread may be deleting this one. If it were left out, a newer one would go instead:
    // so it is only where that takes too long.
    const Turn turn(*lun.deleting, patience);
    Verdict verdict = judge(*row);
    if (verdict == Verdict::kStays) continue;
    const auto may_go = [&](const format::Manifest& stored) {
      if (!MayGo(stored)) return false;
      verdict = judge(Summary::Of(row->name, stored));
      return verdict == Verdict::kGoes;
    };
    bool gone = false;
    if (verdict == Verdict::kGoes && !waits) {
      TD_ASSIGN_OR_RETURN(gone, recordings.Remove(row->name, lun, why, may_go));
    }
    if (verdict == Verdict::kEnough) return Pass::kEnough;
    all = all && gone;
  }
  return all ? Pass::kAllGone : Pass::kSomeLeft;
}

bool HasToLook(NextLooks& looks, const luns::OpenLun& lun, const AgeBase& age) {
  if (lun.capacity->used() > FillLimit(lun)) return true;
  if (age.max_age_ns == 0) return false;
  absl::MutexLock lock(&looks.mutex);
  const NextLook& next = looks.looks[lun.config->uid];
  return age.now_ns < next.looked_ns || age.now_ns >= next.at_ns ||
         age.max_age_ns != next.max_age_ns;
}

void Apply(Recordings& recordings, NextLooks& looks, const std::string& lun_id, luns::OpenLun& lun,
           const AgeBase& age) {
  const auto next = ApplyPolicies(recordings, lun_id, lun, age);
  if (!next.ok()) {
    dataplane::Log(dataplane::LogLevel::kError, "retention", "policies not applied",
                   {{"lun", lun.config->name}, {"error", std::string(next.status().message())}});
    return;
  }
  absl::MutexLock lock(&looks.mutex);
  looks.looks[lun.config->uid] = {
      .looked_ns = age.now_ns, .at_ns = *next, .max_age_ns = age.max_age_ns};
}

}  // namespace

uint64_t FillLimit(const luns::OpenLun& lun) {
  const uint64_t limit = lun.capacity->limit();
  const auto config = lun.config.now();
  if (limit == 0) return UINT64_MAX;
  if (config->max_fill_percent > 0) return limit / 100 * config->max_fill_percent;
  const bool ring = config->full_policy == services::FullPolicy::kRing;
  return ring ? limit - limit / kFreePart : UINT64_MAX;
}

absl::Status MakeRoom(Recordings& recordings, const std::string& lun_id, luns::OpenLun& lun,
                      uint64_t bytes) {
  const auto lacks = [&](uint64_t used) { return used + bytes > lun.capacity->limit(); };
  if (lacks(lun.capacity->used())) ReadAccount(recordings, lun, SIZE_MAX);
  const auto patience = dataplane::Deadline::In(kOthersDeletion);
  const auto judge = [&](const Summary&) { return GoesIf(lacks(lun.capacity->sure())); };
  // What comes now is worth more than a stream without a gap.
  for (const Order order : {Order::kOfStreams, Order::kAny}) {
    // Where others take the room that a pass has found or made, the oldest have their turn again.
    Pass pass;
    do {
      TD_ASSIGN_OR_RETURN(
          pass, DeleteWhere(recordings, lun_id, lun, "space for a new recording in the ring", order,
                            patience, judge));
    } while (pass == Pass::kEnough && lacks(lun.capacity->sure()) && !patience.passed());
    if (pass == Pass::kEnough || !lacks(lun.capacity->sure())) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> HeldBytes(Recordings& recordings, const std::string& lun_id,
                                   const luns::OpenLun& lun) {
  TD_ASSIGN_OR_RETURN(const auto rows,
                      recordings.catalog()->ListRecordings({.lun = lun_id, .channel = "-"}));
  uint64_t free = 0;
  for (const catalog::RecordingRow& row : rows) {
    const bool goes = MayGo(row.manifest) && !recordings.leases().IsHeld(row.name.ToString());
    if (goes) free += lun.TakenBy(row.manifest);
  }
  const uint64_t used = lun.capacity->used();
  return used - std::min(used, free);
}

absl::StatusOr<int64_t> ApplyPolicies(Recordings& recordings, const std::string& lun_id,
                                      luns::OpenLun& lun, const AgeBase& age) {
  const int64_t max_age_ns = lun.config->max_age_ns;
  const auto patience = dataplane::Deadline::In(kOthersDeletion);
  int64_t next_ns = INT64_MAX;
  // Another max_age, set since: the next look goes by it.
  if (max_age_ns > 0 && max_age_ns == age.max_age_ns) {
    next_ns = age.now_ns + max_age_ns;
    const auto is_due = [&](const Summary& recording) {
      const int64_t due_ns = std::max(recording.end_time_ns, age.since_ns) + max_age_ns;
      if (due_ns <= age.now_ns) return Verdict::kGoes;
      next_ns = std::min(next_ns, due_ns);
      return Verdict::kStays;
    };
    TD_ASSIGN_OR_RETURN(const Pass pass, DeleteWhere(recordings, lun_id, lun, "older than max_age",
                                                     Order::kOfStreams, patience, is_due));
    if (pass == Pass::kSomeLeft)
      next_ns = std::min(next_ns, age.now_ns + absl::ToInt64Nanoseconds(kLeftPeriod));
  }
  if (lun.capacity->used() > FillLimit(lun)) ReadAccount(recordings, lun, SIZE_MAX);
  if (lun.capacity->sure() > FillLimit(lun)) {
    const bool told = lun.config->max_fill_percent > 0;
    TD_RETURN_IF_ERROR(
        DeleteWhere(
            recordings, lun_id, lun,
            told ? "fuller than max_fill" : "space in advance for new recordings in the ring",
            Order::kOfStreams, patience,
            [&](const Summary&) { return GoesIf(lun.capacity->sure() > FillLimit(lun)); })
            .status());
  }
  return next_ns;
}

void Retention::Look() {
  recordings_.clock_steps().Look();
  for (const auto& [lun_id, lun] : recordings_.luns().All()) {
    WarnOfFill(*lun);
    const AgeBase age = recordings_.clock_steps().Of(lun->config->max_age_ns);
    const bool apply = HasToLook(*next_looks_, *lun, age);
    if (!apply && !lun->capacity->AnyKnownByRow()) continue;
    const auto queue = recordings_.luns().upkeep().Of(lun_id);
    if (queue->waiting() > 0) continue;  // the last look is not done
    queue->Run(
        [&recordings = recordings_, looks = next_looks_, id = lun_id, open = lun, age, apply] {
          ReadAccount(recordings, *open, kAccountStep);
          if (apply) Apply(recordings, *looks, id, *open, age);
        });
  }
}

void Retention::WarnOfFill(const luns::OpenLun& lun) {
  const uint64_t limit = lun.capacity->limit();
  if (limit == 0 || lun.config->full_policy == services::FullPolicy::kRing) return;
  const uint64_t free = limit - std::min(limit, lun.capacity->used());
  const uint64_t below = free < limit / 100 ? 1 : free < limit / 10 ? 10 : 100;
  uint64_t& warned = warned_percent_.try_emplace(lun.config->uid, 100).first->second;
  if (below < warned) {
    dataplane::Log(dataplane::LogLevel::kWarning, "retention", "LUN nearly full",
                   {{"lun", lun.config->name},
                    {"free_bytes", absl::StrCat(free)},
                    {"capacity_bytes", absl::StrCat(limit)}});
  }
  warned = below;
}

}  // namespace tapedeck::storage_node::recordings
