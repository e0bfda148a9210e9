#include "services/rpc/client/calls/pulse.h"

#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/now.h"

namespace tapedeck::services::client {
namespace {

// Longer than anybody waits for a sign of life.
constexpr absl::Duration kAnswerTime = absl::Seconds(10);

auto In(absl::Duration wait) { return absl::ToChronoTime(dataplane::WallTime() + wait); }

// By the node, and not by this end's gRPC.
bool IsAnswer(const grpc::Status& status) {
  return status.ok() || status.error_code() == grpc::StatusCode::UNIMPLEMENTED ||
         status.error_code() == grpc::StatusCode::PERMISSION_DENIED ||
         status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
         status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
}

}  // namespace

struct Pulse::State : public std::enable_shared_from_this<State> {
  State(std::shared_ptr<grpc::Channel> channel, std::function<bool(bool)> look)
      : stub(std::make_unique<grpc::GenericStub>(std::move(channel))), on_look(std::move(look)) {}

  void Await() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    alarm = std::make_unique<grpc::Alarm>();
    alarm->Set(In(kEach), [self = shared_from_this()](bool due) {
      if (due) self->Look();
    });
  }

  void Look() ABSL_LOCKS_EXCLUDED(mutex) {
    bool alive = false;
    {
      absl::MutexLock lock(&mutex);
      if (stopped) return;
      looking = true;
      alive = std::exchange(answered, false);
    }
    if (!on_look(alive)) Stop();
    if (MayAsk()) {
      stub->UnaryCall(
          context.get(), std::string(kMethod), {}, &request, &response,
          [self = shared_from_this()](const grpc::Status& status) { self->Answered(status); });
    }
    absl::MutexLock lock(&mutex);
    looking = false;
    if (!stopped) Await();
  }

  bool MayAsk() ABSL_LOCKS_EXCLUDED(mutex) {
    absl::MutexLock lock(&mutex);
    if (stopped || asking) return false;
    asking = true;
    context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(In(kAnswerTime));
    return true;
  }

  void Answered(const grpc::Status& status) ABSL_LOCKS_EXCLUDED(mutex) {
    absl::MutexLock lock(&mutex);
    asking = false;
    answered = answered || IsAnswer(status);
  }

  void Stop() ABSL_LOCKS_EXCLUDED(mutex) {
    absl::MutexLock lock(&mutex);
    stopped = true;
    alarm.reset();
    if (asking) context->TryCancel();
  }

  std::unique_ptr<grpc::GenericStub> stub;  // goes with the pulse, not on a thread of gRPC's
  const std::function<bool(bool)> on_look;
  // gRPC's while `asking`.
  std::unique_ptr<grpc::ClientContext> context;
  const grpc::Slice nothing;
  const grpc::ByteBuffer request{&nothing, 1};  // gRPC sends no buffer that was never made
  grpc::ByteBuffer response;

  absl::Mutex mutex;
  std::unique_ptr<grpc::Alarm> alarm ABSL_GUARDED_BY(mutex);
  bool stopped ABSL_GUARDED_BY(mutex) = false;
  bool looking ABSL_GUARDED_BY(mutex) = false;
  bool asking ABSL_GUARDED_BY(mutex) = false;
  bool answered ABSL_GUARDED_BY(mutex) = false;
};

Pulse::Pulse(std::shared_ptr<grpc::Channel> channel, std::function<bool(bool alive)> on_look)
    : state_(std::make_shared<State>(std::move(channel), std::move(on_look))) {
  absl::MutexLock lock(&state_->mutex);
  state_->Await();
}

Pulse::~Pulse() {
  State* const state = state_.get();
  state->Stop();
  const auto at_rest = [state]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state->mutex) {
    return !state->looking && !state->asking;
  };
  {
    absl::MutexLock lock(&state->mutex);
    state->mutex.Await(absl::Condition(&at_rest));
  }
  state->stub.reset();
}

}  // namespace tapedeck::services::client
