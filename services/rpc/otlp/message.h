// Spans as OTLP has them.
#pragma once

#include <vector>

#include "services/base/trace/span.h"
#include "services/base/trace/span_queue.h"
#include "tapedeck/otlp/v1/trace.pb.h"

namespace tapedeck::services::telemetry::otlp {

// Of the program that `resource` names.
tapedeck::otlp::v1::ExportTraceServiceRequest ToProto(const std::vector<trace::Attribute>& resource,
                                                      const trace::SpanBatch& batch);

}  // namespace tapedeck::services::telemetry::otlp
