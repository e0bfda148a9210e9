// The seam to the HTTP library: takes GET and HEAD of a path and answers with a page that is there
// already. What anybody can make it hold is bounded: see http_limits.h.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::admin {

struct HttpAnswer {
  unsigned status = 200;
  std::string content_type;
  std::shared_ptr<const std::string> body;  // shared by all connections that read it
};

// Called on the server's own thread, one at a time, with the path of a GET; it must not wait.
using OnGet = std::function<HttpAnswer(absl::string_view path)>;

// Any thread. Destroyed, it has called `on_get` for the last time.
class HttpServer {
 public:
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
};

// Listens at HOST:PORT; port 0 lets the system choose. INVALID_ARGUMENT or UNAVAILABLE names the
// address and why it cannot be used; UNIMPLEMENTED: built without the library.
absl::StatusOr<std::unique_ptr<HttpServer>> StartHttpServer(const std::string& listen,
                                                            OnGet on_get);

}  // namespace tapedeck::services::admin
