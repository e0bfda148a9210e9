// A caller of the console over HTTPS with a certificate, or without one.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "services/rpc/identity/tls/tls_files.h"

namespace tapedeck::services::console {

// What is heard at `port` of 127.0.0.1 until it closes; empty where there is no connection. Without
// a certificate only the authority counts.
std::string AskOverTls(int port, const identity::TlsFiles& files, absl::string_view request);

// A POST of `json`.
std::string PostOverTls(int port, const identity::TlsFiles& files, absl::string_view path,
                        absl::string_view json);

}  // namespace tapedeck::services::console
