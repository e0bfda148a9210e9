// A tracer for tests: its ids are counted, its clock stands until it is moved, and what has ended
// can be looked at.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "services/base/trace/tracer.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::services::telemetry::trace {

struct Traced {
  Branch root() { return {.tracer = &tracer}; }
  // All that have ended since.
  SpanBatch Take() { return spans.Take(absl::ZeroDuration()); }

  std::atomic<uint64_t> numbers = 0;
  storage_node::ManualClock clock;
  SpanQueue spans;
  Tracer tracer{Sampler(), clock, [this] { return (numbers += 2) << 8; }, spans};
};

// Null if there is none of that name.
inline const SpanData* Named(const SpanBatch& spans, absl::string_view name) {
  for (const auto& span : spans) {
    if (span->name == name) return span.get();
  }
  return nullptr;
}

inline std::vector<std::string> NamesOf(const SpanBatch& spans) {
  std::vector<std::string> names;
  for (const auto& span : spans) names.push_back(span->name);
  return names;
}

}  // namespace tapedeck::services::telemetry::trace
