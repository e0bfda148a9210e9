// Where in a trace something happens, as W3C Trace Context has it: what travels between programs.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "dataplane/log_suffix.h"

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

// Which traces are recorded, as OTEL_TRACES_SAMPLER says. A value. As it is by default: what the
// caller samples, and what begins here.
struct Sampler {
  bool parent_based = true;  // a span does as the one above; else each is looked at by itself
  double ratio = 1;          // of the traces that are looked at: 0 none, 1 all

  // Whether a span of the trace, under `above`, which may be none, is recorded. By the trace's id:
  // every program with the same ratio says the same.
  bool Samples(const TraceContext& above, const TraceId& trace) const;
};

// While it lives, the lines that its thread logs carry trace_id and span_id of a span. On one
// thread. Of a context that is not valid: does nothing.
class LogUnder {
 public:
  explicit LogUnder(const TraceContext& context)
      : text_(context.valid() ? TextOf(context) : Text()),
        suffix_(context.valid() ? absl::string_view(text_.data(), text_.size())
                                : dataplane::LogSuffix::Current()) {}
  LogUnder(const LogUnder&) = delete;
  LogUnder& operator=(const LogUnder&) = delete;

 private:
  using Text = std::array<char, sizeof(" trace_id= span_id=") - 1 + 32 + 16>;
  static Text TextOf(const TraceContext& context);

  const Text text_;
  const dataplane::LogSuffix suffix_;
};

}  // namespace tapedeck::services::telemetry::trace
