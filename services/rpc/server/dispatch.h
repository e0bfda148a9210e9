// The one path that every call takes: whether its caller may make it, admission while the server
// drains, a thread for its handler, and the mapping of results to gRPC with a log line for each
// failure. gRPC's own threads also carry the sessions' control streams and keepalive, so no handler
// that waits may hold one.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/base/threads/thread_pool.h"
#include "services/base/trace/tracer.h"
#include "services/rpc/identity/access.h"
#include "services/rpc/identity/caller_tokens.h"
#include "services/rpc/server/keyed_calls.h"
#include "services/rpc/server/refusal_pace.h"

namespace tapedeck::services::server {

// New work is refused while the server drains; looking at and ending work goes on. What waits for
// other machines has threads of its own, so that it holds up nothing else; so has what reads a part
// of a recording, one call of a LUN at a time.
enum class Work { kNew, kNewElsewhere, kNewView, kOther };

// What is called: "tapedeck.v1.NodeService" and "GetNode". Both are literals.
struct Method {
  absl::string_view service;
  absl::string_view name;
};

// A call, for its handler.
struct Call {
  telemetry::trace::Branch trace;  // what it does is told of under this
  identity::Access access;
};

// Owned by the Server, which stops all calls before it goes. Any thread.
class Dispatch {
 public:
  using Handler = std::function<absl::Status()>;
  using CallHandler = std::function<absl::Status(const Call&)>;

  // `tracer` and `gate` may be null, and outlive the calls. Without a gate everybody may do
  // everything.
  Dispatch(telemetry::trace::Tracer* tracer, identity::Gate* gate,
           identity::CallerTokens caller_tokens)
      : tracer_(tracer), gate_(gate), caller_tokens_(std::move(caller_tokens)) {}

  // What calls from within the process say with whose they are.
  const identity::CallerTokens& caller_tokens() const { return caller_tokens_; }

  // Runs `handler` on a call thread and finishes the call with its status, if the caller may make
  // it; a caller that may not takes no thread.
  // `resource` is the name of what the disks of a LUN may keep it waiting for: such calls wait for
  // those of the same LUN, and for no others. Empty: it does not wait.
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where too many calls wait: for a thread, for other machines
  // or for a LUN; or no thread can be made.
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context,
                                  const google::protobuf::Message& request, Method method,
                                  Work work, CallHandler handler, absl::string_view resource = "");
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context,
                                  const google::protobuf::Message& request, Method method,
                                  Work work, Handler handler, absl::string_view resource = "") {
    return Unary(
        context, request, method, work,
        [handler = std::move(handler)](const Call&) { return handler(); }, resource);
  }

  // What the caller may do. PERMISSION_DENIED (ACCESS_DENIED) if not this, and RESOURCE_EXHAUSTED
  // (LIMIT_REACHED) if it calls too often.
  absl::StatusOr<identity::Access> Enter(const grpc::CallbackServerContext& context, Method method,
                                         const google::protobuf::Message& request) const;

  // UNAVAILABLE (DRAINING) if `work` may not start now.
  absl::Status Admit(Work work) const;

  // The span of a call, under that of its caller.
  telemetry::trace::Span Begin(const grpc::CallbackServerContext& context, Method method) const;

  // The call's final status for gRPC; failures are logged.
  grpc::Status Conclude(const grpc::CallbackServerContext& context, Method method,
                        const absl::Status& status) const;
  // And the end of its span.
  grpc::Status Conclude(const grpc::CallbackServerContext& context, Method method,
                        const absl::Status& status, telemetry::trace::Span& span) const;

  // Ends the call with that status; failures that come too often end later (refusal_pace.h).
  // `reactor` is one of gRPC's, which lives until it has ended.
  template <typename Reactor>
  void Finish(Reactor* reactor, grpc::Status status) {
    if (status.ok()) return reactor->Finish(std::move(status));
    refusals_.Give([reactor, status = std::move(status)] { reactor->Finish(status); });
  }
  // The same, where the caller may go before its answer. `context` lives until the call has ended.
  template <typename Reactor>
  void Finish(const grpc::CallbackServerContext& context, Reactor* reactor, grpc::Status status) {
    if (status.ok()) return reactor->Finish(std::move(status));
    refusals_.Give([reactor, status = std::move(status)] { reactor->Finish(status); },
                   [&context] { return context.IsCancelled(); });
  }

  void Drain() { draining_ = true; }
  // Long calls end themselves soon.
  void Stop() {
    draining_ = stopping_ = true;
    refusals_.Stop();
  }
  bool draining() const { return draining_; }
  bool stopping() const { return stopping_; }

 private:
  absl::Status Begin(std::function<void()> call, Work work, absl::string_view resource,
                     const std::string& caller);
  absl::StatusOr<identity::Caller> CallerOf(const grpc::CallbackServerContext& context) const;
  // Empty where nobody is known.
  std::string NameOf(const grpc::CallbackServerContext& context) const;

  telemetry::trace::Tracer* const tracer_;
  identity::Gate* const gate_;
  const identity::CallerTokens caller_tokens_;
  std::atomic<bool> draining_ = false;
  std::atomic<bool> stopping_ = false;
  RefusalPace refusals_;
  // With fewer threads one slow answer holds up every listing. What waits holds its request; with
  // less room people who ask at the same moment would be refused.
  ThreadPool threads_{"call", "calls", 4, 256};
  // Each may wait some seconds for a machine that does not answer. With fewer, a handful of wrong
  // addresses keeps honest calls out.
  ThreadPool waiting_threads_{"call", "calls that wait for other machines", 16};
  KeyedCalls lun_calls_{"call", "calls for LUNs", 64};
  // Beside recordings that are being made, so few; people wait for no more pictures than that.
  KeyedCalls view_calls_{
      "view", "LUNs that are looked into", 8, {.of_a_key = 32, .of_all = 64, .of_a_caller = 16}};
};

