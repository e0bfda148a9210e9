#include "services/console/http_server.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "dataplane/executor/lifetime.h"
#include "dataplane/reason.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/listen_address.h"
#include "services/console/http_limits.h"
#include "services/console/microhttpd/exchange.h"
#include "services/console/microhttpd/tls.h"

namespace tapedeck::services::console {
namespace {

using dataplane::EventLoop;
using Daemon = std::unique_ptr<MHD_Daemon, decltype(&MHD_stop_daemon)>;

// How often connections are looked at for what they take too long with.
constexpr int64_t kLookNs = dataplane::kSecondNs / 2;

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

int SocketOf(MHD_Connection* connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

// The library reads the end of the stream then, and lets go of it.
void Cut(MHD_Connection* connection) { shutdown(SocketOf(connection), SHUT_RDWR); }

// The library's own epoll set is watched by a loop of ours: so the thread is one that must not
// wait, and answers that come from elsewhere are posted to it.
class Microhttpd final : public HttpServer {
 public:
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(dataplane::Fd socket,
                                                           std::unique_ptr<Tls> tls,
                                                           EventLoop& loop, HttpHandler& handler) {
    const int port = dataplane::LocalAddress(socket).port();
    std::unique_ptr<Microhttpd> server(new Microhttpd(port, std::move(tls), loop, handler));
    absl::Status status;
    loop.RunAndWait([&] { status = server->Open(std::move(socket)); });
    TD_RETURN_IF_ERROR(status);
    return server;
  }

  ~Microhttpd() override {
    loop_.RunAndWait([this] { Close(); });
  }

  int port() const override { return port_; }
  bool Answer(uint64_t request, HttpAnswer answer) override;
  void Send(uint64_t request, std::string part) override;
  void End(uint64_t request) override;

 private:
  struct Connection {
    int64_t since_ns;              // of its last change
    int64_t due_ns;                // when it is cut
    Exchange* exchange = nullptr;  // of the request under way
  };

  Microhttpd(int port, std::unique_ptr<Tls> tls, EventLoop& loop, HttpHandler& handler)
      : port_(port), tls_(std::move(tls)), loop_(loop), handler_(handler) {}

  absl::Status Open(dataplane::Fd socket);
  void Close();
  void Serve();
  void Rest();
  void ServeSoon();
  void LookAtAges();
  void MakeRoom();
  void Started(MHD_Connection* connection);
  void Ended(MHD_Connection* connection);
  void Completed(Exchange* exchange);
  void Within(MHD_Connection* connection, int64_t limit_ns);
  Exchange* Find(uint64_t request);
  MHD_Result Take(Exchange& exchange, const char* upload, size_t* upload_bytes);
  int64_t now() const { return loop_.clock().NowNs(); }

  static MHD_Result OnRequest(void* own, MHD_Connection* connection, const char* path,
                              const char* method, const char* version, const char* upload,
                              size_t* upload_bytes, void** context);
  static void OnCompleted(void* own, MHD_Connection* connection, void** context,
                          MHD_RequestTerminationCode code);
  static void OnConnection(void* own, MHD_Connection* connection, void** context,
                           MHD_ConnectionNotificationCode code);

  const int port_;
  const std::unique_ptr<Tls> tls_;  // null: plain HTTP
  EventLoop& loop_;
  HttpHandler& handler_;
  Daemon daemon_{nullptr, MHD_stop_daemon};
  int epoll_fd_ = -1;
  uint64_t requests_ = 0;
  size_t waiting_bytes_ = 0;  // of whole answers
  std::map<MHD_Connection*, Connection> connections_;
  std::map<uint64_t, Exchange*> exchanges_;
  bool resting_ = false;
  bool resumed_ = false;  // something was, since the library ran last
  bool looking_ = false;
  bool closing_ = false;
  std::unique_ptr<dataplane::Lifetime> lifetime_ = std::make_unique<dataplane::Lifetime>();
};

absl::Status Microhttpd::Open(dataplane::Fd socket) {
  unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
  if (tls_ != nullptr) flags |= MHD_USE_TLS;
  std::vector<MHD_OptionItem> more;
  if (tls_ != nullptr) more = Tls::Options();
  more.push_back({MHD_OPTION_END, 0, nullptr});
  // The library closes the socket, whether or not it starts.
  daemon_.reset(MHD_start_daemon(
      flags, 0, nullptr, nullptr, &OnRequest, this, MHD_OPTION_LISTEN_SOCKET, socket.Release(),
      MHD_OPTION_CONNECTION_LIMIT, kMaxConnections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      kConnectionBytes, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION,
      &OnConnection, this, MHD_OPTION_NOTIFY_COMPLETED, &OnCompleted, this, MHD_OPTION_ARRAY,
      more.data(), MHD_OPTION_END));
  if (daemon_ == nullptr) return absl::InternalError("MHD_start_daemon failed");
  epoll_fd_ = MHD_get_daemon_info(daemon_.get(), MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  return loop_.Watch(epoll_fd_, EPOLLIN, [this](uint32_t) { Serve(); });
}

void Microhttpd::Close() {
  if (daemon_ == nullptr) return;  // it did not start
  closing_ = true;
  loop_.Unwatch(epoll_fd_);
  for (auto& [connection, state] : connections_) Cut(connection);
  for (auto& [number, exchange] : exchanges_) exchange->End();
  MHD_run(daemon_.get());  // takes back those that were suspended
  daemon_.reset();
  if (tls_ != nullptr) tls_->Close();
  lifetime_.reset();
}

void Microhttpd::Serve() {
  if (daemon_ == nullptr) return;  // it ends
  resumed_ = false;
  MHD_run(daemon_.get());
  loop_.Modify(epoll_fd_, 0);
  resting_ = true;
  loop_.PostAfter(kBatchNs, lifetime_->Guard([this] { Rest(); }));
}

void Microhttpd::Rest() {
  resting_ = false;
  if (daemon_ == nullptr) return;  // it ends
  MHD_UNSIGNED_LONG_LONG wait_ms = 0;
  // What it has read already shows in no event.
  const bool more = MHD_get_timeout(daemon_.get(), &wait_ms) == MHD_YES && wait_ms == 0;
  if (more || resumed_) return Serve();
  loop_.Modify(epoll_fd_, EPOLLIN);
}

// What was resumed shows in no event.
void Microhttpd::ServeSoon() {
  if (std::exchange(resumed_, true) || resting_ || daemon_ == nullptr) return;
  loop_.Post(lifetime_->Guard([this] {
    if (!resting_) Serve();
  }));
}

Exchange* Microhttpd::Find(uint64_t request) {
  const auto found = exchanges_.find(request);
  return found == exchanges_.end() ? nullptr : found->second;
}

bool Microhttpd::Answer(uint64_t request, HttpAnswer answer) {
  Exchange* const exchange = Find(request);
  if (exchange == nullptr || exchange->answered()) return true;
  const size_t bytes = answer.body.size();
  if (bytes > kShortAnswerBytes && waiting_bytes_ + bytes > kMaxWaitingBytes) return false;
  waiting_bytes_ += bytes;
  exchange->Answer(std::move(answer));
  Within(exchange->connection(), kAnswerLimitNs);
  ServeSoon();
  return true;
}

void Microhttpd::Send(uint64_t request, std::string part) {
  Exchange* const exchange = Find(request);
  if (exchange == nullptr) return;
  if (!exchange->Send(std::move(part))) {
    Cut(exchange->connection());
    exchange->End();
  }
  ServeSoon();
}

void Microhttpd::End(uint64_t request) {
  Exchange* const exchange = Find(request);
  if (exchange == nullptr) return;
  exchange->End();
  Within(exchange->connection(), kAnswerLimitNs);
  ServeSoon();
}

void Microhttpd::Within(MHD_Connection* connection, int64_t limit_ns) {
  Connection& state = connections_[connection];
  state.since_ns = now();
  state.due_ns = limit_ns == kNever ? kNever : state.since_ns + limit_ns;
  if (!std::exchange(looking_, true)) LookAtAges();
}

void Microhttpd::MakeRoom() {
  while (connections_.size() >= kCrowd) {
    auto oldest = connections_.end();
    for (auto each = connections_.begin(); each != connections_.end(); ++each) {
      if (each->second.exchange != nullptr && each->second.exchange->asked()) continue;
      if (oldest == connections_.end() || each->second.since_ns < oldest->second.since_ns) {
        oldest = each;
      }
    }
    if (oldest == connections_.end()) return;  // all are served: the library takes no more
    Cut(oldest->first);
    connections_.erase(oldest);
  }
}

void Microhttpd::Started(MHD_Connection* connection) {
  MakeRoom();
  if (tls_ != nullptr) tls_->Begin(connection);
  const int limit_ms = kUnreadLimitMs;
  setsockopt(SocketOf(connection), IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof(limit_ms));
  Within(connection, kRequestLimitNs);
}

void Microhttpd::Ended(MHD_Connection* connection) {
  if (tls_ != nullptr) tls_->End(connection);
  connections_.erase(connection);
}

void Microhttpd::LookAtAges() {
  const int64_t now_ns = now();
  for (auto& [connection, state] : connections_) {
    if (state.due_ns > now_ns) continue;
    state.due_ns = kNever;
    Cut(connection);
  }
  looking_ = !connections_.empty() && !closing_;
  if (looking_) loop_.PostAfter(kLookNs, lifetime_->Guard([this] { LookAtAges(); }));
}

MHD_Result Microhttpd::Take(Exchange& exchange, const char* upload, size_t* upload_bytes) {
  if (exchange.answered()) {
    *upload_bytes = 0;
    return exchange.Queue();
  }
  if (*upload_bytes > 0) {
    const bool taken = exchange.AddBody({upload, std::exchange(*upload_bytes, 0)});
    return taken ? MHD_YES : MHD_NO;
  }
  if (closing_) return MHD_NO;
  if (!exchange.asked()) {
    exchange.Asked();
    Within(exchange.connection(), kNever);
    handler_.OnRequest(*this, exchange.number(), exchange.TakeRequest());
    if (exchange.answered()) return exchange.Queue();
  }
  exchange.Suspend();
  return MHD_YES;
}

MHD_Result Microhttpd::OnRequest(void* own, MHD_Connection* connection, const char* path,
                                 const char* method, const char* /*version*/, const char* upload,
                                 size_t* upload_bytes, void** context) {
  auto* const server = static_cast<Microhttpd*>(own);
  if (*context != nullptr)
    return server->Take(*static_cast<Exchange*>(*context), upload, upload_bytes);
  const uint64_t number = ++server->requests_;
  auto* const exchange = new Exchange(number, connection);  // the library's until it is completed
  *context = exchange;
  server->exchanges_[number] = exchange;
  server->connections_[connection].exchange = exchange;
  server->Within(connection, kRequestLimitNs);
  exchange->ReadHeaders(method, path);
  return exchange->refused() ? exchange->Queue() : MHD_YES;
}

void Microhttpd::OnCompleted(void* own, MHD_Connection* /*connection*/, void** context,
                             MHD_RequestTerminationCode /*code*/) {
  if (*context == nullptr) return;
  static_cast<Microhttpd*>(own)->Completed(static_cast<Exchange*>(*context));
  *context = nullptr;
}

void Microhttpd::Completed(Exchange* exchange) {
  const std::unique_ptr<Exchange> gone(exchange);
  exchanges_.erase(exchange->number());
  if (exchange->asked()) waiting_bytes_ -= exchange->answer_bytes();
  const auto found = connections_.find(exchange->connection());
  if (found != connections_.end()) {
    found->second.exchange = nullptr;
    Within(found->first, kIdleLimitNs);
  }
  if (exchange->asked()) handler_.OnGone(exchange->number());
}

void Microhttpd::OnConnection(void* own, MHD_Connection* connection, void** /*context*/,
                              MHD_ConnectionNotificationCode code) {
  auto* const server = static_cast<Microhttpd*>(own);
  code == MHD_CONNECTION_NOTIFY_STARTED ? server->Started(connection) : server->Ended(connection);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> StartHttpServer(const HttpPort& port, EventLoop& loop,
                                                            HttpHandler& handler) {
  absl::StatusOr<dataplane::Fd> socket = Listen(port.listen);
  if (!socket.ok()) return dataplane::Prefixed("--console: ", socket.status());
  std::unique_ptr<Tls> tls;
  if (port.tls.given()) {
    TD_ASSIGN_OR_RETURN(tls, Tls::Create(port.tls, loop));
  }
  return Microhttpd::Start(*std::move(socket), std::move(tls), loop, handler);
}

}  // namespace tapedeck::services::console
