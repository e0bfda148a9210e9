// What is told of a call of gRPC, at either end: by OpenTelemetry's conventions for RPC.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/base/trace/span.h"

namespace tapedeck::services::telemetry::trace {

// The headers of W3C Trace Context, as metadata of a call.
inline constexpr char kTraceparent[] = "traceparent";
inline constexpr char kTracestate[] = "tracestate";

// `method` is the full one, "tapedeck.v1.NodeService/GetNode".
inline Span StartCall(const Branch& branch, absl::string_view method, SpanKind kind) {
  Span span = branch.Start(method, kind);
  if (!span.recording()) return span;
  span.Set("rpc.system.name", "grpc");
  span.Set("rpc.method", std::string(method));
  return span;
}

inline void EndCall(Span& span, const absl::Status& status) {
  if (!span.recording()) return;
  span.Set("rpc.response.status_code", absl::StatusCodeToString(status.code()));
  span.End(status);
}

}  // namespace tapedeck::services::telemetry::trace
