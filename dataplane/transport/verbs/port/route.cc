#include "dataplane/transport/verbs/port/route.h"

#include <cerrno>
#include <utility>

#include "dataplane/status_macros.h"
#include "dataplane/transport/verbs/port/limits.h"

namespace tapedeck::dataplane::verbs {

absl::StatusOr<std::unique_ptr<Route>> Route::Search(EventLoop& poller, const PortName& from,
                                                     const Gid& to, Done done) {
  TD_ASSIGN_OR_RETURN(CmChannel channel, CreateCmChannel());
  auto route = std::unique_ptr<Route>(
      new Route(poller, from, SocketAddress(to).ip(), std::move(channel), std::move(done)));
  TD_ASSIGN_OR_RETURN(route->id_, CreateCmId(route->channel_.get()));
  TD_ASSIGN_OR_RETURN(const Gid own, GidOf(from.address));
  SocketAddress local(own), remote(to);
  if (rdma_resolve_addr(route->id_.get(), local.get(), remote.get(), kResolveMs) != 0) {
    return PeerUnreachable(from, route->to_, "rdma_resolve_addr", errno);
  }
  Route* const raw = route.get();
  TD_RETURN_IF_ERROR(poller.Watch(raw->channel_->fd, EPOLLIN,
                                  raw->lifetime_.Guard([raw](uint32_t) { raw->OnEvents(); })));
  return route;
}

void Route::OnEvents() {
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel_.get(), &event) != 0) return;
  const bool resolved = event->event == RDMA_CM_EVENT_ADDR_RESOLVED;
  const int error = event->status < 0 ? -event->status : EHOSTUNREACH;
  rdma_ack_cm_event(event);
  if (done_ == nullptr) return;
  const Done done = std::exchange(done_, nullptr);
  // Last: the owner may destroy this.
  done(resolved ? absl::OkStatus() : PeerUnreachable(from_, to_, "rdma_resolve_addr", error));
}

}  // namespace tapedeck::dataplane::verbs
