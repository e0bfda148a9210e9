#include <grpcpp/alarm.h>

#include <atomic>
#include <memory>
#include <utility>

#include "dataplane/clock.h"
#include "dataplane/now.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/rate_limiter.h"
#include "services/base/trace/context.h"
#include "services/base/trace/rpc.h"
#include "services/rpc/convert/session.h"
#include "services/rpc/convert/values/status.h"
#include "services/rpc/server/dispatch.h"
#include "services/rpc/session_stream/control_streams.h"
#include "services/rpc/session_stream/stream_core.h"
#include "tapedeck/v1/session.grpc.pb.h"

namespace tapedeck::services::session_stream {
namespace {

using TransferReactor = grpc::ServerBidiReactor<v1::TransferRequest, v1::TransferResponse>;

constexpr server::Method kTransfer{v1::SessionService::service_full_name(), "Transfer"};

// Sessions that fail cost their node as much as those that record, and a caller whose sessions all
// fail can begin hundreds a second: it waits with the next. A run of mistakes is nobody's attack.
constexpr RateLimit kFailures{.each_ns = 125 * dataplane::kMillisecondNs, .at_once = 32};
// Less than a worker waits for an answer to its Open, as honest ones may share the address.
constexpr int64_t kLongestWaitNs = dataplane::kSecondNs;
// That have failed within the last seconds.
constexpr size_t kMostCallers = 1024;

// Ends a call at once.
class RefusedTransfer final : public TransferReactor {
 public:
  explicit RefusedTransfer(grpc::Status status) { Finish(std::move(status)); }

 private:
  void OnDone() override { delete this; }
};

// gRPC's side of a stream. Keeps itself alive from Open to OnDone.
class ServedStream final : public TransferReactor, public StreamCore {
 public:
  static std::shared_ptr<ServedStream> Open(server::Dispatch& dispatch,
                                            grpc::CallbackServerContext* context,
                                            const identity::Access& access,
                                            RateLimiters& failures) {
    auto stream = std::make_shared<ServedStream>(dispatch, context, access, failures);
    stream->self_ = stream;
    // Tells the peer that a session service has answered, which it reports differently from a node
    // that cannot be reached.
    stream->StartSendInitialMetadata();
    return stream;
  }

  ServedStream(server::Dispatch& dispatch, grpc::CallbackServerContext* context,
               const identity::Access& access, RateLimiters& failures)
      : dispatch_(dispatch),
        failures_(failures),
        context_(context),
        peer_(context->peer()),
        span_(dispatch.Begin(*context, kTransfer)),
        access_(access),
        caller_(CallerKey(access.who(), peer_)) {}

  // To the acceptor, in its turn. What the caller sends meanwhile stays in the network.
  void GoTo(session::SessionAcceptor& acceptor) {
    const int64_t wait_ns = failures_.WaitNs(caller_, dataplane::SystemClock().NowNs());
    if (wait_ns == 0) return acceptor.OnStream(MakeControlStream(shared_from_this()));
    turn_.Set(absl::ToChronoTime(dataplane::WallTime() + absl::Nanoseconds(wait_ns)),
              [stream = weak_from_this(), &acceptor](bool) {
                auto live = stream.lock();
                if (live != nullptr) acceptor.OnStream(MakeControlStream(std::move(live)));
              });
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return PeerEnded();
    absl::StatusOr<Message> message = convert::FromProto(request_);
    auto* open = message.ok() ? std::get_if<session::Open>(&*message) : nullptr;
    if (open != nullptr) {
      if (const absl::Status status = Enter(*open); !status.ok()) message = status;
    }
    if (message.ok()) NoteEnd(*message);
    Received(std::move(message));
  }

  // Either end may say that all is done: the node of a recording, the worker of a playback. What
  // the node says last counts, as it answers a wrong end with an error.
  void NoteEnd(const Message& message) {
    if (const auto* end = std::get_if<session::Finished>(&message)) went_well_ = end->cause.ok();
  }

