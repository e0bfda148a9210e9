// A server stream that looks at something at intervals and tells the caller when there is news.
// Between looks it holds no thread, only an alarm.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/support/server_callback.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/now.h"
#include "services/rpc/server/dispatch.h"

namespace tapedeck::services::server {

// kSend sends the response and goes on, kSendLast ends the stream with it.
enum class Look { kNothing, kSend, kSendLast };

// Owns itself from Start to OnDone. At any time exactly one of these is under way: a look, a write,
// an alarm, the finish; whichever ends decides what comes next.
template <typename Response>
class TickingReactor final : public grpc::ServerWriteReactor<Response> {
 public:
  // Fills the response if there is something to send. Must not block.
  using Looker = std::function<absl::StatusOr<Look>(const identity::Access&, Response&)>;

  // The stream ends where its caller may not have it, or not any more.
  static TickingReactor* Start(const ServiceDispatch& dispatch,
                               grpc::CallbackServerContext* context,
                               const google::protobuf::Message& request, absl::string_view method,
                               absl::Duration interval, Looker looker) {
    auto* reactor =
        new TickingReactor(dispatch, context, method, interval, std::move(looker));  // see OnDone
    auto access = dispatch.Enter(*context, method, request);
    if (access.ok()) {
      reactor->access_ = *std::move(access);
      reactor->Step();
    } else {
      reactor->End(access.status());
    }
    return reactor;
  }

 private:
  TickingReactor(const ServiceDispatch& dispatch, grpc::CallbackServerContext* context,
                 absl::string_view method, absl::Duration interval, Looker looker)
      : dispatch_(dispatch),
        context_(context),
        method_(method),
        interval_(interval),
        looker_(std::move(looker)),
        span_(dispatch.Begin(*context, method)) {}

  void OnWriteDone(bool ok) override { ok ? Wait() : End(absl::CancelledError("the caller left")); }
  void OnDone() override { delete this; }

  void OnCancel() override {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
    if (alarm_ != nullptr) alarm_->Cancel();
  }

  void Step() {
    if (const absl::Status may = access_.Recheck(); !may.ok()) return End(may);
    const absl::StatusOr<Look> look = looker_(access_, response_);
    if (!look.ok()) return End(look.status());
    due_ = dataplane::SteadyTime() + interval_;
    if (*look == Look::kNothing) return Wait();
    if (*look == Look::kSend) return this->StartWrite(&response_);
    this->StartWriteAndFinish(&response_, grpc::WriteOptions(), Conclude(absl::OkStatus()));
  }

  // Sleeps in short steps, so that a stopping server is noticed.
  void Wait() {
    if (dispatch_.stopping()) return End(dispatch_.Admit(Work::kNew));
    absl::ReleasableMutexLock lock(&mutex_);
    if (cancelled_) {
      lock.Release();
      return End(absl::CancelledError("the caller left"));
    }
    const absl::Duration wait = std::min(due_ - dataplane::SteadyTime(), absl::Milliseconds(500));
    // A new one each time: the old one may be the caller of this function.
    alarm_ = std::make_unique<grpc::Alarm>();
    alarm_->Set(absl::ToChronoTime(dataplane::WallTime() + wait), [this](bool) { OnAlarm(); });
  }

  void OnAlarm() {
    bool cancelled;
    {
      absl::MutexLock lock(&mutex_);
      cancelled = cancelled_;
    }
    if (cancelled) return End(absl::CancelledError("the caller left"));
    dataplane::SteadyTime() >= due_ ? Step() : Wait();
  }

  void End(const absl::Status& status) { dispatch_.Finish(this, Conclude(status)); }

  grpc::Status Conclude(const absl::Status& status) {
    return dispatch_.Conclude(*context_, method_, status, span_);
  }

  const ServiceDispatch dispatch_;
  grpc::CallbackServerContext* const context_;
  const absl::string_view method_;
  const absl::Duration interval_;
  // Touched by the one step under way.
  identity::Access access_;
  const Looker looker_;
  telemetry::trace::Span span_;
  Response response_;
  absl::Time due_;

  absl::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<grpc::Alarm> alarm_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::services::server
