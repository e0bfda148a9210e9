#include "gpu_worker/sockets/proxy.h"

#include <utility>

#include "dataplane/status_macros.h"
#include "gpu_worker/sockets/proxy_service.h"

namespace tapedeck::gpu_worker::sockets {

using dataplane::EventLoop;

absl::StatusOr<std::unique_ptr<Proxy>> Proxy::Create(const SocketTable& table,
                                                     ProxySettings settings) {
  if (LoadAcquire(&table.net().service->service) != static_cast<uint32_t>(Service::kNotYet)) {
    return absl::FailedPreconditionError(
        "this table has had a proxy: its sockets belong to that one; make a new table");
  }
  TD_ASSIGN_OR_RETURN(std::unique_ptr<EventLoop> loop, EventLoop::Create("kernel-sockets"));
  return std::unique_ptr<Proxy>(new Proxy(std::move(loop), table, std::move(settings)));
}

Proxy::Proxy(std::unique_ptr<EventLoop> loop, const SocketTable& table, ProxySettings settings)
    : loop_(std::move(loop)),
      service_(std::make_unique<ProxyService>(*loop_, table.net(), std::move(settings))) {
  loop_->RunAndWait([this] { service_->Start(); });
}

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
