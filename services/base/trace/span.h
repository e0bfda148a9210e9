// A span: one piece of work in a trace, from its start to its end. Where tracing is off, or the
// trace is not sampled, it only carries the context on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/base/trace/context.h"

namespace tapedeck::services::telemetry::trace {

class Span;
class Tracer;

enum class SpanKind { kInternal, kServer, kClient };

using Value = std::variant<std::string, int64_t, double, bool>;

struct Attribute {
  std::string key;
  Value value;
};

struct SpanEvent {
  int64_t time_ns = 0;  // since the Unix epoch
  std::string name;
  std::vector<Attribute> attributes;
};

// Of one span. What goes beyond is counted instead; longer texts are cut.
inline constexpr size_t kMaxAttributes = 32;
inline constexpr size_t kMaxEvents = 64;
inline constexpr size_t kMaxTextBytes = 512;

// What is told of a span.
struct SpanData {
  TraceContext context;
  SpanId parent = {};  // all zeros: the trace begins here
  std::string name;
  SpanKind kind = SpanKind::kInternal;
  int64_t start_ns = 0;  // since the Unix epoch
  int64_t end_ns = 0;
  std::vector<Attribute> attributes;
  std::vector<SpanEvent> events;
  uint32_t dropped_attributes = 0;
  uint32_t dropped_events = 0;
  absl::Status status;

  // About what it takes in memory and on the wire.
  size_t Bytes() const;
};

// Where in a trace the spans of some work hang: what is handed down to whoever does it. A value;
// the tracer, if there is one, outlives it.
struct Branch {
  Tracer* tracer = nullptr;  // null: tracing is off
  TraceContext above;        // the span above; not valid: none

  Span Start(absl::string_view name, SpanKind kind = SpanKind::kInternal) const;
  // Of what began so long ago.
  Span StartedBefore(int64_t ago_ns, absl::string_view name) const;
};

// Movable. At most one thread at a time. One that is dropped before End ends then, as an error: no
// span stays open, whatever becomes of its work.
class Span {
 public:
  Span() = default;
  // Made by a tracer: `data` is null where nothing is told of it, `began_ns` is by its clock.
  Span(Tracer* tracer, TraceContext context, std::unique_ptr<SpanData> data, int64_t began_ns)
      : tracer_(tracer),
        context_(std::move(context)),
        data_(std::move(data)),
        began_ns_(began_ns) {}
  Span(Span&& other) noexcept = default;
  Span& operator=(Span&& other) noexcept;
  ~Span() { Drop(); }

  // Whether anything is told of it.
  bool recording() const { return data_ != nullptr; }
  const TraceContext& context() const { return context_; }
  // For what is done under it, also once it has ended.
  Branch branch() const { return {.tracer = tracer_, .above = context_}; }

  void Set(absl::string_view key, Value value);
  void AddEvent(absl::string_view name, std::vector<Attribute> attributes = {});
  // Nothing that is done to it later counts.
  void End(const absl::Status& status = absl::OkStatus());

 private:
  void Drop();
  // Since the Unix epoch, never before the start.
  int64_t Now() const;

  Tracer* tracer_ = nullptr;
  TraceContext context_;
  std::unique_ptr<SpanData> data_;  // while it is open, and recorded
  int64_t began_ns_ = 0;            // by the monotonic clock
};

}  // namespace tapedeck::services::telemetry::trace
