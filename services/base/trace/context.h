// Where in a trace something happens, as W3C Trace Context has it: what travels between programs.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tapedeck::services::telemetry::trace {

using TraceId = std::array<uint8_t, 16>;
using SpanId = std::array<uint8_t, 8>;
inline constexpr TraceId kNoTrace = {};
inline constexpr SpanId kNoSpan = {};

// A tracestate that is longer is not passed on.
inline constexpr size_t kMaxStateBytes = 512;

// A value. Not valid while either id is all zeros: then there is no trace.
struct TraceContext {
  TraceId trace_id = {};
  SpanId span_id = {};
  bool sampled = false;
  std::string state;  // of others' tracing systems, passed on as it is

  bool valid() const { return trace_id != kNoTrace && span_id != kNoSpan; }
  // The header's value; empty unless valid.
  std::string Traceparent() const;

  bool operator==(const TraceContext&) const = default;
};

// Of any version; not valid unless `traceparent` is what the standard says. A `tracestate` that
// nobody could have sent is left out.
TraceContext ParseTraceContext(absl::string_view traceparent, absl::string_view tracestate);

// Lower case hexadecimal digits.
std::string Hex(const TraceId& id);
std::string Hex(const SpanId& id);

}  // namespace tapedeck::services::telemetry::trace
