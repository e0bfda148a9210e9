#include <algorithm>
#include <map>
#include <utility>

#include "services/observe/timeline/timeline.h"

namespace tapedeck::services::timeline {
namespace {

using flight::ClockSample;
using flight::TrailInfo;

// A session is known to both nodes by the storage node's name for it. A worker says which node that
// is; what comes of one storage node is its own.
std::string KeyOf(const NodeTrace& node, const TrailInfo& trail, size_t index) {
  if (trail.session.empty()) return std::to_string(index) + "/" + trail.job;
  const bool worker = node.trace.role == NodeRole::kWorker;
  return (worker ? trail.storage : node.address) + " " + trail.session;
}

void AddTo(Session& session, const TrailInfo& trail) {
  const auto fill = [](std::string& own, const std::string& text) {
    if (own.empty()) own = text;
  };
  fill(session.name, trail.session);
  fill(session.storage, trail.storage);
  fill(session.job, trail.job);
  fill(session.recording, trail.recording);
  session.playback = session.playback || trail.playback;
  if (session.rails.size() < trail.rails.size()) session.rails = trail.rails;
}

// Which session each node's trails are of.
using Sessions = std::vector<std::map<uint32_t, uint32_t>>;

Sessions FindSessions(const std::vector<NodeTrace>& nodes, std::vector<Session>* out) {
  Sessions sessions(nodes.size());
  std::map<std::string, uint32_t> by_key;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const TrailInfo& trail : nodes[i].trace.trails) {
      const auto next = static_cast<uint32_t>(out->size());
      const auto [at, fresh] = by_key.emplace(KeyOf(nodes[i], trail, i), next);
      if (fresh) out->emplace_back();
      AddTo((*out)[at->second], trail);
      sessions[i][trail.id] = at->second;
    }
  }
  return sessions;
}

// Of node `i`'s clock less the first's, by the first's: what either has measured of the other.
std::vector<ClockSample> SamplesOf(const std::vector<NodeTrace>& nodes, const Sessions& sessions,
                                   size_t i) {
  std::vector<ClockSample> samples;
  const auto shares = [&](size_t node, uint32_t session) {
    return std::ranges::any_of(sessions[node],
                               [&](const auto& entry) { return entry.second == session; });
  };
  for (const TrailInfo& trail : nodes[0].trace.trails) {
    if (!shares(i, sessions[0].at(trail.id))) continue;
    samples.insert(samples.end(), trail.clocks.begin(), trail.clocks.end());
  }
  for (const TrailInfo& trail : nodes[i].trace.trails) {
    if (!shares(0, sessions[i].at(trail.id))) continue;
    for (const ClockSample& sample : trail.clocks) {
      samples.push_back({.at_ns = sample.at_ns + sample.offset_ns,
                         .offset_ns = -sample.offset_ns,
                         .uncertainty_ns = sample.uncertainty_ns});
    }
  }
  return samples;
}

// From a node's clock to the timeline's. Samples are looked for once in a while only: stamps come
// nearly in order, and in between the clocks cannot have drifted by more than a thread's reading.
class Mapping {
 public:
  explicit Mapping(std::vector<ClockSample> samples) : samples_(std::move(samples)) {}

  bool known() const { return !samples_.empty(); }

  int64_t Map(int64_t own_ns) {
    if (!known()) return own_ns;
    if (!cached_ || own_ns < cached_at_ns_ || own_ns - cached_at_ns_ > kCachedNs) {
      cached_ = true;
      cached_at_ns_ = own_ns;
      offset_ = OffsetAtOwn(own_ns);
    }
    return own_ns - offset_.offset_ns;
  }

  // Where the node's own clock says so.
  flight::ClockOffset OffsetAtOwn(int64_t own_ns) const {
    // The offset is known by the other clock, which is found by the offset.
    int64_t at_ns = own_ns - samples_.front().offset_ns;
    for (int i = 0; i < 2; ++i) {
      at_ns = own_ns - flight::OffsetAt(samples_, at_ns).offset_ns;
    }
    return flight::OffsetAt(samples_, at_ns);
  }

  const flight::ClockOffset& offset() const { return offset_; }

 private:
  static constexpr int64_t kCachedNs = 1'000'000;

  const std::vector<ClockSample> samples_;
  bool cached_ = false;
  int64_t cached_at_ns_ = 0;
  flight::ClockOffset offset_;
};

void AddMoments(const NodeTrace& node, uint32_t index, const std::map<uint32_t, uint32_t>& sessions,
                Mapping mapping, NodeClock* clock, std::vector<Moment>* out) {
  clock->known = index == 0 || mapping.known();
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = INT64_MIN;
  for (const flight::ThreadStamps& thread : node.trace.threads) {
    for (const flight::Entry& entry : thread.entries) {
      const auto session = sessions.find(entry.trail);
      if (session == sessions.end()) continue;
      out->push_back({.time_ns = mapping.Map(entry.time_ns),
                      .node = index,
                      .thread = thread.number,
                      .session = session->second,
                      .entry = entry});
      clock->uncertainty_ns = std::max(clock->uncertainty_ns, mapping.offset().uncertainty_ns);
      first_ns = std::min(first_ns, entry.time_ns);
      last_ns = std::max(last_ns, entry.time_ns);
    }
  }
  if (!mapping.known() || first_ns > last_ns) return;
  clock->first = mapping.OffsetAtOwn(first_ns);
  clock->last = mapping.OffsetAtOwn(last_ns);
}

}  // namespace

Merged Merge(const std::vector<NodeTrace>& nodes, size_t most) {
  Merged merged;
  const Sessions sessions = FindSessions(nodes, &merged.sessions);
  merged.clocks.resize(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    AddMoments(nodes[i], static_cast<uint32_t>(i), sessions[i],
               Mapping(i == 0 ? std::vector<ClockSample>() : SamplesOf(nodes, sessions, i)),
               &merged.clocks[i], &merged.moments);
  }
  std::ranges::stable_sort(merged.moments, {}, &Moment::time_ns);
  if (merged.moments.size() > most) {
    merged.left_out = merged.moments.size() - most;
    merged.moments.erase(merged.moments.begin(),
                         merged.moments.begin() + static_cast<ptrdiff_t>(merged.left_out));
  }
  return merged;
}

}  // namespace tapedeck::services::timeline
