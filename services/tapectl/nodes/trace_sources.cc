#include "services/tapectl/nodes/trace_sources.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/observe/flight/dump_file.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/node_client.h"
#include "services/rpc/convert/codecs.h"

namespace tapedeck::services::tapectl {
namespace {

using flight::Trace;
using flight::TraceRequest;
using flight::TrailInfo;

// Storage nodes that one worker's sessions may be of: more are left out.
constexpr size_t kMaxStorageNodes = 8;

void Append(Trace&& more, Trace& trace) {
  std::ranges::move(more.trails, std::back_inserter(trace.trails));
  std::ranges::move(more.threads, std::back_inserter(trace.threads));
}

absl::StatusOr<Trace> Ask(const Program& program, const std::string& address,
                          const TraceRequest& request) {
  return client::ReadTrace(client::MakeChannel(address, {}, program.credentials),
                           program.call_timeout(), request);
}

// A worker's job is none of the storage node's words: that is asked for the job's sessions.
absl::StatusOr<Trace> AskStorage(const Program& program, const std::string& address,
                                 const TraceRequest& request,
                                 const std::set<std::string>& sessions) {
  if (request.job.empty()) return Ask(program, address, request);
  absl::StatusOr<Trace> all;
  for (const std::string& session : sessions) {
    TD_ASSIGN_OR_RETURN(Trace one,
                        Ask(program, address, {.session = session, .last_ns = request.last_ns}));
    if (all.ok()) {
      Append(std::move(one), *all);
    } else {
      all = std::move(one);
    }
  }
  return all;
}

// By the storage node that the worker knows.
std::map<std::string, std::set<std::string>> SessionsOf(const Program& program,
                                                        const TraceSource& worker) {
  std::map<std::string, std::set<std::string>> by_storage;
  for (const TrailInfo& trail : worker.node.trace.trails) {
    if (trail.session.empty()) continue;
    if (by_storage.size() < kMaxStorageNodes || by_storage.contains(trail.storage)) {
      by_storage[trail.storage].insert(trail.session);
    }
  }
  if (by_storage.empty()) by_storage[program.storage];
  return by_storage;
}

TraceSource SourceOf(const std::string& address, absl::StatusOr<Trace> trace) {
  TraceSource source{.node = {.address = address}, .status = trace.status()};
  if (trace.ok()) source.node.trace = *std::move(trace);
  return source;
}

absl::StatusOr<Trace> ReadDumpFile(const std::string& path) {
  const flight::TraceCodec codec = convert::TraceMessages();
  Trace whole;
  uint64_t at = 0;
  do {
    TD_ASSIGN_OR_RETURN(const flight::DumpPart part, flight::ReadDumpPart(path, at));
    TD_ASSIGN_OR_RETURN(Trace some, codec.decode(part.bytes));
    if (at == 0) {
      whole = std::move(some);
    } else {
      Append(std::move(some), whole);
    }
    at = part.next;
  } while (at != 0);
  return whole;
}

}  // namespace

absl::StatusOr<std::vector<TraceSource>> TraceNodes(const Program& program,
                                                    const TraceRequest& request) {
  std::vector<TraceSource> sources = {
      SourceOf(program.worker, Ask(program, program.worker, request))};
  for (const auto& [address, sessions] : SessionsOf(program, sources.front())) {
    auto trace = AskStorage(program, address, request, sessions);
    // The worker's name for the node may be one that is not known here.
    if (absl::IsUnavailable(trace.status()) && address != program.storage) {
      trace = AskStorage(program, program.storage, request, sessions);
    }
    sources.push_back(SourceOf(address, std::move(trace)));
  }
  const auto knows = [](const TraceSource& source) { return !source.node.trace.trails.empty(); };
  if (std::ranges::any_of(sources, knows)) return sources;
  for (const TraceSource& source : sources) TD_RETURN_IF_ERROR(source.status);
  return absl::NotFoundError(
      "the flight recorders of both nodes have no events of it: they keep the last seconds since "
      "the nodes started");
}

absl::StatusOr<TraceSource> TraceDump(const Program& program, const std::string& dump) {
  if (dump.find('/') != std::string::npos) {
    TD_ASSIGN_OR_RETURN(Trace trace, ReadDumpFile(dump));
    return SourceOf(dump, std::move(trace));
  }
  TraceSource source = SourceOf(program.storage, Ask(program, program.storage, {.dump = dump}));
  if (source.status.ok()) return source;
  auto trace = Ask(program, program.worker, {.dump = dump});
  if (!trace.ok()) return source.status;
  return SourceOf(program.worker, std::move(trace));
}

}  // namespace tapedeck::services::tapectl
