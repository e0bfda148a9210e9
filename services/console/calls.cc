#include "services/console/calls.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <utility>

#include "dataplane/now.h"
#include "services/rpc/client/calls/call_status.h"

namespace tapedeck::services::console {

using google::protobuf::Message;

// Holds itself from Start to OnDone. Every method is called as one that streams both ways, which is
// the same on the wire: one request, then answers until the end.
class Calls::Call final : public grpc::ClientBidiReactor<Message, Message> {
 public:
  Call(Calls& calls, uint64_t number, CallSpec spec)
      : calls_(calls), number_(number), spec_(std::move(spec)) {}

  void Start(std::shared_ptr<Call> self) {
    self_ = std::move(self);
    for (const auto& [key, value] : spec_.metadata) context_.AddMetadata(key, value);
    if (spec_.limit.has_value()) {
      context_.set_deadline(absl::ToChronoTime(dataplane::WallTime() + *spec_.limit));
    }
    grpc::TemplatedGenericStub<Message, Message>(spec_.channel)
        .PrepareBidiStreamingCall(&context_, spec_.method, {}, this);
    AddHold();  // answers are asked for by the loop
    StartWriteLast(spec_.request.get(), {});
    StartRead(spec_.answer.get());
    StartCall();
  }

  void Cancel() {
    wanted_ = false;
    context_.TryCancel();
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return RemoveHold();  // the end comes
    calls_.loop_.Post([call = self_] { call->TellAnswer(); });
  }

  void OnDone(const grpc::Status& status) override {
    Calls& calls = calls_;
    calls.loop_.Post([call = std::move(self_), status] { call->TellEnd(status); });
    calls.Forget();
  }

  void TellAnswer() {
    if (wanted_) spec_.on_answer(*spec_.answer);
    if (!wanted_) return RemoveHold();  // it ends
    spec_.answer->Clear();
    StartRead(spec_.answer.get());
  }

  void TellEnd(const grpc::Status& status) {
    if (!wanted_) return;
    calls_.calls_.erase(number_);
    spec_.on_end(client::CallStatus(status, spec_.node));
  }

  Calls& calls_;
  const uint64_t number_;
  CallSpec spec_;
  grpc::ClientContext context_;
  std::shared_ptr<Call> self_;
  bool wanted_ = true;  // the loop's
};

Calls::~Calls() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(
      +[](int* under_way) { return *under_way == 0; }, &under_way_));
}

void Calls::Forget() {
  absl::MutexLock lock(&mutex_);
  --under_way_;
}

void Calls::Start(uint64_t number, CallSpec spec) {
  {
    absl::MutexLock lock(&mutex_);
    ++under_way_;
  }
  const auto call = std::make_shared<Call>(*this, number, std::move(spec));
  calls_[number] = call;
  call->Start(call);
}

void Calls::Cancel(uint64_t number) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  found->second->Cancel();
  calls_.erase(found);
}

void Calls::CancelAll() {
  while (!calls_.empty()) Cancel(calls_.begin()->first);
}

}  // namespace tapedeck::services::console
