#include "services/rpc/otlp/message.h"

#include <string>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "services/base/version.h"

namespace tapedeck::services::telemetry::otlp {

namespace v1 = tapedeck::otlp::v1;

namespace {

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
