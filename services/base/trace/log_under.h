// While it lives, the lines that its thread logs carry trace_id and span_id of a span.
#pragma once

#include <array>

#include "dataplane/log_suffix.h"
#include "services/base/trace/context.h"

namespace tapedeck::services::telemetry::trace {

// On one thread. Of a context that is not valid: does nothing.
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
