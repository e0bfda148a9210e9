#include "gpu_worker/sockets/proxy.h"

#include <arpa/inet.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/errors.h"
#include "dataplane/fd.h"
#include "dataplane/printable.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/sockets/proxy_service.h"

namespace tapedeck::gpu_worker::sockets {

using dataplane::EventLoop;
using dataplane::Fd;

absl::StatusOr<std::unique_ptr<Proxy>> Proxy::Create(const SocketTable& table,
                                                     ProxySettings settings) {
  if (LoadAcquire(&table.net().service->service) != static_cast<uint32_t>(Service::kNotYet)) {
    return absl::FailedPreconditionError(
        "this table has had a proxy: its sockets belong to that one; make a new table");
  }
  Fd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (timer.get() < 0) {
    return dataplane::LimitReached("file descriptors", "RLIMIT_NOFILE",
                                   absl::StrCat("timerfd_create: ", std::strerror(errno)));
  }
  TD_ASSIGN_OR_RETURN(std::unique_ptr<EventLoop> loop, EventLoop::Create("kernel-sockets"));
  auto service =
      std::make_unique<ProxyService>(*loop, std::move(timer), table.net(), std::move(settings));
  absl::Status started;
  loop->RunAndWait([&] { started = service->Start(); });
  TD_RETURN_IF_ERROR(started);
  return std::unique_ptr<Proxy>(new Proxy(std::move(loop), std::move(service)));
}

Proxy::Proxy(std::unique_ptr<EventLoop> loop, std::unique_ptr<ProxyService> service)
    : loop_(std::move(loop)), service_(std::move(service)) {}

// The loop ends before the service, which tasks of the loop may still name until then.
Proxy::~Proxy() {
  loop_->RunAndWait([this] { service_->Stop(); });
  loop_.reset();
}

ProxyCounts Proxy::counts() {
  ProxyCounts counts;
  loop_->RunAndWait([&] { counts = service_->counts(); });
  return counts;
}

using dataplane::ParsePort;

absl::StatusOr<Endpoints> Endpoints::Parse(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  Endpoints out;
  in_addr address{};
  bool good = inet_pton(AF_INET, std::string(parts.first).c_str(), &address) == 1;
  out.address = ntohl(address.s_addr);
  if (parts.second != "*") {
    const std::pair<absl::string_view, absl::string_view> ports =
        absl::StrSplit(parts.second, absl::MaxSplits('-', 1));
    const bool one = parts.second.find('-') == absl::string_view::npos;
    const uint16_t first = ParsePort(ports.first).value_or(0);
    const uint16_t last = ParsePort(one ? ports.first : ports.second).value_or(0);
    good = good && first != 0 && first <= last;
    out.first_port = first;
    out.last_port = last;
  }
  if (good) return out;
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", dataplane::Printable(text),
      "\" is not an ADDRESS:PORT, ADDRESS:FIRST-LAST or ADDRESS:* of an IPv4 address"));
}

bool Endpoints::Has(uint32_t of_address, uint32_t port) const {
  if (of_address != address || port > UINT16_MAX) return false;
  return first_port == 0 || (port >= first_port && port <= last_port);
}

bool AnyHas(const std::vector<Endpoints>& list, uint32_t address, uint32_t port) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Endpoints& endpoints) { return endpoints.Has(address, port); });
}

std::string EndpointText(uint32_t address, uint32_t port) {
  return absl::StrCat(address >> 24, ".", address >> 16 & 255, ".", address >> 8 & 255, ".",
                      address & 255, ":", port);
}

}  // namespace tapedeck::gpu_worker::sockets
