#include "services/rpc/server/dispatch.h"

#include <grpcpp/security/auth_context.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/trace/context.h"
#include "services/base/trace/rpc.h"
#include "services/rpc/convert/values/status.h"
#include "services/rpc/identity/caller.h"
#include "services/rpc/identity/methods.h"

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

grpc::ServerUnaryReactor* Dispatch::Unary(grpc::CallbackServerContext* context,
                                          const google::protobuf::Message& request, Method method,
                                          Work work, CallHandler handler,
                                          absl::string_view resource) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const auto span = std::make_shared<trace::Span>(Begin(*context, method));
  absl::StatusOr<identity::Access> access = Enter(*context, method, request);
  absl::Status status = access.status();
  if (status.ok()) {
    const std::string caller = access->who().empty() ? context->peer() : access->who();
    auto call = [this, context, method, work, handler = std::move(handler), reactor, span,
                 access = *std::move(access)] {
      const trace::LogUnder log(span->context());
      absl::Status status = Admit(work);
      if (status.ok() && context->IsCancelled()) status = absl::CancelledError("the caller left");
      if (status.ok()) status = handler({span->branch(), access});
      Finish(*context, reactor, Conclude(*context, method, status, *span));
    };
    status = Begin(std::move(call), work, resource, caller);
  }
  if (!status.ok()) Finish(*context, reactor, Conclude(*context, method, status, *span));
  return reactor;
}

absl::Status Dispatch::Begin(std::function<void()> call, Work work, absl::string_view resource,
                             const std::string& caller) {
  if (work == Work::kNewView) return view_calls_.TryRun(LunOf(resource), std::move(call), caller);
  if (!resource.empty()) return lun_calls_.TryRun(LunOf(resource), std::move(call));
  ThreadPool& threads = work == Work::kNewElsewhere ? waiting_threads_ : threads_;
  return threads.Run(std::move(call));
}

absl::StatusOr<identity::Caller> Dispatch::CallerOf(
    const grpc::CallbackServerContext& context) const {
  const grpc::AuthContext& connection = *context.auth_context();
  const absl::string_view token = HeaderOf(context, identity::kCallerTokenKey);
  // A connection that came over a network has a certificate here, and speaks for that alone.
  if (!connection.IsPeerAuthenticated() && !token.empty()) return caller_tokens_.Read(token);
  if (!token.empty()) {
    return identity::AccessDenied({},
                                  "a call from outside this process has a token of this process");
  }
  return identity::CallerOf(connection, HeaderOf(context, identity::kActingForKey));
}

std::string Dispatch::NameOf(const grpc::CallbackServerContext& context) const {
  if (gate_ == nullptr) return "";
  const auto caller = CallerOf(context);
  return caller.ok() ? caller->peer : "";
}

absl::StatusOr<identity::Access> Dispatch::Enter(const grpc::CallbackServerContext& context,
                                                 Method method,
                                                 const google::protobuf::Message& request) const {
  if (gate_ == nullptr) return identity::Access();
  TD_ASSIGN_OR_RETURN(identity::Caller caller, CallerOf(context));
  TD_RETURN_IF_ERROR(gate_->Count(caller.peer));
  const identity::Right* right = identity::FindRight(method.service, method.name);
  if (right == nullptr) {
    return identity::AccessDenied({}, absl::StrCat(method.name, " has no right of its own"));
  }
  std::string resource = identity::ResourceOf(right->resource, request);
  TD_RETURN_IF_ERROR(gate_->Admit(caller, *right, resource));
  if (!caller.acting_for.empty()) TD_RETURN_IF_ERROR(gate_->Count(caller.acting_for));
  return identity::Access(*gate_, std::move(caller), *right, std::move(resource));
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
  // The gate has logged what it refused.
  if (!status.ok() && !absl::IsCancelled(status) && !identity::IsAccessDenied(status)) {
    const auto reason = ReasonOf(status);
    Log(LogLevel::kInfo, "services/server", "call failed",
        {{"method", std::string(method.name)},
         {"peer", context.peer()},
         {"identity", NameOf(context)},
         {"code", absl::StatusCodeToString(status.code())},
         {"reason", reason.has_value() ? reason->reason : ""},
         {"error", std::string(status.message())}});
  }
  return convert::ToGrpc(status);
}

}  // namespace tapedeck::services::server
