#include "services/observe/telemetry/transfers.h"

#include <string>

#include "services/model/words/names.h"

namespace tapedeck::services::telemetry {

void AddTransfers(Page& page, dataplane::Direction direction, const NodeStats& stats) {
  const std::string name = model::LabelOf(direction);
  page.Add("tapedeck_sessions", stats.sessions, {name});
  page.Add("tapedeck_session_blocks_total", stats.blocks, {name});
  page.Add("tapedeck_session_bytes_total", stats.bytes, {name});
  for (size_t i = 0; i < std::size(dataplane::kCounters); ++i) {
    page.Add(MetricId::Counter(i), stats.counters.*dataplane::kCounters[i].member, {name});
  }
  for (const absl::string_view stage : model::kStageWords) {
    const double seconds = static_cast<double>(model::TimeOf(stats.stage_times, stage)) / 1e9;
    page.Add("tapedeck_stage_seconds_total", seconds, {name, stage});
  }
}

}  // namespace tapedeck::services::telemetry
