// What the servers among the programs share: blocks that each serve one connection after another.
// C++17, for nvcc and for g++.
#pragma once

#include <cerrno>
#include <cstdint>

#include "gpu_worker/sockets/sockets_device.h"

namespace tapedeck::gpu_worker::sockets {

// Of a block, in memory that the CPU sees.
struct Served {
  int64_t connections;
  int64_t answers;
  int64_t fault;  // the first errno, negative, that is the server's own
};

// What a server gets. A plain value; `stop` lies in memory that the CPU sees, 1: it ends.
struct ServerArgs {
  Net net;
  int64_t listener = 0;
  int64_t timeout_ns = 0;  // of a message that has begun
  uint32_t* stop = nullptr;
  Served* served = nullptr;  // for each block
};

TAPEDECK_ANYWHERE bool IsStopped(const ServerArgs& args) {
  return FromFirstLane(IsFirstLane() ? LoadAcquire(args.stop) : 0) != 0;
}

// Until it is stopped. `serve(socket)` returns when the connection is of no more use; the socket is
// closed behind it.
template <typename Serve>
TAPEDECK_ANYWHERE void ServeConnections(const ServerArgs& args, uint32_t block, Serve serve) {
  while (!IsStopped(args)) {
    const int64_t socket = gaccept(args.net, args.listener, 20'000'000);
    if (socket == -ETIMEDOUT) continue;
    if (socket < 0) {
      if (IsFirstLane()) args.served[block].fault = socket;
      return;
    }
    serve(socket);
    gclose(args.net, socket, args.timeout_ns);
    if (IsFirstLane()) ++args.served[block].connections;
  }
}

// A whole question, between the end of one message and the next for as long as the server runs.
// Its bytes, or 0 or less where there is none any more.
TAPEDECK_ANYWHERE int64_t NextQuestion(const ServerArgs& args, int64_t socket, void* question,
                                       uint64_t bytes) {
  while (!IsStopped(args)) {
    const int64_t got = grecv(args.net, socket, question, bytes, 20'000'000);
    if (got == -ETIMEDOUT) continue;
    if (got <= 0 || static_cast<uint64_t>(got) == bytes) return got;
    const uint64_t left = bytes - static_cast<uint64_t>(got);
    const int64_t rest = grecv_whole(args.net, socket, static_cast<unsigned char*>(question) + got,
                                     left, args.timeout_ns);
    return rest == static_cast<int64_t>(left) ? static_cast<int64_t>(bytes) : -ECONNRESET;
  }
  return -ECANCELED;
}

// Whether all of it went out.
TAPEDECK_ANYWHERE bool SendAll(const ServerArgs& args, int64_t socket, const void* data,
                               uint64_t bytes) {
  return gsend(args.net, socket, data, bytes, args.timeout_ns) == static_cast<int64_t>(bytes);
}

TAPEDECK_ANYWHERE void CountAnswer(const ServerArgs& args, uint32_t block) {
  if (IsFirstLane()) ++args.served[block].answers;
}

}  // namespace tapedeck::gpu_worker::sockets
