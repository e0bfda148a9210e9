#include "services/observe/timeline/timeline.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services::timeline {
namespace {

using dataplane::flight::Kind;
using dataplane::flight::Load;

enum class Where { kDevice, kRail, kMember, kSession };

// From one stamp of a block to another something took time.
struct Span {
  Kind begin;
  Kind end;
  Where where;
  absl::string_view name;
};
constexpr std::array<Span, 8> kSpans = {{
    {Kind::kMade, Kind::kComputed, Where::kDevice, "compute"},
    {Kind::kConsume, Kind::kComputed, Where::kDevice, "compute"},
    {Kind::kRail, Kind::kReceived, Where::kRail, "send"},
    {Kind::kAsked, Kind::kArrived, Where::kRail, "read"},
    {Kind::kStore, Kind::kWritten, Where::kMember, "write"},
    {Kind::kFetch, Kind::kFetched, Where::kMember, "fetch"},
    {Kind::kGiven, Kind::kAcknowledged, Where::kSession, "hold"},
    {Kind::kFlush, Kind::kDurable, Where::kSession, "flush"},
}};

// Stamps that stand for all blocks below their sequence.
bool IsWatermark(Kind kind) {
  return kind == Kind::kDurable || kind == Kind::kTold || kind == Kind::kFlush;
}

// Of these it stands for the blocks of one recording alone, of which a session that is cut into
// segments has several.
bool IsOfRecording(Kind kind) { return kind == Kind::kDurable || kind == Kind::kFlush; }

uint64_t FirstOf(const flight::Entry& entry) {
  return entry.sequence - std::min(entry.argument, entry.sequence);
}

bool IsOfBlock(Kind kind) {
  return !IsWatermark(kind) && kind != Kind::kCredit && kind != Kind::kRailUp &&
         kind != Kind::kRailDown && kind != Kind::kSessionFailed && kind != Kind::kFinished;
}

bool HasLoad(Kind kind) {
  return kind == Kind::kRail || kind == Kind::kReceived || kind == Kind::kCredit;
}

bool IsIncident(Kind kind) {
  return kind == Kind::kRailUp || kind == Kind::kRailDown || kind == Kind::kFlush ||
         kind == Kind::kGap || kind == Kind::kResend || kind == Kind::kSessionFailed ||
         kind == Kind::kFinished;
}

bool IsOfMember(Kind kind) {
  return kind == Kind::kStore || kind == Kind::kWritten || kind == Kind::kFetch ||
         kind == Kind::kFetched;
}

bool IsOfRail(Kind kind) {
  return HasLoad(kind) || kind == Kind::kTaken || kind == Kind::kSent || kind == Kind::kAsked ||
         kind == Kind::kArrived || kind == Kind::kRailUp || kind == Kind::kRailDown;
}

// luns/l0/channels/c0/recordings/r → l0
std::string LunOf(const std::string& recording) {
  const size_t begin = recording.find('/') + 1;
  return recording.substr(begin, recording.find('/', begin) - begin);
}

struct Slice {
  const Moment* begin;
  int64_t end_ns;
  const Span* span;
};

class Drawing {
 public:
  Drawing(const std::vector<NodeTrace>& nodes, const Merged& merged, PerfettoFile& file)
      : nodes_(nodes), merged_(merged), file_(file) {}

  absl::Status Draw() {
    TD_RETURN_IF_ERROR(AddNodes());
    for (const Moment& moment : merged_.moments) {
      TD_RETURN_IF_ERROR(AddStamp(moment));
      TD_RETURN_IF_ERROR(AddCounters(moment));
      Follow(moment);
    }
    return AddSlices();
  }

 private:
  absl::Status AddNodes() {
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      const flight::Trace& trace = nodes_[i].trace;
      TD_RETURN_IF_ERROR(file_.AddNode({NodeTrack(i), 0, trace.node}, Pid(i)));
      const NodeClock& clock = merged_.clocks[i];
      if (i == 0 || !clock.known || merged_.moments.empty()) continue;
      TD_RETURN_IF_ERROR(AddClock(i, merged_.moments.front().time_ns, clock.first));
      TD_RETURN_IF_ERROR(AddClock(i, merged_.moments.back().time_ns, clock.last));
    }
    return absl::OkStatus();
  }

