#include "services/daemon/admin/http_server.h"

namespace tapedeck::services::admin {

absl::StatusOr<std::unique_ptr<HttpServer>> StartHttpServer(const std::string& /*listen*/,
                                                            OnGet /*on_get*/) {
  return absl::UnimplementedError(
      "--admin: built without libmicrohttpd: install libmicrohttpd-dev and build with "
      "-DTAPEDECK_ADMIN=ON");
}

}  // namespace tapedeck::services::admin
