#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"
#include "dataplane/log.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/verbs/connection.h"
#include "dataplane/transport/verbs/port/diagnosis.h"
#include "dataplane/transport/verbs/port/route.h"
#include "dataplane/transport/verbs/wire.h"

namespace tapedeck::dataplane::verbs {
namespace {

using Done = std::function<void(absl::StatusOr<std::unique_ptr<Connection>>)>;

// The connecting end says hello, the listening one answers, each with a short message and one
// longer than the path MTU. So a queue pair that is not ready yet is only met by the connecting
// end, which has heard nothing then and starts again.
class VerbsOffer final : public Offer {
 public:
  VerbsOffer(const Rail& rail, const Registration& registration, std::unique_ptr<QueuePairs> queues)
      : rail_(rail),
        registration_(registration),
        queues_(std::move(queues)),
        endpoint_(queues_->endpoint()) {}
  ~VerbsOffer() override { rail_.port->Unsubscribe(subscription_); }

  const Endpoint& endpoint() const override { return endpoint_; }

  void Connect(const Endpoint& peer, int64_t deadline_ns, ConnectionEvents* events,
               Done done) override;

 private:
  void OnRoute(const absl::Status& status);
  absl::Status Begin();
  absl::Status SayHello();
  void OnCompletion(const ibv_wc& completion);
  void OnFailed(const WorkId& work, const ibv_wc& completion);
  absl::Status OnHello(uint32_t index, size_t bytes);
  void Succeed();
  void Fail(const absl::Status& cause);
  std::string name() const { return rail_.port->name().prefix(peer_name_); }

