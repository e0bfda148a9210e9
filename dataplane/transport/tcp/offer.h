// One connection waiting for its peer: on a listening rail it waits to be called, else it calls.
#pragma once

#include <memory>

#include "dataplane/executor/event_loop.h"
#include "dataplane/transport/tcp/connection.h"
#include "dataplane/transport/tcp/keys.h"
#include "dataplane/transport/tcp/listener.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane::tcp {

// What a connection needs of its rail: its own poller, and what all share. `listener` is null on a
// rail that connects.
struct RailPort {
  EventLoop* poller;
  Listener* listener;
  RailDescription rail;
};

// What this end brings to one connection, and to no other. Zero where it brings nothing.
struct Credentials {
  Token token{};
  Secret secret{};
};

// On the poller that `port` names.
std::unique_ptr<Offer> NewTcpOffer(const RailPort& port, const ExposedWindow& window,
                                   const Credentials& own);

}  // namespace tapedeck::dataplane::tcp
