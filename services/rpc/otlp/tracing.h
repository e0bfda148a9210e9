// All that a program needs to trace, as its settings say.
#pragma once

#include <memory>

#include "dataplane/clock.h"
#include "services/base/trace/settings.h"
#include "services/base/trace/span_queue.h"
#include "services/base/trace/tracer.h"

namespace tapedeck::services::telemetry::otlp {

class Exporter;

// How long a program lives.
enum class Life { kLong, kShort };

// Owned by main, and destroyed after all that has spans: then what has ended is exported, which
// takes a second at most. A short life ends within 200 ms more, and says nothing of what was
// dropped at its end: it would at each call while a collector is silent.
class Tracing {
 public:
  // Logs the settings' warnings.
  explicit Tracing(const trace::Settings& settings, Life life = Life::kLong);
  ~Tracing();

  // Null: tracing is off.
  trace::Tracer* tracer() { return tracer_.get(); }
  // For the page of metrics. Null: the same.
  const trace::SpanQueue* spans() const { return tracer_ == nullptr ? nullptr : &spans_; }

 private:
  const dataplane::SystemClock clock_;
  trace::SpanQueue spans_;
  std::unique_ptr<Exporter> exporter_;
  std::unique_ptr<trace::Tracer> tracer_;
};

}  // namespace tapedeck::services::telemetry::otlp
