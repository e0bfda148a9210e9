#include "services/server/dispatch.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "services/convert/status.h"
#include "services/errors.h"
#include "services/telemetry/trace/log_under.h"
#include "services/telemetry/trace/rpc.h"

namespace tapedeck::services::server {

using dataplane::Log;
using dataplane::LogLevel;

namespace trace = telemetry::trace;

namespace {

// Empty where the caller has not sent it.
absl::string_view HeaderOf(const grpc::CallbackServerContext& context, const char* name) {
  const auto found = context.client_metadata().find(name);
  if (found == context.client_metadata().end()) return {};
  return {found->second.data(), found->second.size()};
}

// "luns/{lun}" of a name that may be wrong.
std::string LunOf(absl::string_view resource) {
  constexpr size_t kLongest = 80;  // no LUN's name is longer
  const size_t end = resource.find('/', sizeof("luns/") - 1);
  return std::string(resource.substr(0, std::min(end, kLongest)));
}

}  // namespace

grpc::ServerUnaryReactor* Dispatch::Unary(grpc::CallbackServerContext* context, Method method,
                                          Work work, TracedHandler handler,
                                          absl::string_view resource) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const auto span = std::make_shared<trace::Span>(Begin(*context, method));
  auto call = [this, context, method, work, handler = std::move(handler), reactor, span] {
    const trace::LogUnder log(span->context());
    absl::Status status = Admit(work);
    if (status.ok() && context->IsCancelled()) status = absl::CancelledError("the caller left");
    if (status.ok()) status = handler(span->branch());
    Finish(reactor, Conclude(*context, method, status, *span));
  };
  absl::Status taken;
  if (!resource.empty()) {
    taken = lun_calls_.TryRun(LunOf(resource), std::move(call));
  } else if (work == Work::kNewElsewhere) {
    taken = waiting_threads_.Run(std::move(call));
  } else {
    taken = threads_.Run(std::move(call));
  }
  if (!taken.ok()) Finish(reactor, Conclude(*context, method, taken, *span));
  return reactor;
}

absl::Status Dispatch::Admit(Work work) const {
  if (work == Work::kOther || !draining_) return absl::OkStatus();
  return Draining("the node is shutting down and takes no new work; try again when it is up");
}

trace::Span Dispatch::Begin(const grpc::CallbackServerContext& context, Method method) const {
  const trace::Branch branch{
      .tracer = tracer_,
      .above = trace::ParseTraceContext(HeaderOf(context, trace::kTraceparent),
                                        HeaderOf(context, trace::kTracestate))};
  const std::string name = absl::StrCat(method.service, "/", method.name);
  return trace::StartCall(branch, name, trace::SpanKind::kServer);
}

grpc::Status Dispatch::Conclude(const grpc::CallbackServerContext& context, Method method,
                                const absl::Status& status, trace::Span& span) const {
  const trace::LogUnder log(span.context());
  trace::EndCall(span, status);
  return Conclude(context, method, status);
}

grpc::Status Dispatch::Conclude(const grpc::CallbackServerContext& context, Method method,
                                const absl::Status& status) const {
  if (!status.ok() && !absl::IsCancelled(status)) {
    const auto reason = ReasonOf(status);
    Log(LogLevel::kInfo, "services/server", "call failed",
        {{"method", std::string(method.name)},
         {"peer", context.peer()},
         {"code", absl::StatusCodeToString(status.code())},
         {"reason", reason.has_value() ? reason->reason : ""},
         {"error", std::string(status.message())}});
  }
  return convert::ToGrpc(status);
}

}  // namespace tapedeck::services::server
