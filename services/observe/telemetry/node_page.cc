#include "services/observe/telemetry/node_page.h"

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "services/base/version.h"
#include "services/model/words/names.h"

namespace tapedeck::services::telemetry {
namespace {

void AddLog(Page& page) {
  const dataplane::LogCounts counts = dataplane::CountLogLines();
  for (size_t level = 0; level < counts.lines.size(); ++level) {
    page.Add("tapedeck_log_lines_total", counts.lines[level],
             {dataplane::NameOf(static_cast<dataplane::LogLevel>(level))});
  }
  page.Add("tapedeck_log_lines_left_out_total", counts.left_out);
}

void AddMeter(Page& page, const std::string& rail, const dataplane::RailMeter& meter) {
  page.Add("tapedeck_rail_connections", meter.links_up.load(), {rail});
  page.Add("tapedeck_rail_failures_total", meter.failures.load(), {rail});
  page.Add("tapedeck_rail_waited_for_seconds_total",
           static_cast<double>(meter.waited_for_ns.load()) / 1e9, {rail});
  const auto add = [&](absl::string_view direction, const dataplane::RailMeter::Traffic& traffic) {
    page.Add("tapedeck_rail_blocks_total", traffic.blocks.load(), {rail, direction});
    page.Add("tapedeck_rail_bytes_total", traffic.bytes.load(), {rail, direction});
  };
  add("sent", meter.sent);
  add("received", meter.received);
  page.Add("tapedeck_rail_block_latency_seconds", meter.latency, {rail});
}

}  // namespace

NodePage::NodePage(NodePageSettings settings)
    : settings_(std::move(settings)),
      start_(ProcessStart(settings_.proc,
                          absl::ToDoubleSeconds(dataplane::WallTime() - absl::UnixEpoch()))) {}

std::string NodePage::Make(const std::function<void(Page&)>& add) const {
  Page page;
  page.Add("tapedeck_build_info", 1, {model::LabelOf(settings_.role), kVersion});
  AddProcess(page, settings_.proc);
  page.Add("process_start_time_seconds", start_);
  AddLog(page);
  if (settings_.spans != nullptr) {
    page.Add("tapedeck_trace_spans_exported_total", settings_.spans->exported());
    page.Add("tapedeck_trace_spans_dropped_total", settings_.spans->dropped());
  }
  AddRails(page);
  add(page);
  return page.Text();
}

void NodePage::AddRails(Page& page) const {
  for (const NodeRail& place : settings_.places) {
    const dataplane::RailDescription& rail = place.rail;
    page.Add("tapedeck_rail_info", 1, {rail.name, rail.transport, rail.address, rail.device});
    AddPort(page, rail.name, rail.device, settings_.sysfs);
  }
  for (dataplane::Transport* rail : settings_.rails) {
    AddMeter(page, rail->rail().name, rail->meter());
  }
}

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