  // Whoever the certificates say has asked is who records.
  absl::Status Enter(session::Open& open) {
    if (permit_ != nullptr) return absl::OkStatus();  // a second one, which the session refuses
    const bool records = open.direction == session::Direction::kRecord;
    const auto end = [stream = weak_from_this()](const absl::Status& why) {
      if (const auto live = stream.lock()) live->Tell(session::Finished{.cause = why});
    };
    TD_ASSIGN_OR_RETURN(permit_,
                        access_.Open(records ? identity::kRecordRight : identity::kPlayRight,
                                     records ? open.channel : open.recording, end));
    if (!access_.who().empty()) open.recorder = access_.who();
    return absl::OkStatus();
  }

  void OnWriteDone(bool ok) override { Written(ok); }

  void OnCancel() override {
    cancelled_ = true;
    Broken();
  }

  void OnDone() override {
    const absl::Status lost =
        PeerLost(peer_, absl::StrCat("Transfer: the control stream from ", peer_, " broke"));
    // A peer that is gone looks at first as if it had nothing more to say.
    telemetry::trace::EndCall(span_, cancelled_ ? lost : EndStatus());
    Ended(cancelled_ ? lost : absl::OkStatus());
    permit_.reset();
    if (!went_well_)
      failures_.Count(caller_, kFailures, dataplane::SystemClock().NowNs(), kLongestWaitNs);
    const std::shared_ptr<ServedStream> last = std::move(self_);
  }

  absl::Status EndStatus() {
    absl::MutexLock lock(&mutex_);
    return close_status();
  }

  void BeginCall() override {}
  void BeginRead() override { StartRead(&request_); }
  void Abort() override { context_->TryCancel(); }

  absl::Status BeginWrite(const Message& message) override {
    auto response = convert::ToTransferResponse(message);
    if (!response.ok()) return response.status();
    NoteEnd(message);
    response_ = *std::move(response);
    StartWrite(&response_);
    return absl::OkStatus();
  }

  void BeginEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) override {
    // A read after Finish would race with the call's end.
    EndReads();
    const telemetry::trace::LogUnder log(span_.context());
    Finish(dispatch_.Conclude(*context_, kTransfer, close_status()));
  }

  server::Dispatch& dispatch_;
  RateLimiters& failures_;
  grpc::CallbackServerContext* const context_;
  const std::string peer_;
  telemetry::trace::Span span_;
  const identity::Access access_;
  const std::string caller_;
  grpc::Alarm turn_;
  std::atomic<bool> went_well_ = false;
  std::unique_ptr<identity::Gate::Permit> permit_;  // from Open on; touched by reads
  std::atomic<bool> cancelled_ = false;
  // gRPC's while a read or write is under way.
  v1::TransferRequest request_;
  v1::TransferResponse response_;
  std::shared_ptr<ServedStream> self_;
};

class SessionService final : public v1::SessionService::CallbackService {
 public:
  SessionService(server::Dispatch& dispatch, session::SessionAcceptor& acceptor)
      : dispatch_(dispatch), acceptor_(acceptor) {}

  TransferReactor* Transfer(grpc::CallbackServerContext* context) override {
    const auto access =
        dispatch_.Enter(*context, kTransfer, v1::TransferRequest::default_instance());
    absl::Status status = access.status();
    if (status.ok()) status = dispatch_.Admit(server::Work::kNew);
    if (!status.ok()) {
      auto span = dispatch_.Begin(*context, kTransfer);
      return new RefusedTransfer(dispatch_.Conclude(*context, kTransfer, status, span));
    }
    const auto stream = ServedStream::Open(dispatch_, context, *access, failures_);
    stream->GoTo(acceptor_);
    return stream.get();
  }

 private:
  server::Dispatch& dispatch_;
  session::SessionAcceptor& acceptor_;
  RateLimiters failures_{kMostCallers};
};

}  // namespace

std::string CallerKey(const std::string& identity, const std::string& peer) {
  return identity.empty() ? std::string(dataplane::SplitHostPort(peer).host) : identity;
}

server::ServiceFactory SessionServiceOver(session::SessionAcceptor& acceptor) {
  return [&acceptor](server::Dispatch& dispatch) {
    return server::Service{.name = v1::SessionService::service_full_name(),
                           .handlers = std::make_shared<SessionService>(dispatch, acceptor)};
  };
}

}  // namespace tapedeck::services::session_stream