// The dispatch path as one service sees it, whose methods go by their own names. A value; any
// thread.
class ServiceDispatch {
 public:
  // `service` is a literal. `dispatch` outlives it.
  ServiceDispatch(Dispatch& dispatch, absl::string_view service)
      : dispatch_(&dispatch), service_(service) {}

  template <typename Handler>
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context,
                                  const google::protobuf::Message& request,
                                  absl::string_view method, Work work, Handler handler,
                                  absl::string_view resource = "") const {
    return dispatch_->Unary(context, request, {service_, method}, work, std::move(handler),
                            resource);
  }
  absl::StatusOr<identity::Access> Enter(const grpc::CallbackServerContext& context,
                                         absl::string_view method,
                                         const google::protobuf::Message& request) const {
    return dispatch_->Enter(context, {service_, method}, request);
  }
  absl::Status Admit(Work work) const { return dispatch_->Admit(work); }
  telemetry::trace::Span Begin(const grpc::CallbackServerContext& context,
                               absl::string_view method) const {
    return dispatch_->Begin(context, {service_, method});
  }
  grpc::Status Conclude(const grpc::CallbackServerContext& context, absl::string_view method,
                        const absl::Status& status, telemetry::trace::Span& span) const {
    return dispatch_->Conclude(context, {service_, method}, status, span);
  }
  template <typename Reactor>
  void Finish(Reactor* reactor, grpc::Status status) const {
    dispatch_->Finish(reactor, std::move(status));
  }
  // Ends a call that has not begun.
  template <typename Reactor>
  void Refuse(Reactor* reactor, const grpc::CallbackServerContext& context,
              absl::string_view method, const absl::Status& status) const {
    Finish(reactor, dispatch_->Conclude(context, {service_, method}, status));
  }
  bool draining() const { return dispatch_->draining(); }
  bool stopping() const { return dispatch_->stopping(); }

 private:
  Dispatch* dispatch_;
  absl::string_view service_;
};

}  // namespace tapedeck::services::server