  const Rail rail_;
  const Registration& registration_;
  std::unique_ptr<QueuePairs> queues_;
  const Endpoint endpoint_;
  QueuePairEndpoint peer_;
  std::string peer_name_;
  std::unique_ptr<Route> route_;
  ConnectionEvents* events_ = nullptr;
  Done done_;
  uint64_t subscription_ = 0;
  bool said_short_ = false;  // and it arrived
  bool said_all_ = false;
  bool heard_short_ = false;
  bool heard_all_ = false;
  absl::Status last_failure_;  // of an attempt before the deadline
  Lifetime lifetime_;
};

void VerbsOffer::Connect(const Endpoint& peer, int64_t deadline_ns, ConnectionEvents* events,
                         Done done) {
  events_ = events;
  done_ = std::move(done);
  const auto* endpoint = std::get_if<QueuePairEndpoint>(&peer);
  if (endpoint == nullptr || MtuOf(endpoint->mtu_bytes) == 0) {
    return Fail(absl::InvalidArgumentError("the peer's endpoint is not a queue pair"));
  }
  peer_ = *endpoint;
  peer_name_ = SocketAddress(peer_.gid).ip();
  rail_.poller->PostAt(deadline_ns, lifetime_.Guard([this] {
    const std::string cause =
        last_failure_.ok() ? "the peer has not connected" : std::string(last_failure_.message());
    Fail(RailUnreachable(rail_.port->name().rail, peer_name_,
                         absl::StrCat("no connection before the deadline: ", cause),
                         absl::StatusCode::kDeadlineExceeded));
  }));
  subscription_ = rail_.port->Subscribe(
      queues_->numbers(), lifetime_.Guard([this](const absl::Status& cause) { Fail(cause); }));
  auto route = Route::Search(*rail_.poller, rail_.port->name(), peer_.gid,
                             lifetime_.Guard([this](const absl::Status& s) { OnRoute(s); }));
  if (!route.ok()) return Fail(route.status());
  route_ = *std::move(route);
}

void VerbsOffer::OnRoute(const absl::Status& status) {
  // Not inside the Route's own call.
  rail_.poller->Post(lifetime_.Guard([this] { route_.reset(); }));
  if (done_ == nullptr) return;
  if (!status.ok()) return Fail(status);
  if (const absl::Status begun = Begin(); !begun.ok()) Fail(begun);
}

absl::Status VerbsOffer::Begin() {
  TD_RETURN_IF_ERROR(queues_->Connect(peer_));
  queues_->completions().Start(
      1, lifetime_.Guard([this](const ibv_wc& completion) { OnCompletion(completion); }));
  return rail_.listen ? absl::OkStatus() : SayHello();
}

absl::Status VerbsOffer::SayHello() {
  const size_t bytes =
      EncodeMessage({.kind = MessageKind::kHello}, queues_->send_buffer(kHelloSend));
  TD_RETURN_IF_ERROR(queues_->SendAlone(kHelloSend, bytes, WorkKind::kHello));
  EncodeMessage({.kind = MessageKind::kFullHello}, queues_->send_buffer(kFullHelloSend));
  return queues_->SendAlone(kFullHelloSend, kHelloBytes, WorkKind::kHello);
}

void VerbsOffer::OnCompletion(const ibv_wc& completion) {
  const WorkId work = WorkId::Unpack(completion.wr_id);
  if (done_ == nullptr || !queues_->IsCurrent(work)) return;
  if (completion.status == IBV_WC_SUCCESS && work.kind == WorkKind::kReceive && heard_all_) {
    // The peer is up, so it has heard this end. That the hellos have arrived may be told later:
    // nothing orders a queue pair's sends and receives.
    queues_->completions().GiveAgain(completion);
    return Succeed();
  }
  queues_->Count(work);
  if (completion.status != IBV_WC_SUCCESS) return OnFailed(work, completion);
  if (work.kind == WorkKind::kReceive) {
    if (const absl::Status s = OnHello(work.index, completion.byte_len); !s.ok()) return Fail(s);
  } else {
    said_short_ = true;
    said_all_ = said_all_ || work.index == kFullHelloSend;
  }
  if (said_all_ && heard_all_) Succeed();
}

absl::Status VerbsOffer::OnHello(uint32_t index, size_t bytes) {
  const std::span<const std::byte> buffer = queues_->receive_buffer(index);
  TD_ASSIGN_OR_RETURN(const Message message, DecodeMessage(buffer.first(bytes)));
  const MessageKind expected = heard_short_ ? MessageKind::kFullHello : MessageKind::kHello;
  if (message.kind == MessageKind::kBye) {
    return absl::UnavailableError("the peer gave up the connection");
  }
  if (message.kind != expected) {
    return absl::DataLossError("the peer sent other messages before its hello");
  }
  heard_all_ = heard_short_;
  heard_short_ = true;
  return heard_all_ && rail_.listen ? SayHello() : absl::OkStatus();
}

void VerbsOffer::OnFailed(const WorkId& work, const ibv_wc& completion) {
  if (completion.status == IBV_WC_WR_FLUSH_ERR) {
    // The failure itself comes first, unless the port refused what the peer sent.
    return Fail(PeerBrokeIn());
  }
  if (completion.status != IBV_WC_RETRY_EXC_ERR || heard_short_) {
    return Fail(CompletionFailed(completion.status, completion.vendor_err));
  }
  if (work.index == kFullHelloSend && said_short_) {
    return Fail(FullSizeLost(queues_->mtu_bytes()));
  }
  // The peer is not ready: there is time until the deadline.
  last_failure_ = CompletionFailed(completion.status, completion.vendor_err);
  queues_->completions().Stop();
  rail_.poller->Post(lifetime_.Guard([this] {
    if (done_ == nullptr) return;
    absl::Status again = queues_->Restart();
    if (again.ok()) again = Begin();
    if (!again.ok()) Fail(again);
  }));
}

// In a posted task, and the completions stay in their queue until then, so that no event can come
// before `done`. Until then a withdrawn offer takes its queue pairs along: their domain may go
// next.
void VerbsOffer::Succeed() {
  queues_->completions().Stop();
  if (const std::string warning = PathMtuWarning(queues_->mtu_bytes()); !warning.empty()) {
    Log(LogLevel::kWarning, "transport/verbs", warning,
        {{"rail", rail_.port->name().rail}, {"peer", peer_name_}});
  }
  rail_.poller->Post(lifetime_.Guard([this] {
    if (done_ == nullptr) return;
    rail_.port->Unsubscribe(subscription_);
    const Done done = std::exchange(done_, nullptr);
    done(std::make_unique<VerbsConnection>(rail_, registration_, std::move(queues_), name(),
                                           events_));
  }));
}

void VerbsOffer::Fail(const absl::Status& cause) {
  if (done_ == nullptr) return;
  if (queues_ != nullptr) queues_->completions().Stop();
  rail_.poller->Post(
      [named = Prefixed(name(), cause), done = std::exchange(done_, nullptr)] { done(named); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Offer>> NewVerbsOffer(const Rail& rail,
                                                     const Registration& registration) {
  absl::StatusOr<std::unique_ptr<QueuePairs>> queues =
      QueuePairs::Create(*rail.poller, *rail.port, registration);
  if (!queues.ok()) return Prefixed(rail.port->name().prefix(), queues.status());
  return std::make_unique<VerbsOffer>(rail, registration, *std::move(queues));
}

}  // namespace tapedeck::dataplane::verbs
