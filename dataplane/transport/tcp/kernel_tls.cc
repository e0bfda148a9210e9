#include "dataplane/transport/tcp/kernel_tls.h"

#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "dataplane/rail_tls.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/tcp/socket.h"

namespace tapedeck::dataplane::tcp {
namespace {

// How long the connection of a try may take: it does not leave the machine.
constexpr int kTryMs = 1000;

constexpr std::array<char, 4> kUlp = {"tls"};

absl::Status SetFailed(absl::string_view option) {
  return absl::UnavailableError(absl::StrCat("setsockopt(", option, "): ", strerror(errno)));
}

// Records of TLS 1.2, whose kind is told in clear: the kernel can decipher them straight into the
// slot, and network cards can do it for the kernel.
absl::Status SetKeys(const Fd& socket, int direction, const DirectionKeys& keys) {
  tls12_crypto_info_aes_gcm_128 info{
      .info = {.version = TLS_1_2_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128}};
  static_assert(sizeof(info.key) == sizeof(keys.key) && sizeof(info.salt) == sizeof(keys.salt) &&
                sizeof(info.iv) == sizeof(keys.iv));
  memcpy(info.key, keys.key.data(), sizeof(info.key));
  memcpy(info.salt, keys.salt.data(), sizeof(info.salt));
  memcpy(info.iv, keys.iv.data(), sizeof(info.iv));
  const int set = setsockopt(socket.get(), SOL_TLS, direction, &info, sizeof(info));
  explicit_bzero(&info, sizeof(info));
  if (set == 0) return absl::OkStatus();
  return SetFailed(direction == TLS_TX ? "TLS_TX" : "TLS_RX");
}

absl::StatusOr<Fd> ConnectToItself(const Fd& listener, const std::string& address) {
  TD_ASSIGN_OR_RETURN(Fd socket, StartConnect(address, address, LocalAddress(listener).port()));
  pollfd writable{.fd = socket.get(), .events = POLLOUT};
  if (poll(&writable, 1, kTryMs) != 1) return absl::UnavailableError("poll: not connected in 1 s");
  TD_RETURN_IF_ERROR(ConnectResult(socket));
  return socket;
}

}  // namespace

absl::Status TryKernelTls(const std::string& rail, const std::string& address) {
  TD_ASSIGN_OR_RETURN(const Fd listener, Listen(address, 0));
  TD_ASSIGN_OR_RETURN(const Fd socket, ConnectToItself(listener, address));
  const absl::Status status = Encrypt(socket, {});
  if (status.ok()) return absl::OkStatus();
  return RailTlsUnusable(
      rail, absl::StrCat("rail ", rail, ": this machine's kernel cannot encrypt connections: ",
                         std::string(status.message()),
                         "; modprobe tls (a kernel with CONFIG_TLS and AES-GCM), or leave "
                         "--rail-tls out on both nodes"));
}

absl::Status Encrypt(const Fd& socket, const ConnectionKeys& keys) {
  if (setsockopt(socket.get(), IPPROTO_TCP, TCP_ULP, kUlp.data(), kUlp.size()) != 0) {
    return SetFailed("TCP_ULP, tls");
  }
  TD_RETURN_IF_ERROR(SetKeys(socket, TLS_TX, keys.send));
  return SetKeys(socket, TLS_RX, keys.receive);
}

bool IsEncrypted(const Fd& socket) {
  std::array<char, 16> ulp{};
  socklen_t length = ulp.size();
  return getsockopt(socket.get(), IPPROTO_TCP, TCP_ULP, ulp.data(), &length) == 0 &&
         absl::string_view(ulp.data(), strnlen(ulp.data(), ulp.size())) == kUlp.data();
}

absl::Status CallFailed(const std::string& rail, absl::string_view call, int error) {
  const auto broken = [&](absl::string_view why) {
    return RailTlsBroken(absl::StrCat(rail, ": ", call, ": ", why));
  };
  switch (error) {
    case EBADMSG:
      return broken("a TLS record was changed on the way, or its sender does not have the key");
    case EIO:
      return broken("received a TLS alert or handshake; a rail takes data records only");
    case EMSGSIZE:
      return broken("a TLS record exceeds the greatest length");
    case EINVAL:
      return broken("received bytes that are not a TLS record");
    default:
      return absl::UnavailableError(absl::StrCat(rail, ": ", call, ": ", strerror(error)));
  }
}

}  // namespace tapedeck::dataplane::tcp
