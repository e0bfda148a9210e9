#include "services/rpc/otlp/exporter.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/printable.h"
#include "services/base/version.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/convert/values/status.h"
#include "tapedeck/otlp/v1/trace.pb.h"

namespace tapedeck::services::telemetry::otlp {

namespace v1 = tapedeck::otlp::v1;

namespace {

constexpr char kExport[] = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

constexpr absl::Duration kTellEvery = absl::Minutes(1);

// One call. gRPC tells its end on a thread of its own.
class ExportCall {
 public:
  using Service =
      grpc::TemplatedGenericStub<v1::ExportTraceServiceRequest, v1::ExportTraceServiceResponse>;

  ExportCall(Service& service, const v1::ExportTraceServiceRequest& request,
             dataplane::Deadline end) {
    context_.set_deadline(absl::ToChronoTime(dataplane::WallTime() + end.left()));
    service.UnaryCall(&context_, kExport, grpc::StubOptions(), &request, &response_,
                      [this](grpc::Status status) { OnEnd(std::move(status)); });
  }

  // Waits; at `end()`, which may come nearer meanwhile, the call is given up.
  template <typename End>
  absl::Status Await(End end) {
    absl::MutexLock lock(&mutex_);
    while (!dataplane::AwaitFor(mutex_, absl::Condition(&ended_), absl::Milliseconds(50))) {
      if (end().passed()) context_.TryCancel();
    }
    return convert::FromGrpc(status_);
  }

  // Those that the collector refuses of what it took.
  uint64_t rejected() const {
    return static_cast<uint64_t>(
        std::max<int64_t>(0, response_.partial_success().rejected_spans()));
  }
  const std::string& why() const { return response_.partial_success().error_message(); }

 private:
  void OnEnd(grpc::Status status) {
    absl::MutexLock lock(&mutex_);
    status_ = std::move(status);
    ended_ = true;
  }

  grpc::ClientContext context_;
  v1::ExportTraceServiceResponse response_;
  absl::Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);
};

using Attributes = google::protobuf::RepeatedPtrField<v1::KeyValue>;

// Texts of protobuf are UTF-8, and a collector refuses a whole batch for one that is not. A byte
// that belongs to no printable character becomes a question mark.
std::string Utf8(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t bytes = dataplane::PrintableBytes(text);
    out.append(bytes == 0 ? "?" : std::string(text.substr(0, bytes)));
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

template <size_t N>
std::string Bytes(const std::array<uint8_t, N>& id) {
  return {reinterpret_cast<const char*>(id.data()), N};
}

v1::AnyValue ToProto(const trace::Value& value) {
  v1::AnyValue out;
  const auto set = [&out](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    if constexpr (std::is_same_v<Of, std::string>) out.set_string_value(Utf8(of));
    if constexpr (std::is_same_v<Of, int64_t>) out.set_int_value(of);
    if constexpr (std::is_same_v<Of, double>) out.set_double_value(of);
    if constexpr (std::is_same_v<Of, bool>) out.set_bool_value(of);
  };
  std::visit(set, value);
  return out;
}

void Add(const std::vector<trace::Attribute>& attributes, Attributes* out) {
  for (const trace::Attribute& attribute : attributes) {
    v1::KeyValue* const entry = out->Add();
    entry->set_key(Utf8(attribute.key));
    *entry->mutable_value() = ToProto(attribute.value);
  }
}

v1::Span::SpanKind ToProto(trace::SpanKind kind) {
  switch (kind) {
    case trace::SpanKind::kServer:
      return v1::Span::SPAN_KIND_SERVER;
    case trace::SpanKind::kClient:
      return v1::Span::SPAN_KIND_CLIENT;
    case trace::SpanKind::kInternal:
      break;
  }
  return v1::Span::SPAN_KIND_INTERNAL;
}

void Fill(const trace::SpanData& span, v1::Span* out) {
  out->set_trace_id(Bytes(span.context.trace_id));
  out->set_span_id(Bytes(span.context.span_id));
  out->set_trace_state(Utf8(span.context.state));
  if (span.parent != trace::kNoSpan) out->set_parent_span_id(Bytes(span.parent));
  out->set_name(Utf8(span.name));
  out->set_kind(ToProto(span.kind));
  out->set_start_time_unix_nano(static_cast<uint64_t>(span.start_ns));
  out->set_end_time_unix_nano(static_cast<uint64_t>(span.end_ns));
  Add(span.attributes, out->mutable_attributes());
  out->set_dropped_attributes_count(span.dropped_attributes);
  for (const trace::SpanEvent& event : span.events) {
    v1::Span::Event* const entry = out->add_events();
    entry->set_time_unix_nano(static_cast<uint64_t>(event.time_ns));
    entry->set_name(Utf8(event.name));
    Add(event.attributes, entry->mutable_attributes());
  }
  out->set_dropped_events_count(span.dropped_events);
  if (span.status.ok()) return;
  out->mutable_status()->set_code(v1::Status::STATUS_CODE_ERROR);
  out->mutable_status()->set_message(Utf8(
      absl::StrCat(absl::StatusCodeToString(span.status.code()), ": ", span.status.message())));
}

}  // namespace

// The connection. Made and destroyed on the exporter's thread.
class Exporter::Collector {
 public:
  explicit Collector(const std::string& endpoint)
      : channel_(client::MakeChannel(endpoint)), service_(channel_.channel) {
    // A program that ends soon has no time left to connect then.
    channel_.channel->GetState(/*try_to_connect=*/true);
  }
  ExportCall::Service& service() { return service_; }

