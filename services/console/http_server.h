// The seam to the HTTP library: whole requests come in, and answers go out when there is one, at
// once or in parts for as long as the client stays. What anybody can make it hold is bounded: see
// http_limits.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataplane/executor/event_loop.h"
#include "services/rpc/identity/tls/tls_files.h"

namespace tapedeck::services::console {

// What is not there is empty.
struct HttpRequest {
  std::string method;  // GET, HEAD or POST
  std::string path;    // decoded, without arguments
  std::string host, origin, fetch_site, content_type, accept;
  std::string body;
  std::string certificate;  // the client's, in DER and verified; empty: plain HTTP
};

struct HttpAnswer {
  unsigned status = 200;
  std::string content_type;
  std::string body;
  absl::string_view lasting = {};  // instead of `body`: bytes that are there for good
};

// Requests are known by their numbers. An answer to one that is gone is nobody's. All on the loop.
class HttpServer {
 public:
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
  // False, and nothing is answered: kMaxWaitingBytes of answers wait for their readers.
  virtual bool Answer(uint64_t request, HttpAnswer answer) = 0;
  // Part of an answer of server-sent events. A client with kMaxQueuedBytes unread is dropped.
  virtual void Send(uint64_t request, std::string part) = 0;
  // No more parts come.
  virtual void End(uint64_t request) = 0;
};

// On the loop, where it must not wait.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Answers now or later, once.
  virtual void OnRequest(HttpServer& server, uint64_t number, HttpRequest request) = 0;
  // The answer is out, or the client has left.
  virtual void OnGone(uint64_t number) = 0;
};

struct HttpPort {
  std::string listen;           // HOST:PORT; port 0 lets the system choose
  identity::TlsFiles tls = {};  // none: plain HTTP
};

// The server is made and destroyed on any thread but the loop's, which it uses until then.
// INVALID_ARGUMENT or UNAVAILABLE names the address and why it cannot be used; UNIMPLEMENTED: built
// without the library.
absl::StatusOr<std::unique_ptr<HttpServer>> StartHttpServer(const HttpPort& port,
                                                            dataplane::EventLoop& loop,
                                                            HttpHandler& handler);

}  // namespace tapedeck::services::console
