#include "services/console/http_server.h"

namespace tapedeck::services::console {

absl::StatusOr<std::unique_ptr<HttpServer>> StartHttpServer(const HttpPort& /*port*/,
                                                            dataplane::EventLoop& /*loop*/,
                                                            HttpHandler& /*handler*/) {
  return absl::UnimplementedError(
      "--console: built without libmicrohttpd: install libmicrohttpd-dev and build with "
      "-DTAPEDECK_ADMIN=ON");
}

}  // namespace tapedeck::services::console
