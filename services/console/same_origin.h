// Whether a request may come from the page that a browser has open: a foreign page must not make
// calls with its visitor's certificate or from his machine, nor pass for this node by a name of its
// own that leads here (DNS rebinding).
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/console/http_server.h"

namespace tapedeck::services::console {

enum class Scheme { kHttp, kHttps };

// PERMISSION_DENIED where the request comes from another origin than the one it is for, or where it
// came by plain HTTP for a host that is neither an IP address nor localhost: the names of such are
// anybody's. Over HTTPS the browser has compared the name with the certificate.
absl::Status CheckOrigin(const HttpRequest& request, Scheme scheme);

// The host of HOST or HOST:PORT, of [V6]:PORT without brackets. Empty: it is neither.
std::string HostIn(absl::string_view host_and_port);

}  // namespace tapedeck::services::console
