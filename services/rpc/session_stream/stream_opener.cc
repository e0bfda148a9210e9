#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "services/rpc/client/calls/call_status.h"
#include "services/rpc/client/calls/pulse.h"
#include "services/rpc/convert/session.h"
#include "services/rpc/session_stream/control_streams.h"
#include "services/rpc/session_stream/stream_core.h"
#include "tapedeck/v1/session.grpc.pb.h"

namespace tapedeck::services::session_stream {

// Destroys ended calls on a thread that is not one of gRPC's. Owned by a StreamOpener. Any thread
// may call.
class CallReaper {
 public:
  CallReaper();
  // Waits until every call that was begun is destroyed.
  ~CallReaper();

  void CallBegun();
  void Reap(std::shared_ptr<void> call);

 private:
  void Work();

  absl::Mutex mutex_;
  int open_calls_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<void>> calls_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

namespace {

using ClientReactor = grpc::ClientBidiReactor<v1::TransferRequest, v1::TransferResponse>;

// A call that has ended. Its pulse goes first, and may wait for gRPC.
struct EndedCall {
  std::shared_ptr<StreamCore> call;
  std::unique_ptr<client::Pulse> pulse;
};

// gRPC's side of a stream. Keeps itself alive from BeginCall to OnDone. A hold keeps the call open
// while the session may still begin reads and writes.
class OpenedStream final : public ClientReactor, public StreamCore {
 public:
  OpenedStream(CallReaper& reaper, const client::Channel& channel)
      : reaper_(reaper),
        node_(channel.address),
        channel_(channel.channel),
        stub_(v1::SessionService::NewStub(channel.channel)) {}

 private:
  void OnReadInitialMetadataDone(bool ok) override { answered_ = ok; }
  void OnReadDone(bool ok) override { ok ? Received(convert::FromProto(response_)) : PeerEnded(); }
  void OnWriteDone(bool ok) override { Written(ok); }

  void OnDone(const grpc::Status& status) override {
    Ended(client::CallStatus(status, node_,
                             answered_ ? client::Contact::kMade : client::Contact::kUnknown));
    reaper_.Reap(std::make_shared<EndedCall>(EndedCall{std::move(self_), std::move(pulse_)}));
  }

  void BeginCall() override {
    self_ = shared_from_this();
    reaper_.CallBegun();
    stub_->async()->Transfer(&context_, this);
    AddHold();
    StartCall();
    pulse_ =
        std::make_unique<client::Pulse>(channel_, [this](bool alive) { return LookedAt(alive); });
  }
  void BeginRead() override { StartRead(&response_); }
  void ReadsEnded() override {
    if (self_ != nullptr) RemoveHold();
  }
  void Abort() override {
    if (self_ != nullptr) context_.TryCancel();
  }

  absl::Status BeginWrite(const Message& message) override {
    auto request = convert::ToTransferRequest(message);
    if (!request.ok()) return request.status();
    request_ = *std::move(request);
    StartWrite(&request_);
    return absl::OkStatus();
  }

  void BeginEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) override {
    if (self_ == nullptr) return;
    close_status().ok() ? StartWritesDone() : context_.TryCancel();
  }

  CallReaper& reaper_;
  const std::string node_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::SessionService::Stub> stub_;
  grpc::ClientContext context_;
  std::atomic<bool> answered_ = false;
  // gRPC's while a read or write is under way.
  v1::TransferRequest request_;
  v1::TransferResponse response_;
  std::shared_ptr<StreamCore> self_;
  std::unique_ptr<client::Pulse> pulse_;  // goes first
};

}  // namespace

CallReaper::CallReaper() : thread_([this] { Work(); }) {}

CallReaper::~CallReaper() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

void CallReaper::CallBegun() {
  absl::MutexLock lock(&mutex_);
  ++open_calls_;
}

void CallReaper::Reap(std::shared_ptr<void> call) {
  absl::MutexLock lock(&mutex_);
  --open_calls_;
  calls_.push_back(std::move(call));
}

void CallReaper::Work() {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !calls_.empty() || (stop_ && open_calls_ == 0);
  };
  std::vector<std::shared_ptr<void>> calls;
  do {
    calls.clear();  // without the lock
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&ready));
    calls.swap(calls_);
  } while (!calls.empty());
}

StreamOpener::StreamOpener() : reaper_(std::make_unique<CallReaper>()) {}

StreamOpener::~StreamOpener() = default;

std::unique_ptr<session::ControlStream> StreamOpener::Open(const client::Channel& channel) {
  return MakeControlStream(std::make_shared<OpenedStream>(*reaper_, channel));
}

}  // namespace tapedeck::services::session_stream
