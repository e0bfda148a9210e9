#include "storage_node/node/metrics.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "services/observe/telemetry/node_page.h"

namespace tapedeck::storage_node::node {
namespace {

using services::telemetry::Page;

constexpr double kNever = std::numeric_limits<double>::infinity();

// Of the recordings of one LUN that are being written.
struct Open {
  uint64_t recordings = 0;
  int64_t waiting_since_ns = 0;  // 0: all that is written is durable
};

std::map<std::string, Open> OpenByLun(recordings::Recordings& recordings) {
  std::map<std::string, Open> open;
  for (const auto& [name, live] : recordings.live().All()) {
    const auto parsed = catalog::ParseRecordingName(name);
    if (!parsed.ok()) continue;
    Open& lun = open[parsed->lun];
    ++lun.recordings;
    const int64_t since_ns = live->waiting_since_ns;
    if (since_ns == 0) continue;
    lun.waiting_since_ns =
        lun.waiting_since_ns == 0 ? since_ns : std::min(lun.waiting_since_ns, since_ns);
  }
  return open;
}

void AddCapacity(Page& page, const std::string& id, const luns::LunFigures& lun) {
  const uint64_t limit = lun.capacity->limit();
  const uint64_t used = lun.capacity->used();
  page.Add("tapedeck_lun_used_bytes", used, {id});
  page.Add("tapedeck_lun_capacity_bytes", limit == 0 ? kNever : static_cast<double>(limit), {id});
  if (lun.config->full_policy == services::FullPolicy::kRing) return;
  const double rate = lun.meter->bytes_per_s;
  const auto left = static_cast<double>(limit - std::min(limit, used));
  page.Add("tapedeck_lun_time_until_full_seconds", limit == 0 || rate <= 0 ? kNever : left / rate,
           {id});
}

void AddMeter(Page& page, const std::string& id, const recording::LunMeter& meter) {
  page.Add("tapedeck_lun_written_blocks_total", meter.written_blocks.load(), {id});
  page.Add("tapedeck_lun_written_bytes_total", meter.written_bytes.load(), {id});
  page.Add("tapedeck_lun_commit_latency_seconds", meter.commit_latency, {id});
  page.Add("tapedeck_lun_failed_flushes_total", meter.failed_flushes.load(), {id});
  page.Add("tapedeck_lun_scrubbed_blocks_total", meter.scrubbed_blocks.load(), {id});
  page.Add("tapedeck_lun_damaged_blocks_total", meter.damaged_by_scrub.load(), {id, "scrub"});
  page.Add("tapedeck_lun_damaged_blocks_total", meter.damaged_in_playback.load(), {id, "playback"});
  page.Add("tapedeck_lun_repaired_blocks_total", meter.repaired_by_scrub.load(), {id});
  page.Add("tapedeck_lun_moved_recordings_total", meter.moved_recordings.load(), {id});
  page.Add("tapedeck_lun_moved_bytes_total", meter.moved_bytes.load(), {id});
  page.Add("tapedeck_lun_failed_moves_total", meter.failed_moves.load(), {id});
}

void AddOpen(Page& page, const std::string& id, const Open& open, int64_t now_ns) {
  page.Add("tapedeck_lun_recordings_open", open.recordings, {id});
  const int64_t age_ns =
      open.waiting_since_ns == 0 ? 0 : std::max<int64_t>(0, now_ns - open.waiting_since_ns);
  page.Add("tapedeck_lun_watermark_age_seconds", static_cast<double>(age_ns) / 1e9, {id});
}

}  // namespace

void AddSessions(Page& page, const services::session::Registry& registry) {
  for (const auto direction : dataplane::kDirections) {
    services::telemetry::AddTransfers(page, direction, registry.stats(direction));
  }
  const services::NodeStats stats = registry.stats();
  page.Add("tapedeck_sessions_opened_total", stats.sessions_opened);
  page.Add("tapedeck_sessions_refused_total", registry.refused());
  page.Add("tapedeck_ring_bytes", stats.ring_bytes);
}

void AddLuns(Page& page, recordings::Recordings& recordings,
             const std::map<std::string, uint64_t>& moves_waiting) {
  luns::Luns& luns = recordings.luns();
  const auto counts = recordings.catalog()->Counts();
  const auto open = OpenByLun(recordings);
  auto waiting = luns.queues().Busy();
  for (const auto& [id, tasks] : luns.upkeep().Busy()) waiting[id] += tasks;
  const auto add_any = [&](const std::string& id, bool online, bool standby) {
    page.Add("tapedeck_lun_online", online, {id});
    page.Add("tapedeck_lun_standby", standby, {id});
    const auto count = counts.find(id);
    page.Add("tapedeck_lun_recordings", count == counts.end() ? 0 : count->second, {id});
    const auto tasks = waiting.find(id);
    page.Add("tapedeck_lun_tasks_waiting", tasks == waiting.end() ? 0 : tasks->second, {id});
  };
  for (const auto& [id, lun] : luns.Figures()) {
    add_any(id, true, false);
    page.Add("tapedeck_lun_degraded", lun.health != nullptr && !lun.health->lacking().ok(), {id});
    AddCapacity(page, id, lun);
    AddMeter(page, id, *lun.meter);
    const auto moves = moves_waiting.find(id);
    page.Add("tapedeck_lun_moves_waiting", moves == moves_waiting.end() ? 0 : moves->second, {id});
    const auto written = open.find(id);
    AddOpen(page, id, written == open.end() ? Open() : written->second, luns.clock().NowNs());
  }
  for (const auto& [id, lun] : luns.Offline()) add_any(id, false, lun.standby);
}

}  // namespace tapedeck::storage_node::node
