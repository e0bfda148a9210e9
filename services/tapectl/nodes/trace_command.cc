#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/status_macros.h"
#include "services/observe/timeline/timeline.h"
#include "services/site/names.h"
#include "services/site/units.h"
#include "services/tapectl/nodes/trace_sources.h"
#include "services/tapectl/program/commands.h"

namespace tapedeck::services::tapectl {
namespace {

struct TraceOptions {
  std::string target;
  std::string file;
  std::string limit = "256MiB";
  int64_t last_ns = 0;
  std::vector<std::string> dumps;
  bool replace = false;
};

absl::StatusOr<flight::TraceRequest> RequestOf(Program& program, const TraceOptions& options) {
  flight::TraceRequest request{.last_ns = options.last_ns};
  if (absl::StartsWith(options.target, "jobs/")) {
    TD_ASSIGN_OR_RETURN(request.job, JobNameOf(options.target));
  } else if (!options.target.empty()) {
    const auto catalog = program.Catalog();
    TD_ASSIGN_OR_RETURN(const Stream stream,
                        StreamNamed(model::Use::kTrace, {.name = options.target}, *catalog));
    // A session has the name of its first segment, whichever of them is named.
    const Recording& recording = stream.segments.front();
    request.recording = recording.stream.empty() ? stream.name : model::StreamNameOf(recording);
  } else if (options.last_ns == 0) {
    return absl::InvalidArgumentError(
        "name a recording or a job, or give --last (all sessions) or --dump (a failed session)");
  }
  return request;
}

absl::StatusOr<std::vector<TraceSource>> SourcesOf(Program& program, const TraceOptions& options) {
  if (options.dumps.empty()) {
    TD_ASSIGN_OR_RETURN(const flight::TraceRequest request, RequestOf(program, options));
    return TraceNodes(program, request);
  }
  std::vector<TraceSource> sources;
  for (const std::string& dump : options.dumps) {
    TD_ASSIGN_OR_RETURN(TraceSource source, TraceDump(program, dump));
    sources.push_back(std::move(source));
  }
  // The worker's clock is the timeline's, as with nodes.
  std::ranges::stable_sort(sources, {}, [](const TraceSource& source) {
    return source.node.trace.role != NodeRole::kWorker;
  });
  return sources;
}

// From the first stamp to the last. Of a short run it is the more uncertain.
void SetDrift(const timeline::NodeClock& clock, const timeline::Merged& merged, TracedNode* node) {
  if (merged.moments.empty()) return;
  const int64_t over_ns = merged.moments.back().time_ns - merged.moments.front().time_ns;
  if (over_ns <= 0) return;
  const auto ppm = [&](int64_t ns) {
    return static_cast<double>(ns) / static_cast<double>(over_ns) * 1e6;
  };
  node->clock_drift_ppm = ppm(clock.last.offset_ns - clock.first.offset_ns);
  node->clock_drift_uncertainty_ppm = ppm(clock.last.uncertainty_ns + clock.first.uncertainty_ns);
}

TracedNode TracedOf(const TraceSource& source) {
  TracedNode node{.address = source.node.address,
                  .status = source.status,
                  .name = source.node.trace.node,
                  .dumps = source.node.trace.dumps};
  for (const flight::ThreadStamps& thread : source.node.trace.threads) {
    node.stamps += thread.entries.size();
    node.missed += thread.missed;
  }
  return node;
}

// Draws the nodes that answered, and says what it found.
absl::StatusOr<Traced> Collect(const std::vector<TraceSource>& sources,
                               const TraceOptions& options) {
  TD_ASSIGN_OR_RETURN(const uint64_t limit, ParseBytes(options.limit));
  TD_ASSIGN_OR_RETURN(auto file,
                      timeline::PerfettoFile::Create(options.file, options.replace, limit));
  std::vector<timeline::NodeTrace> nodes;
  for (const TraceSource& source : sources) {
    if (source.status.ok()) nodes.push_back(source.node);
  }
  const timeline::Merged merged = timeline::Merge(nodes, limit / timeline::kMaxStampBytes);
  TD_RETURN_IF_ERROR(timeline::Draw(nodes, merged, *file));
  TD_RETURN_IF_ERROR(file->Finish());
  Traced traced{.file = options.file,
                .bytes = file->bytes(),
                .stamps = merged.moments.size(),
                .left_out = merged.left_out};
  for (const timeline::Session& session : merged.sessions) {
    traced.sessions.push_back(session.name.empty() ? session.job : session.name);
  }
  size_t drawn = 0;
  for (const TraceSource& source : sources) {
    TracedNode& node = traced.nodes.emplace_back(TracedOf(source));
    if (!source.status.ok()) continue;
    const timeline::NodeClock& clock = merged.clocks[drawn++];
    node.clock_known = clock.known;
    node.clock_offset_ns = clock.last.offset_ns;
    node.clock_uncertainty_ns = clock.uncertainty_ns;
    SetDrift(clock, merged, &node);
  }
  return traced;
}

std::string MillisecondsText(int64_t ns) {
  return absl::StrFormat("%.3f ms", static_cast<double>(ns) / 1e6);
}

Row RowOf(const TracedNode& node) {
  if (!node.status.ok()) return {node.address, "-", std::string(node.status.message()), "-"};
  return {node.address, absl::StrCat(node.stamps), absl::StrCat(node.missed),
          node.clock_known ? absl::StrCat(MillisecondsText(node.clock_offset_ns), " ± ",
                                          MillisecondsText(node.clock_uncertainty_ns))
                           : "unknown"};
}

absl::Status RunTrace(Program& program, const TraceOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::vector<TraceSource> sources, SourcesOf(program, options));
  TD_ASSIGN_OR_RETURN(const Traced traced, Collect(sources, options));
  std::vector<Row> rows;
  for (const TracedNode& node : traced.nodes) rows.push_back(RowOf(node));
  std::string text = absl::StrCat(traced.stamps, " stamps in ", traced.file, " (",
                                  FormatBytes(traced.bytes), "); open it in ui.perfetto.dev");
  if (traced.left_out > 0) absl::StrAppend(&text, "; ", traced.left_out, " older ones left out");
  program.Print(
      AnswerOf(traced),
      {{.heads = {"NODE", "STAMPS", "OVERWRITTEN", "CLOCK LESS THE FIRST'S"}, .rows = rows},
       {.heads = {text}}});
  return absl::OkStatus();
}

}  // namespace

void AddTraceCommand(Command tapectl, Program& program) {
  auto options = std::make_shared<TraceOptions>();
  const Command command = tapectl.AddCommand(
      "trace", "Write the flight recorders of both nodes as one Perfetto timeline");
  command.AddOption("TARGET", options->target,
                    "RECORDING or jobs/JOB; default all sessions of --last");
  command.AddOption("--to", options->file, "Output file, e.g. run.pftrace").Required();
  command.AddParsed("--last", options->last_ns, ParseDurationNs,
                    "Only events of this time up to now, e.g. 2s");
  command
      .AddOption("--dump", options->dumps,
                 "Dump of a failed session, by its name on a node or a file's path; give both "
                 "nodes' for one timeline")
      .OneEach();
  command
      .AddOption("--limit", options->limit,
                 "Maximum size of the file, e.g. 64MiB; older events are left out")
      .Check([](const std::string& text) { return ParseBytes(text).status(); })
      .ShowDefault();
  command.AddFlag("--replace", options->replace, "Replace an existing file");
  SetRun<TraceOptions>(command, program, "trace", options, RunTrace);
}

}  // namespace tapedeck::services::tapectl
