// What the functions of sockets_device.h ask of the proxy: one thread of a block does it for all.
// C++17, for nvcc and for g++.
#pragma once

#include <cerrno>
#include <cstdint>

#include "gpu_worker/sockets/layout.h"
#include "gpu_worker/sockets/own_socket.h"
#include "gpu_worker/sockets/ring.h"

namespace tapedeck::gpu_worker::sockets {

enum class Connecting { kWait, kDoNotWait };

TAPEDECK_ANYWHERE int64_t ListenByOne(const Net& net, uint32_t address, uint32_t port,
                                      int64_t timeout_ns) {
  if (!IsTimeout(timeout_ns) || port > 0xffff) return -EINVAL;
  if (!IsServed(net)) return -ENETDOWN;
  const int64_t socket = ClaimSocket(net);
  if (socket < 0) return socket;
  return AskFor(net, static_cast<uint32_t>(socket),
                {Operation::kListen, address, port, 0, timeout_ns}, State::kListening);
}

TAPEDECK_ANYWHERE int64_t AcceptByOne(const Net& net, int64_t listener, int64_t timeout_ns) {
  if (!IsTimeout(timeout_ns)) return -EINVAL;
  const int64_t from = FindSocket(net, listener);
  if (from < 0) return from;
  if (StateOf(LoadAcquire(&net.own[from].life)) != State::kListening) return -EINVAL;
  if (!IsServed(net)) return -ENETDOWN;
  const int64_t socket = ClaimSocket(net);
  if (socket < 0) return socket;
  return AskFor(net, static_cast<uint32_t>(socket),
                {Operation::kAccept, 0, 0, static_cast<uint32_t>(from), timeout_ns}, State::kOpen);
}

TAPEDECK_ANYWHERE int64_t ConnectByOne(const Net& net, uint32_t address, uint32_t port,
                                       int64_t timeout_ns, Connecting connecting) {
  if (!IsTimeout(timeout_ns) || timeout_ns == 0 || port == 0 || port > 0xffff) return -EINVAL;
  if (!IsServed(net)) return -ENETDOWN;
  const int64_t claimed = ClaimSocket(net);
  if (claimed < 0) return claimed;
  const auto socket = static_cast<uint32_t>(claimed);
  const Command command{Operation::kConnect, address, port, 0, timeout_ns};
  if (connecting == Connecting::kWait) return AskFor(net, socket, command, State::kOpen);
  BeginRings(net, socket);
  Issue(net, socket, command);
  SetState(net, socket, State::kConnecting);
  return HandleOf(net, socket);
}

TAPEDECK_ANYWHERE int64_t CloseByOne(const Net& net, int64_t handle, int64_t timeout_ns) {
  if (!IsTimeout(timeout_ns)) return -EINVAL;
  const int64_t found = FindSocket(net, handle);
  if (found < 0) return found;
  const auto socket = static_cast<uint32_t>(found);
  // A command that the proxy has not taken must not be written over: it takes one within
  // microseconds, or it is gone.
  Patience grace = PatienceOf(kProxyGraceNs);
  const int64_t taken = AwaitNumber(net, socket, &net.proxy[socket].taken, grace);
  if (taken == 0) {
    End(RingToNetwork(net, socket), kEnded);
    Stop(RingFromNetwork(net, socket), kEnded);
    Issue(net, socket, {Operation::kClose, 0, 0, 0, timeout_ns});
  }
  // One that nobody waits for is free for whoever sees the answer; else nobody else may have it
  // before it has been seen here.
  if (taken != 0 || timeout_ns == 0) {
    SetState(net, socket, State::kClosing);
    return taken;
  }
  SetState(net, socket, State::kClaimed);
  const int64_t result = AwaitAnswer(net, socket, timeout_ns);
  SetFree(net, socket);
  return result;
}

}  // namespace tapedeck::gpu_worker::sockets