  absl::Status AddClock(uint32_t node, int64_t time_ns, const flight::ClockOffset& offset) {
    return file_.Instant({.track = NodeTrack(node),
                          .time_ns = time_ns,
                          .name = "clock",
                          .notes = {{.name = "offset_ns", .number = offset.offset_ns},
                                    {.name = "uncertainty_ns", .number = offset.uncertainty_ns}}});
  }

  static int32_t Pid(uint32_t node) { return static_cast<int32_t>(node) + 1; }
  static uint64_t NodeTrack(uint32_t node) { return node + 1; }

  const Session& SessionOf(const Moment& moment) const { return merged_.sessions[moment.session]; }
  std::string NameOf(const Session& session) const {
    return session.name.empty() ? session.job : session.name;
  }

  // The same for the stamps of a block on both nodes; never 0.
  static uint64_t ArrowsOf(const Moment& moment) {
    return (uint64_t{moment.session} + 1) << 44 | (moment.entry.sequence + 1);
  }

  std::string PlaceOf(const Moment& moment) const {
    const flight::Entry& entry = moment.entry;
    const Session& session = SessionOf(moment);
    if (IsOfMember(entry.kind)) return absl::StrCat(entry.place);
    if (!IsOfRail(entry.kind)) return "";
    return entry.place < session.rails.size() ? session.rails[entry.place]
                                              : absl::StrCat("link ", entry.place);
  }

  absl::Status AddStamp(const Moment& moment) {
    const flight::Entry& entry = moment.entry;
    const absl::string_view name = dataplane::flight::NameOf(entry.kind);
    if (name.empty()) return absl::OkStatus();  // of a newer version
    TD_ASSIGN_OR_RETURN(const uint64_t thread, ThreadTrack(moment));
    const std::string place = PlaceOf(moment);
    const std::string session = NameOf(SessionOf(moment));
    Event event{.track = thread,
                .time_ns = moment.time_ns,
                .name = name,
                .flow = IsOfBlock(entry.kind) ? ArrowsOf(moment) : 0,
                .notes = {{.name = "session", .text = session},
                          {.name = IsWatermark(entry.kind) ? "below" : "block",
                           .number = static_cast<int64_t>(entry.sequence)}}};
    if (IsOfRecording(entry.kind)) {
      event.notes.push_back({.name = "from", .number = static_cast<int64_t>(FirstOf(entry))});
    }
    if (!place.empty()) {
      event.notes.push_back({.name = IsOfMember(entry.kind) ? "member" : "rail", .text = place});
    }
    TD_RETURN_IF_ERROR(file_.Instant(event));
    if (!IsIncident(entry.kind)) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(event.track, TrackFor(moment.node, absl::StrCat("incidents of ", session)));
    event.flow = 0;
    return file_.Instant(event);
  }

  absl::Status AddCounters(const Moment& moment) {
    const flight::Entry& entry = moment.entry;
    const std::string session = NameOf(SessionOf(moment));
    const auto count = [&](const std::string& what, uint64_t value) -> absl::Status {
      TD_ASSIGN_OR_RETURN(const uint64_t track,
                          CounterFor(moment.node, absl::StrCat(session, " ", what)));
      return file_.Count(track, moment.time_ns, static_cast<int64_t>(value));
    };
    if (HasLoad(entry.kind)) {
      const Load load = Load::Of(entry.argument);
      const std::string rail = PlaceOf(moment);
      TD_RETURN_IF_ERROR(count(absl::StrCat("in flight on ", rail), load.in_flight));
      return count(absl::StrCat("credits of ", rail), load.credits);
    }
    if (entry.kind == Kind::kGiven || entry.kind == Kind::kGap) {
      return count("ring: blocks held", entry.argument);
    }
    if (entry.kind == Kind::kArrived) return count("ring: blocks waiting", entry.argument);
    return absl::OkStatus();
  }

  // Finds what ends here, and remembers what begins.
  void Follow(const Moment& moment) {
    for (const Span& span : kSpans) {
      if (moment.entry.kind != span.end && moment.entry.kind != span.begin) continue;
      // A flush makes more durable than it began with.
      const bool flush = span.begin == Kind::kFlush;
      const uint64_t of = flush ? FirstOf(moment.entry) : moment.entry.sequence;
      const OpenKey key{moment.node, moment.session, &span, of};
      if (moment.entry.kind == span.begin) {
        open_[key] = &moment;
      } else if (const auto begun = open_.extract(key); !begun.empty()) {
        slices_.push_back({begun.mapped(), moment.time_ns, &span});
      }
    }
  }