 private:
  const client::Channel channel_;
  ExportCall::Service service_;
};

Exporter::Exporter(ExporterSettings settings, trace::SpanQueue& spans)
    : settings_(std::move(settings)), spans_(spans), thread_([this] { Work(); }) {}

Exporter::~Exporter() {
  {
    absl::MutexLock lock(&mutex_);
    end_ = dataplane::Deadline::In(settings_.flush_deadline);
  }
  spans_.Close();
  thread_.join();
}

void Exporter::Work() {
  Collector collector(settings_.endpoint);
  while (true) {
    const trace::SpanBatch batch = spans_.Take(settings_.period);
    if (!batch.empty()) Export(collector, batch);
    if (settings_.tells_at_end || !spans_.closed()) TellOfDrops();
    if (batch.empty() && spans_.closed()) return;
  }
}

void Exporter::Export(Collector& collector, const trace::SpanBatch& batch) {
  const auto deadline = dataplane::Deadline::In(settings_.deadline);
  const auto end = [&] { return std::min(deadline, end_of_flush()); };
  absl::Status status = absl::DeadlineExceededError("the program ends");
  uint64_t taken = 0;
  if (!end().passed()) {
    const v1::ExportTraceServiceRequest request = ToProto(settings_.resource, batch);
    ExportCall call(collector.service(), request, end());
    status = call.Await(end);
    if (status.ok()) {
      taken = batch.size() - std::min<uint64_t>(batch.size(), call.rejected());
      if (taken < batch.size()) status = absl::InvalidArgumentError(call.why());
    }
  }
  spans_.CountExported(taken);
  spans_.CountDropped(batch.size() - taken);
  if (!status.ok()) last_failure_ = status;
}

dataplane::Deadline Exporter::end_of_flush() const {
  absl::MutexLock lock(&mutex_);
  return end_;
}

void Exporter::TellOfDrops() {
  const uint64_t drops = spans_.dropped();
  if (drops == told_drops_ || dataplane::SteadyTime() - told_ < kTellEvery) return;
  dataplane::Log(dataplane::LogLevel::kWarning, "trace", "spans dropped",
                 {{"spans", absl::StrCat(drops - told_drops_)},
                  {"collector", settings_.endpoint},
                  {"last_failure", std::string(last_failure_.message())}});
  told_drops_ = drops;
  told_ = dataplane::SteadyTime();
}

v1::ExportTraceServiceRequest ToProto(const std::vector<trace::Attribute>& resource,
                                      const trace::SpanBatch& batch) {
  v1::ExportTraceServiceRequest request;
  v1::ResourceSpans* const program = request.add_resource_spans();
  Add(resource, program->mutable_resource()->mutable_attributes());
  v1::ScopeSpans* const scope = program->add_scope_spans();
  scope->mutable_scope()->set_name("tapedeck");
  scope->mutable_scope()->set_version(kVersion);
  for (const auto& span : batch) Fill(*span, scope->add_spans());
  return request;
}

}  // namespace tapedeck::services::telemetry::otlp
