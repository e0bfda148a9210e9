#include "gpu_worker/sockets/proxy.h"

#include <sys/timerfd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"
#include "dataplane/fd.h"
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

}  // namespace tapedeck::gpu_worker::sockets
