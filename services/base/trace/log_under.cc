#include "services/base/trace/log_under.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace tapedeck::services::telemetry::trace {

LogUnder::Text LogUnder::TextOf(const TraceContext& context) {
  const std::string text =
      absl::StrCat(" trace_id=", Hex(context.trace_id), " span_id=", Hex(context.span_id));
  Text out{};
  std::copy(text.begin(), text.end(), out.begin());
  return out;
}

}  // namespace tapedeck::services::telemetry::trace
