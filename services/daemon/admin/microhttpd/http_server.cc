#include "services/daemon/admin/http_server.h"

#include <microhttpd.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/reason.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/listen_address.h"
#include "services/daemon/admin/http_limits.h"

namespace tapedeck::services::admin {
namespace {

using dataplane::EventLoop;

using Daemon = std::unique_ptr<MHD_Daemon, decltype(&MHD_stop_daemon)>;
using Response = std::unique_ptr<MHD_Response, decltype(&MHD_destroy_response)>;
using Body = std::shared_ptr<const std::string>;

// How often connections are looked at for their age.
constexpr int64_t kLookNs = dataplane::kSecondNs / 2;

int SocketOf(MHD_Connection* connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

// The library reads the end of the stream then, and lets go of it.
void Cut(MHD_Connection* connection) { shutdown(SocketOf(connection), SHUT_RDWR); }

Response MakeResponse(const HttpAnswer& answer) {
  auto body = std::make_unique<Body>(answer.body);
  // The library only reads it.
  void* const bytes = const_cast<char*>((*body)->data());
  Response response(
      MHD_create_response_from_buffer_with_free_callback_cls(
          (*body)->size(), bytes, [](void* own) { delete static_cast<Body*>(own); }, body.get()),
      MHD_destroy_response);
  if (response == nullptr) return response;
  body.release();  // NOLINT(bugprone-unused-return-value): the response deletes it
  MHD_add_response_header(response.get(), MHD_HTTP_HEADER_CONTENT_TYPE,
                          answer.content_type.c_str());
  MHD_add_response_header(response.get(), MHD_HTTP_HEADER_CONNECTION, "close");
  return response;
}

HttpAnswer NotAllowed() {
  return {.status = MHD_HTTP_METHOD_NOT_ALLOWED,
          .content_type = "text/plain",
          .body = std::make_shared<const std::string>("GET or HEAD\n")};
}

// The library's own epoll set is watched by a loop of ours: so the thread is one that must not
// wait, and it knows the age of each connection, which the library does not limit.
class Microhttpd final : public HttpServer {
 public:
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(dataplane::Fd socket, OnGet on_get) {
    TD_ASSIGN_OR_RETURN(std::unique_ptr<EventLoop> loop, EventLoop::Create("admin"));
    const int port = dataplane::LocalAddress(socket).port();
    std::unique_ptr<Microhttpd> server(new Microhttpd(std::move(loop), port, std::move(on_get)));
    absl::Status status;
    server->loop_->RunAndWait([&] { status = server->Open(std::move(socket)); });
    TD_RETURN_IF_ERROR(status);
    return server;
  }

  ~Microhttpd() override {
    loop_->RunAndWait([this] {
      if (epoll_fd_ >= 0) loop_->Unwatch(epoll_fd_);
      daemon_.reset();
    });
  }

  int port() const override { return port_; }

 private:
  struct Caller {
    MHD_Connection* connection;
    int64_t since_ns;
  };

  Microhttpd(std::unique_ptr<EventLoop> loop, int port, OnGet on_get)
      : loop_(std::move(loop)), port_(port), on_get_(std::move(on_get)) {}

  // All below is on the loop.
  absl::Status Open(dataplane::Fd socket);
  void Serve();
  void Rest();
  void LookAtAges();
  void Started(MHD_Connection* connection);
  void Ended(MHD_Connection* connection);
  int64_t now() const { return loop_->clock().NowNs(); }

  static MHD_Result OnRequest(void* own, MHD_Connection* connection, const char* path,
                              const char* method, const char* version, const char* upload,
                              size_t* upload_bytes, void** context);
  static void OnConnection(void* own, MHD_Connection* connection, void** context,
                           MHD_ConnectionNotificationCode code);

  const std::unique_ptr<EventLoop> loop_;
  const int port_;
  const OnGet on_get_;
  Daemon daemon_{nullptr, MHD_stop_daemon};
  int epoll_fd_ = -1;
  std::deque<Caller> callers_;  // oldest first, without those that are told to go
  bool looking_ = false;
  dataplane::Lifetime lifetime_;
};

absl::Status Microhttpd::Open(dataplane::Fd socket) {
  // The library closes the socket, whether or not it starts.
  daemon_.reset(MHD_start_daemon(
      MHD_USE_EPOLL, 0, nullptr, nullptr, &OnRequest, this, MHD_OPTION_LISTEN_SOCKET,
      socket.Release(), MHD_OPTION_CONNECTION_LIMIT, kMaxConnections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes, MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_NOTIFY_CONNECTION, &OnConnection, this, MHD_OPTION_END));
  if (daemon_ == nullptr) return absl::InternalError("MHD_start_daemon failed");
  epoll_fd_ = MHD_get_daemon_info(daemon_.get(), MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  return loop_->Watch(epoll_fd_, EPOLLIN, [this](uint32_t) { Serve(); });
}

void Microhttpd::Serve() {
  MHD_run(daemon_.get());
  loop_->Modify(epoll_fd_, 0);
  loop_->PostAfter(kBatchNs, lifetime_.Guard([this] { Rest(); }));
}

void Microhttpd::Rest() {
  if (daemon_ == nullptr) return;  // it ends
  MHD_UNSIGNED_LONG_LONG wait_ms = 0;
  // What it has read already shows in no event.
  if (MHD_get_timeout(daemon_.get(), &wait_ms) == MHD_YES && wait_ms == 0) return Serve();
  loop_->Modify(epoll_fd_, EPOLLIN);
}

void Microhttpd::Started(MHD_Connection* connection) {
  while (callers_.size() >= kCrowd) {
    Cut(callers_.front().connection);
    callers_.pop_front();
  }
  callers_.push_back({connection, now()});
  if (!std::exchange(looking_, true)) LookAtAges();
}

void Microhttpd::Ended(MHD_Connection* connection) {
  std::erase_if(callers_, [&](const Caller& caller) { return caller.connection == connection; });
}

void Microhttpd::LookAtAges() {
  while (!callers_.empty() && now() - callers_.front().since_ns >= kConnectionLimitNs) {
    Cut(callers_.front().connection);
    callers_.pop_front();
  }
  looking_ = !callers_.empty();
  if (looking_) loop_->PostAfter(kLookNs, lifetime_.Guard([this] { LookAtAges(); }));
}

MHD_Result Microhttpd::OnRequest(void* own, MHD_Connection* connection, const char* path,
                                 const char* method, const char* /*version*/,
                                 const char* /*upload*/, size_t* /*upload_bytes*/,
                                 void** /*context*/) {
  const absl::string_view name(method);
  const bool allowed = name == MHD_HTTP_METHOD_GET || name == MHD_HTTP_METHOD_HEAD;
  const HttpAnswer answer = allowed ? static_cast<Microhttpd*>(own)->on_get_(path) : NotAllowed();
  const Response response = MakeResponse(answer);
  // MHD_NO closes the connection.
  return response == nullptr ? MHD_NO
                             : MHD_queue_response(connection, answer.status, response.get());
}

void Microhttpd::OnConnection(void* own, MHD_Connection* connection, void** /*context*/,
                              MHD_ConnectionNotificationCode code) {
  auto* const server = static_cast<Microhttpd*>(own);
  code == MHD_CONNECTION_NOTIFY_STARTED ? server->Started(connection) : server->Ended(connection);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> StartHttpServer(const std::string& listen,
                                                            OnGet on_get) {
  absl::StatusOr<dataplane::Fd> socket = Listen(listen);
  if (!socket.ok()) return dataplane::Prefixed("--admin: ", socket.status());
  return Microhttpd::Start(*std::move(socket), std::move(on_get));
}

}  // namespace tapedeck::services::admin
