#include "services/base/trace/tracer.h"

#include <cstring>
#include <utility>

namespace tapedeck::services::telemetry::trace {

Span Tracer::Start(const TraceContext& above, absl::string_view name, SpanKind kind,
                   int64_t ago_ns) {
  TraceContext context = above;
  if (!above.valid()) {
    const uint64_t numbers[2] = {random_() | 1, random_()};  // never all zeros
    std::memcpy(context.trace_id.data(), numbers, sizeof(numbers));
  }
  const uint64_t number = random_() | 1;
  std::memcpy(context.span_id.data(), &number, sizeof(number));
  context.sampled = sampler_.Samples(above, context.trace_id);
  // Whoever is asked next shall know what was decided, and by whom.
  if (!context.sampled) return Span(this, std::move(context), nullptr, 0);
  auto data = std::make_unique<SpanData>();
  data->context = context;
  if (above.valid()) data->parent = above.span_id;
  data->name = std::string(name.substr(0, kMaxTextBytes));
  data->kind = kind;
  data->start_ns = clock_.WallNs() - ago_ns;
  return Span(this, std::move(context), std::move(data), clock_.NowNs() - ago_ns);
}

}  // namespace tapedeck::services::telemetry::trace
