#include "services/base/trace/context.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace tapedeck::services::telemetry::trace {
namespace {

// VERSION-TRACE_ID-SPAN_ID-FLAGS in hexadecimal digits; later versions may go on after another '-'.
constexpr size_t kTraceIdAt = 3;
constexpr size_t kSpanIdAt = 36;
constexpr size_t kFlagsAt = 53;
constexpr size_t kBytes = 55;

template <size_t N>
std::string HexOf(const std::array<uint8_t, N>& id) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(id.data()), N});
}

template <size_t N>
void SetTo(absl::string_view hex, std::array<uint8_t, N>& id) {
  const std::string bytes = absl::HexStringToBytes(hex.substr(0, 2 * N));
  std::copy(bytes.begin(), bytes.end(), id.begin());
}

bool HasForm(absl::string_view text) {
  if (text.size() < kBytes || (text.size() > kBytes && text[kBytes] != '-')) return false;
  for (size_t i = 0; i < kBytes; ++i) {
    const bool dash = i + 1 == kTraceIdAt || i + 1 == kSpanIdAt || i + 1 == kFlagsAt;
    const bool digit = absl::ascii_isdigit(text[i]) || (text[i] >= 'a' && text[i] <= 'f');
    if (dash ? text[i] != '-' : !digit) return false;
  }
  const absl::string_view version = text.substr(0, 2);
  return version != "ff" && (version != "00" || text.size() == kBytes);
}

}  // namespace

std::string Hex(const TraceId& id) { return HexOf(id); }
std::string Hex(const SpanId& id) { return HexOf(id); }

std::string TraceContext::Traceparent() const {
  if (!valid()) return "";
  return absl::StrCat("00-", Hex(trace_id), "-", Hex(span_id), sampled ? "-01" : "-00");
}

TraceContext ParseTraceContext(absl::string_view traceparent, absl::string_view tracestate) {
  TraceContext context;
  if (!HasForm(traceparent)) return context;
  SetTo(traceparent.substr(kTraceIdAt), context.trace_id);
  SetTo(traceparent.substr(kSpanIdAt), context.span_id);
  if (!context.valid()) return TraceContext();
  const std::string flags = absl::HexStringToBytes(traceparent.substr(kFlagsAt, 2));
  context.sampled = (flags[0] & 1) != 0;
  if (tracestate.size() <= kMaxStateBytes &&
      std::all_of(tracestate.begin(), tracestate.end(), absl::ascii_isprint)) {
    context.state = std::string(tracestate);
  }
  return context;
}

bool Sampler::Samples(const TraceContext& above, const TraceId& trace) const {
  if (parent_based && above.valid()) return above.sampled;
  // OpenTelemetry's TraceIdRatioBased, as most of its libraries have it: of the last 8 bytes the
  // upper 63 bits.
  uint64_t number = 0;
  for (size_t i = 8; i < trace.size(); ++i) number = number << 8 | trace[i];
  return ratio >= 1 || static_cast<double>(number >> 1) < std::ldexp(ratio, 63);
}

LogUnder::Text LogUnder::TextOf(const TraceContext& context) {
  const std::string text =
      absl::StrCat(" trace_id=", Hex(context.trace_id), " span_id=", Hex(context.span_id));
  Text out{};
  std::copy(text.begin(), text.end(), out.begin());
  return out;
}

}  // namespace tapedeck::services::telemetry::trace
