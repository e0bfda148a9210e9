// The far end of a measurement, as a kernel, as a thread over the same rings, or as an ordinary
// program. C++17, for nvcc and for g++.
//
// A connection begins with BenchQuestion, and then is what `work` says; the far end closes it.
#pragma once

#include <cstdint>

#include "gpu_worker/sockets/sockets_device.h"
#include "tests/gpu_worker/sockets/applications/server_args.h"

namespace tapedeck::gpu_worker::sockets {

enum class Work : uint32_t {
  kEcho = 1,  // bytes * messages bytes come back, as they come
  kTake = 2,  // so many messages are received, each as a whole; one byte says that all are there
  kGive = 3,  // so many messages are sent
};

struct BenchQuestion {
  Work work;
  uint32_t unused;
  uint64_t bytes;  // of a message, kMostMessageBytes at most
  uint64_t messages;
  int64_t wait_ns;  // of kEcho, before each answer: the proxy has nothing to do meanwhile
};

inline constexpr uint64_t kMostMessageBytes = 1 << 20;

// Of a block, in memory of the device.
struct BenchMemory {
  BenchQuestion question;
  alignas(64) unsigned char message[kMostMessageBytes];
};

// The sockets of a kernel.
struct RingPeer {
  const ServerArgs& args;
  int64_t socket;

  TAPEDECK_ANYWHERE RingPeer(const ServerArgs& of, int64_t handle) : args(of), socket(handle) {}

  TAPEDECK_ANYWHERE int64_t Some(void* to, uint64_t bytes) const {
    return grecv(args.net, socket, to, bytes, args.timeout_ns);
  }
  TAPEDECK_ANYWHERE bool Whole(void* to, uint64_t bytes) const {
    return grecv_whole(args.net, socket, to, bytes, args.timeout_ns) == static_cast<int64_t>(bytes);
  }
  TAPEDECK_ANYWHERE bool Send(const void* from, uint64_t bytes) const {
    return SendAll(args, socket, from, bytes);
  }
};

template <typename Peer>
TAPEDECK_ANYWHERE bool DoEcho(const Peer& peer, BenchMemory& own, const BenchQuestion& question) {
  uint64_t left = question.bytes * question.messages;
  while (left > 0) {
    const int64_t got = peer.Some(own.message, kMostMessageBytes);
    if (got <= 0) return false;
    const int64_t until_ns = question.wait_ns > 0 ? FromFirstLane(NowNs()) + question.wait_ns : 0;
    while (until_ns > 0 && FromFirstLane(NowNs()) < until_ns) {
    }
    if (!peer.Send(own.message, static_cast<uint64_t>(got))) return false;
    left -= Least(left, static_cast<uint64_t>(got));
  }
  return true;
}

template <typename Peer>
TAPEDECK_ANYWHERE bool DoWork(const Peer& peer, BenchMemory& own) {
  const BenchQuestion question = own.question;
  if (question.bytes == 0 || question.bytes > kMostMessageBytes) return false;
  if (question.work == Work::kEcho) return DoEcho(peer, own, question);
  for (uint64_t i = 0; i < question.messages; ++i) {
    const bool good = question.work == Work::kTake ? peer.Whole(own.message, question.bytes)
                                                   : peer.Send(own.message, question.bytes);
    if (!good) return false;
  }
  return question.work != Work::kTake || peer.Send(own.message, 1);
}

struct BenchServer {
  static constexpr uint32_t kLanes = 512;

  ServerArgs args;
  BenchMemory* memory;  // for each block

  TAPEDECK_ANYWHERE void RunBlock(uint32_t block) const {
    BenchMemory& own = memory[block];
    ServeConnections(args, block, [&](int64_t socket) {
      if (NextQuestion(args, socket, &own.question, sizeof(own.question)) <= 0) return;
      if (DoWork(RingPeer(args, socket), own)) CountAnswer(args, block);
    });
  }
};

}  // namespace tapedeck::gpu_worker::sockets
