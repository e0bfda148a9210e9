#include "services/server/listen_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tapedeck::services::server {
namespace {

std::string Remedy(int error) {
  if (error == EADDRINUSE) return "; another process has the port: stop it or choose another port";
  if (error == EADDRNOTAVAIL) return "; give an address of this machine, or 0.0.0.0 for all";
  if (error == EACCES) return "; choose a port above 1023";
  return "";
}

std::string TryBind(const addrinfo& info) {
  const int fd = socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return strerror(errno);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool ok = bind(fd, info.ai_addr, info.ai_addrlen) == 0 && listen(fd, 1) == 0;
  const int error = errno;
  close(fd);
  if (ok) return "gRPC refused the address, although the system allows it";
  return absl::StrCat(strerror(error), Remedy(error));
}

}  // namespace

absl::Status CheckListenAddress(const std::string& listen) {
  const size_t colon = listen.rfind(':');
  uint32_t port = 0;
  if (colon != std::string::npos && colon > 0 &&
      absl::SimpleAtoi(listen.substr(colon + 1), &port) && port <= UINT16_MAX) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("listen(", listen, "): expected HOST:PORT with a port from 0 to 65535"));
}

std::string WhyNotListening(const std::string& listen) {
  const size_t colon = listen.rfind(':');
  absl::string_view host = absl::string_view(listen).substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");

  const addrinfo hints{.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(std::string(host).c_str(), listen.c_str() + colon + 1, &hints, &found);
  if (error != 0) {
    return absl::StrCat(gai_strerror(error), "; expected HOST:PORT with a known host");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  return TryBind(*found);
}

}  // namespace tapedeck::services::server
