#include "services/daemon/supervisor/notify_socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tapedeck::services::supervisor {
namespace {

constexpr timeval kSendLimit{.tv_sec = 1};

}  // namespace

absl::StatusOr<std::unique_ptr<NotifySocket>> NotifySocket::Create(std::string address) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::ErrnoToStatus(errno, "socket of the supervisor");
  auto made = std::unique_ptr<NotifySocket>(new NotifySocket(fd, std::move(address)));
  if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kSendLimit, sizeof(kSendLimit)) != 0) {
    return absl::ErrnoToStatus(errno, "setsockopt SO_SNDTIMEO");
  }
  return made;
}

NotifySocket::~NotifySocket() { close(fd_); }

absl::Status NotifySocket::Send(absl::string_view message) {
  sockaddr_un to{.sun_family = AF_UNIX};
  const size_t length = std::min(address_.size(), sizeof(to.sun_path) - 1);
  std::copy_n(address_.begin(), length, to.sun_path);
  if (to.sun_path[0] == '@') to.sun_path[0] = '\0';  // an abstract name
  const socklen_t bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  if (sendto(fd_, message.data(), message.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&to), bytes) < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("sendto ", address_));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::services::supervisor