  std::string TrackNameOf(const Slice& slice) const {
    const Moment& begin = *slice.begin;
    switch (slice.span->where) {
      case Where::kDevice:
        return absl::StrCat("device stream of ", NameOf(SessionOf(begin)));
      case Where::kRail:
        return absl::StrCat("rail ", PlaceOf(begin));
      case Where::kMember:
        return absl::StrCat("disk: member ", begin.entry.place, " of ",
                            LunOf(SessionOf(begin).recording));
      case Where::kSession:
        break;
    }
    return absl::StrCat(slice.span->name, " of ", NameOf(SessionOf(begin)));
  }

  // What overlaps on one track lies on several of the same name, as slices of a track nest.
  absl::Status AddSlices() {
    std::ranges::stable_sort(slices_, {}, [](const Slice& slice) { return slice.begin->time_ns; });
    std::map<std::pair<uint32_t, std::string>, std::vector<int64_t>> lanes;  // when each is free
    for (const Slice& slice : slices_) {
      const Moment& begin = *slice.begin;
      const std::string name = TrackNameOf(slice);
      std::vector<int64_t>& ends = lanes[{begin.node, name}];
      const auto lane =
          std::ranges::find_if(ends, [&](int64_t end_ns) { return end_ns <= begin.time_ns; });
      const auto index = static_cast<size_t>(lane - ends.begin());
      if (lane == ends.end()) ends.push_back(0);
      ends[index] = slice.end_ns;
      TD_ASSIGN_OR_RETURN(const uint64_t track, TrackFor(begin.node, name, index));
      const std::string session = NameOf(SessionOf(begin));
      TD_RETURN_IF_ERROR(file_.Begin(
          {.track = track,
           .time_ns = begin.time_ns,
           .name = slice.span->name,
           .flow = IsOfBlock(begin.entry.kind) ? ArrowsOf(begin) : 0,
           .notes = {{.name = "session", .text = session},
                     {.name = "block", .number = static_cast<int64_t>(begin.entry.sequence)}}}));
      TD_RETURN_IF_ERROR(file_.End(track, slice.end_ns));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<uint64_t> ThreadTrack(const Moment& moment) {
    const auto [at, fresh] = threads_.emplace(std::pair(moment.node, moment.thread), 0);
    if (!fresh) return at->second;
    at->second = NextTrack();
    const auto& threads = nodes_[moment.node].trace.threads;
    const auto named = std::ranges::find(threads, moment.thread, &flight::ThreadStamps::number);
    TD_RETURN_IF_ERROR(file_.AddThread({at->second, NodeTrack(moment.node), named->thread},
                                       Pid(moment.node), static_cast<int32_t>(at->second)));
    return at->second;
  }

  absl::StatusOr<uint64_t> TrackFor(uint32_t node, const std::string& name, size_t lane = 0) {
    const auto [at, fresh] = tracks_.emplace(std::tuple(node, name, lane), 0);
    if (fresh) {
      at->second = NextTrack();
      TD_RETURN_IF_ERROR(file_.AddTrack({at->second, NodeTrack(node), name}));
    }
    return at->second;
  }

  absl::StatusOr<uint64_t> CounterFor(uint32_t node, const std::string& name) {
    const auto [at, fresh] = counters_.emplace(std::pair(node, name), 0);
    if (fresh) {
      at->second = NextTrack();
      TD_RETURN_IF_ERROR(file_.AddCounter({at->second, NodeTrack(node), name}, "blocks"));
    }
    return at->second;
  }

  // Beyond those of nodes.
  uint64_t NextTrack() { return nodes_.size() + ++made_; }

  using OpenKey = std::tuple<uint32_t, uint32_t, const Span*, uint64_t>;

  const std::vector<NodeTrace>& nodes_;
  const Merged& merged_;
  PerfettoFile& file_;
  uint64_t made_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> threads_;
  std::map<std::tuple<uint32_t, std::string, size_t>, uint64_t> tracks_;
  std::map<std::pair<uint32_t, std::string>, uint64_t> counters_;
  std::map<OpenKey, const Moment*> open_;
  std::vector<Slice> slices_;
};

}  // namespace

absl::Status Draw(const std::vector<NodeTrace>& nodes, const Merged& merged, PerfettoFile& file) {
  return Drawing(nodes, merged, file).Draw();
}

}  // namespace tapedeck::services::timeline
