#include "services/rpc/convert/trace.h"

#include <cstddef>
#include <string>

#include "dataplane/little_endian.h"
#include "dataplane/status_macros.h"
#include "services/rpc/convert/codecs.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/time.h"

namespace tapedeck::services::convert {
namespace {

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
    return FieldError("trace.threads.stamps", "are no whole stamps");
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
              return absl::DataLossError("a part of the dump is no trace");
            }
            return FromProto(trace);
          }};
}

}  // namespace tapedeck::services::convert
