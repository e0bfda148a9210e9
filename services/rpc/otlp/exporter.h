// Hands ended spans to a collector by OTLP over gRPC, on a thread of its own. What the collector
// does not take in time is dropped and counted: nothing waits for it, and nothing piles up.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"
#include "services/base/trace/span.h"
#include "services/base/trace/span_queue.h"

namespace tapedeck::otlp::v1 {
class ExportTraceServiceRequest;
}

namespace tapedeck::services::telemetry::otlp {

struct ExporterSettings {
  std::string endpoint;  // HOST:PORT
  std::vector<trace::Attribute> resource;
  absl::Duration period = absl::Seconds(5);  // a span waits no longer for others to go with it
  // Of one export. Shorter would lose spans to a collector that is busy for a moment.
  absl::Duration deadline = absl::Seconds(5);
  // Of all that is left at the end: who ends a program waits for it.
  absl::Duration flush_deadline = absl::Seconds(1);
  // Whether the log says what was dropped at the end.
  bool tells_at_end = true;
};

// Owned by main.
class Exporter {
 public:
  // `spans` outlives it.
  Exporter(ExporterSettings settings, trace::SpanQueue& spans);
  // Exports what is queued, for the flush deadline at most.
  ~Exporter();

 private:
  class Collector;

  void Work();
  void Export(Collector& collector, const trace::SpanBatch& batch);
  dataplane::Deadline end_of_flush() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Once in a while, of what was dropped since.
  void TellOfDrops();

  const ExporterSettings settings_;
  trace::SpanQueue& spans_;

  mutable absl::Mutex mutex_;
  dataplane::Deadline end_ ABSL_GUARDED_BY(mutex_) = dataplane::Deadline::Never();  // of the flush

  // Of the thread.
  absl::Status last_failure_;
  uint64_t told_drops_ = 0;
  absl::Time told_ = absl::InfinitePast();

  std::thread thread_;
};

// Spans as OTLP has them, of the program that `resource` names.
tapedeck::otlp::v1::ExportTraceServiceRequest ToProto(const std::vector<trace::Attribute>& resource,
                                                      const trace::SpanBatch& batch);

}  // namespace tapedeck::services::telemetry::otlp
