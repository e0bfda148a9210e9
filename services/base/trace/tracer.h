// Starts spans, and puts those that have ended where they wait to be exported.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "dataplane/clock.h"
#include "services/base/trace/context.h"
#include "services/base/trace/span.h"
#include "services/base/trace/span_queue.h"

namespace tapedeck::services::telemetry::trace {

// Of a program; owned by its main, which hands it down. Any thread.
class Tracer {
 public:
  // `random` gives the bits of ids and may be called by any thread. The others outlive the tracer.
  Tracer(const Sampler& sampler, const dataplane::Clock& clock, std::function<uint64_t()> random,
         SpanQueue& ended)
      : sampler_(sampler), clock_(clock), random_(std::move(random)), ended_(ended) {}

  // A span under `above`, which may be none, of what began so long ago.
  Span Start(const TraceContext& above, absl::string_view name, SpanKind kind, int64_t ago_ns);

  // For its spans: the clock, and what is told of one that has ended.
  int64_t NowNs() const { return clock_.NowNs(); }
  void Finish(std::unique_ptr<const SpanData> span) { ended_.Put(std::move(span)); }

 private:
  const Sampler sampler_;
  const dataplane::Clock& clock_;
  const std::function<uint64_t()> random_;
  SpanQueue& ended_;
};

}  // namespace tapedeck::services::telemetry::trace
