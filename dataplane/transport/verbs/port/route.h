// Finds out, without holding up the poller, whether and how the kernel reaches a peer from a port.
// The kernel has then found the peer's link address before a queue pair moves, so the move does not
// wait. On the rail's poller.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/transport/verbs/port/address.h"
#include "dataplane/transport/verbs/port/diagnosis.h"
#include "dataplane/transport/verbs/port/objects.h"

namespace tapedeck::dataplane::verbs {

class Route {
 public:
  using Done = std::function<void(const absl::Status&)>;

  // `done` is called once, never inline: RAIL_UNREACHABLE if there is no way. Destroying the Route
  // ends the search.
  static absl::StatusOr<std::unique_ptr<Route>> Search(EventLoop& poller, const PortName& from,
                                                       const Gid& to, Done done);
  ~Route() { poller_.Unwatch(channel_->fd); }

 private:
  Route(EventLoop& poller, PortName from, std::string to, CmChannel channel, Done done)
      : poller_(poller),
        from_(std::move(from)),
        to_(std::move(to)),
        done_(std::move(done)),
        channel_(std::move(channel)) {}
  void OnEvents();

  EventLoop& poller_;
  const PortName from_;
  const std::string to_;
  Done done_;
  CmChannel channel_;
  CmId id_;
  Lifetime lifetime_;
};

}  // namespace tapedeck::dataplane::verbs
