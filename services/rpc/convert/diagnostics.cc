#include "services/rpc/convert/diagnostics.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "dataplane/little_endian.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/rail_spec.h"
#include "services/rpc/convert/codecs.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/message.h"
#include "services/rpc/convert/values/time.h"

namespace tapedeck::services::convert {
namespace {

absl::StatusOr<doctor::PeerRail> PeerOf(const v1::PeerRail& peer) {
  if (peer.name().empty() || peer.name().size() > dataplane::kMaxRailNameBytes) {
    return FieldError("peers.name", "is not a name of a rail");
  }
  // Rails inside one process have none.
  const bool reached = peer.transport() == "tcp" || peer.transport() == "verbs";
  if (reached && !dataplane::ParseIp(peer.address()).has_value()) {
    return FieldError("peers.address", "is not a numeric IP address");
  }
  if (peer.port() > UINT16_MAX) return FieldError("peers.port", "is not a port");
  return doctor::PeerRail{.name = peer.name(),
                          .transport = peer.transport(),
                          .address = peer.address(),
                          .port = static_cast<uint16_t>(peer.port())};
}

using dataplane::flight::EntryOf;
using dataplane::flight::EntryWords;
using dataplane::flight::kEntryWords;
using dataplane::flight::WordsOf;

constexpr size_t kWordBytes = sizeof(uint64_t);
constexpr size_t kStampBytes = kEntryWords * kWordBytes;

std::string BytesOf(const std::vector<flight::Entry>& entries) {
  std::string bytes(entries.size() * kStampBytes, '\0');
  auto* at = reinterpret_cast<std::byte*>(bytes.data());
  for (const flight::Entry& entry : entries) {
    for (const uint64_t word : WordsOf(entry)) {
      dataplane::PutLittleEndian(at, word);
      at += kWordBytes;
    }
  }
  return bytes;
}

absl::StatusOr<std::vector<flight::Entry>> EntriesOf(const std::string& bytes) {
  if (bytes.size() % kStampBytes != 0) {
    return FieldError("trace.threads.stamps", "are not a whole number of stamps");
  }
  std::vector<flight::Entry> entries;
  const auto* at = reinterpret_cast<const std::byte*>(bytes.data());
  for (size_t i = 0; i < bytes.size() / kStampBytes; ++i) {
    EntryWords words;
    for (uint64_t& word : words) {
      word = dataplane::GetLittleEndian<uint64_t>(at);
      at += kWordBytes;
    }
    entries.push_back(EntryOf(words));
  }
  return entries;
}

v1::Trail ToProto(const flight::TrailInfo& trail) {
  v1::Trail out;
  out.set_id(trail.id);
  out.set_session(trail.session);
  out.set_job(trail.job);
  out.set_storage(trail.storage);
  out.set_recording(trail.recording);
  out.set_playback(trail.playback);
  out.set_reads(trail.reads);
  for (const std::string& rail : trail.rails) out.add_rails(rail);
  for (const flight::ClockSample& sample : trail.clocks) {
    v1::ClockSample& wire = *out.add_clocks();
    wire.set_at_ns(sample.at_ns);
    wire.set_offset_ns(sample.offset_ns);
    wire.set_uncertainty_ns(sample.uncertainty_ns);
  }
  return out;
}

flight::TrailInfo FromProto(const v1::Trail& trail) {
  flight::TrailInfo out{.id = trail.id(),
                        .session = trail.session(),
                        .job = trail.job(),
                        .storage = trail.storage(),
                        .recording = trail.recording(),
                        .playback = trail.playback(),
                        .reads = trail.reads(),
                        .rails = {trail.rails().begin(), trail.rails().end()}};
  for (const v1::ClockSample& sample : trail.clocks()) {
    out.clocks.push_back({.at_ns = sample.at_ns(),
                          .offset_ns = sample.offset_ns(),
                          .uncertainty_ns = sample.uncertainty_ns()});
  }
  return out;
}

v1::Trace ToProto(const flight::Trace& trace) {
  v1::Trace out;
  out.set_node(trace.node);
  out.set_role(static_cast<v1::NodeRole>(trace.role));
  out.set_pid(trace.pid);
  out.set_now_ns(trace.now_ns);
  out.set_utc_ns(trace.utc_ns);
  for (const flight::TrailInfo& trail : trace.trails) *out.add_trails() = ToProto(trail);
  for (const flight::ThreadStamps& thread : trace.threads) {
    v1::ThreadStamps& wire = *out.add_threads();
    wire.set_thread(thread.thread);
    wire.set_number(thread.number);
    wire.set_stamps(BytesOf(thread.entries));
    wire.set_missed(thread.missed);
  }
  out.set_threads_without(trace.threads_without);
  for (const std::string& dump : trace.dumps) out.add_dumps(dump);
  out.set_cause(trace.cause);
  return out;
}

absl::StatusOr<flight::Trace> FromProto(const v1::Trace& trace) {
  flight::Trace out{.node = trace.node(),
                    .pid = trace.pid(),
                    .now_ns = trace.now_ns(),
                    .utc_ns = trace.utc_ns(),
                    .threads_without = trace.threads_without(),
                    .dumps = {trace.dumps().begin(), trace.dumps().end()},
                    .cause = trace.cause()};
  // Pages after the first do not say.
  if (trace.role() == v1::NODE_ROLE_WORKER) out.role = NodeRole::kWorker;
  for (const v1::Trail& trail : trace.trails()) out.trails.push_back(FromProto(trail));
  for (const v1::ThreadStamps& thread : trace.threads()) {
    flight::ThreadStamps& stamps = out.threads.emplace_back();
    stamps.thread = thread.thread();
    stamps.number = thread.number();
    TD_ASSIGN_OR_RETURN(stamps.entries, EntriesOf(thread.stamps()));
    stamps.missed = thread.missed();
  }
  return out;
}

}  // namespace

v1::DiagnoseRequest ToProto(const doctor::Request& request) {
  v1::DiagnoseRequest out;
  out.set_measure(request.measure);
  for (const doctor::PeerRail& peer : request.peers) {
    v1::PeerRail& wire = *out.add_peers();
    wire.set_name(peer.name);
    wire.set_transport(peer.transport);
    wire.set_address(peer.address);
    wire.set_port(peer.port);
  }
  return out;
}

absl::StatusOr<doctor::Request> FromProto(const v1::DiagnoseRequest& request) {
  if (static_cast<size_t>(request.peers_size()) > doctor::kMaxPeerRails) {
    return FieldError("peers", absl::StrCat("has more than ", doctor::kMaxPeerRails, " rails"));
  }
  doctor::Request out{.measure = request.measure()};
  for (const v1::PeerRail& peer : request.peers()) {
    TD_ASSIGN_OR_RETURN(out.peers.emplace_back(), PeerOf(peer));
  }
  return out;
}

v1::DiagnoseResponse ToProto(const doctor::Diagnosis& diagnosis) {
  v1::DiagnoseResponse out;
  for (const doctor::Finding& finding : diagnosis.findings) {
    WriteFields(finding, *out.add_findings());
  }
  for (const doctor::RailFacts& rail : diagnosis.rails) WriteFields(rail, *out.add_rails());
  return out;
}

absl::StatusOr<doctor::Diagnosis> FromProto(const v1::DiagnoseResponse& response) {
  doctor::Diagnosis out;
  for (const v1::DoctorFinding& finding : response.findings()) {
    TD_RETURN_IF_ERROR(ReadFields(finding, out.findings.emplace_back()));
  }
  for (const v1::RailFacts& rail : response.rails()) {
    TD_RETURN_IF_ERROR(ReadFields(rail, out.rails.emplace_back()));
  }
  return out;
}

v1::ReadTraceRequest ToProto(const flight::TraceRequest& request) {
  v1::ReadTraceRequest out;
  if (!request.session.empty()) out.set_session(request.session);
  if (!request.job.empty()) out.set_job(request.job);
  if (!request.recording.empty()) out.set_recording(request.recording);
  if (!request.dump.empty()) out.set_dump(request.dump);
  if (request.last_ns > 0) *out.mutable_last() = ToDuration(request.last_ns);
  out.set_page_token(request.page_token);
  return out;
}

absl::StatusOr<flight::TraceRequest> FromProto(const v1::ReadTraceRequest& request) {
  flight::TraceRequest out{.session = request.session(),
                           .job = request.job(),
                           .recording = request.recording(),
                           .dump = request.dump(),
                           .last_ns = FromDuration(request.last()),
                           .page_token = request.page_token()};
  if (request.has_last() && out.last_ns <= 0) return FieldError("last", "must be more than 0");
  return out;
}

v1::ReadTraceResponse ToProto(const flight::TracePage& page) {
  v1::ReadTraceResponse out;
  *out.mutable_trace() = ToProto(page.trace);
  out.set_next_page_token(page.next_page_token);
  return out;
}

absl::StatusOr<flight::TracePage> FromProto(const v1::ReadTraceResponse& response) {
  flight::TracePage page{.next_page_token = response.next_page_token()};
  TD_ASSIGN_OR_RETURN(page.trace, FromProto(response.trace()));
  return page;
}

flight::TraceCodec TraceMessages() {
  return {.encode = [](const flight::Trace& trace) { return ToProto(trace).SerializeAsString(); },
          .decode = [](const std::string& bytes) -> absl::StatusOr<flight::Trace> {
            v1::Trace trace;
            if (!trace.ParseFromString(bytes)) {
              return absl::DataLossError("a part of the dump is not a trace");
            }
            return FromProto(trace);
          }};
}

}  // namespace tapedeck::services::convert
