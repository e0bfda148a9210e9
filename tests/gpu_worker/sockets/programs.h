// Programs that use sockets of kernels: the same source as threads of the CPU and as kernels.
// C++17, for nvcc and for g++.
#pragma once

#include <cerrno>
#include <cstdint>

#include "gpu_worker/sockets/sockets_device.h"

namespace tapedeck::gpu_worker::sockets {

inline constexpr int64_t kMs = 1'000'000;
inline constexpr uint32_t kResults = 16;           // of a block
inline constexpr uint32_t kSocketsOfABlock = 64;   // that it serves at a time
inline constexpr uint64_t kBufferBytes = 1 << 18;  // of a block, in memory of the device

// What a block gets. Results and `stop` lie in memory that the CPU sees.
struct Args {
  Net net;
  int64_t handle = 0;  // of a listener, or of a socket
  uint32_t address = 0;
  uint32_t port = 0;
  uint64_t bytes = 0;  // of a message
  int64_t timeout_ns = 0;
  uint32_t* stop = nullptr;         // 1: the program ends
  int64_t* results = nullptr;       // kResults, behind those of the blocks before
  unsigned char* buffer = nullptr;  // kBufferBytes, the same
  uint32_t block = 0;
};

enum class Program {
  kListen,        // a handle and its port
  kEcho,          // serves until it is stopped: one connection at a time
  kPollEcho,      // the same, kSocketsOfABlock at a time
  kExchange,      // connects, sends a message and compares what comes back
  kLateExchange,  // the same, connecting without waiting
  kReadWhole,     // accepts, and reads a whole message
  kErrors,        // what is refused
  kWait,          // accepts, and sits in grecv
};

// By all lanes of a block; one of them writes.
TAPEDECK_ANYWHERE void Tell(const Args& args, uint32_t which, int64_t result) {
  if (IsFirstLane()) args.results[which] = result;
}
TAPEDECK_ANYWHERE void Count(const Args& args, uint32_t which, int64_t more) {
  if (IsFirstLane()) args.results[which] += more;
}
TAPEDECK_ANYWHERE bool IsStopped(const Args& args) {
  return FromFirstLane(IsFirstLane() ? LoadAcquire(args.stop) : 0) != 0;
}

TAPEDECK_ANYWHERE void RunListen(const Args& args) {
  const int64_t handle = glisten(args.net, args.address, args.port, args.timeout_ns);
  Tell(args, 0, handle);
  Tell(args, 1, gport(args.net, handle));
}

// Results: connections, bytes, the first error.
TAPEDECK_ANYWHERE void Fault(const Args& args, int64_t result) {
  if (IsFirstLane() && args.results[2] == 0) args.results[2] = result;
}

TAPEDECK_ANYWHERE void EchoOne(const Args& args, int64_t socket) {
  while (true) {
    const int64_t got = grecv(args.net, socket, args.buffer, kBufferBytes, args.timeout_ns);
    if (got < 0) Fault(args, got);
    if (got <= 0) break;
    const int64_t sent = gsend(args.net, socket, args.buffer, got, args.timeout_ns);
    if (sent != got) Fault(args, sent < 0 ? sent : -ETIMEDOUT);
    if (sent != got) break;
    Count(args, 1, got);
  }
  const int64_t closed = gclose(args.net, socket, args.timeout_ns);
  if (closed < 0) Fault(args, closed);
  Count(args, 0, 1);
}

TAPEDECK_ANYWHERE void RunEcho(const Args& args) {
  while (!IsStopped(args)) {
    const int64_t socket = gaccept(args.net, args.handle, 20 * kMs);
    if (socket >= 0) EchoOne(args, socket);
    if (socket < 0 && socket != -ETIMEDOUT) Fault(args, socket);
    if (socket < 0 && socket != -ETIMEDOUT) return;
  }
}

// One turn of a socket that gpoll has named; whether it goes on.
TAPEDECK_ANYWHERE bool EchoReady(const Args& args, int64_t socket) {
  const int64_t got = grecv(args.net, socket, args.buffer, kBufferBytes / 2, 0);
  if (got == -EAGAIN) return true;
  if (got < 0) Fault(args, got);
  if (got > 0 && gsend(args.net, socket, args.buffer, got, args.timeout_ns) == got) {
    Count(args, 1, got);
    return true;
  }
  if (got > 0) Fault(args, -ETIMEDOUT);
  gclose(args.net, socket, 0);
  Count(args, 0, 1);
  return false;
}

// Accepts while it has room for more; items[0] is the listener.
TAPEDECK_ANYWHERE uint32_t TakeArrived(const Args& args, PollItem* items, uint32_t count) {
  while (count <= kSocketsOfABlock) {
    const int64_t socket = gaccept(args.net, args.handle, 0);
    if (socket < 0 && socket != -EAGAIN) Fault(args, socket);
    if (socket < 0) break;
    if (IsFirstLane()) items[count] = {socket, kReadable, 0};
    ++count;
  }
  SyncBlock();
  return count;
}

TAPEDECK_ANYWHERE void RunPollEcho(const Args& args) {
  // Behind the buffer's part that is received into.
  auto* items = reinterpret_cast<PollItem*>(args.buffer + kBufferBytes) - kSocketsOfABlock - 1;
  if (IsFirstLane()) items[0] = {args.handle, kReadable, 0};
  SyncBlock();
  uint32_t count = 1;
  while (!IsStopped(args)) {
    // A full block does not look at the listener.
    const uint32_t skipped = count > kSocketsOfABlock ? 1 : 0;
    const int64_t ready = gpoll(args.net, items + skipped, count - skipped, 20 * kMs);
    if (ready < 0) return Fault(args, ready);
    for (uint32_t i = count - 1; i >= 1; --i) {
      if (FromFirstLane(items[i].ready) == 0 || EchoReady(args, items[i].handle)) continue;
      SyncBlock();
      if (IsFirstLane()) items[i] = items[count - 1];
      SyncBlock();
      --count;
    }
    if (skipped == 0 && FromFirstLane(items[0].ready) != 0) count = TakeArrived(args, items, count);
  }
}

TAPEDECK_ANYWHERE unsigned char PatternAt(uint32_t block, uint64_t i) {
  return static_cast<unsigned char>((i * 2654435761u + block * 40503u) >> 8);
}

// Sends and receives by turns in parts of at most half a buffer; how many bytes came back
// unchanged, or a negative errno.
TAPEDECK_ANYWHERE int64_t Exchange(const Args& args, int64_t socket) {
  unsigned char* const buffer = args.buffer;
  unsigned char* const back = buffer + kBufferBytes / 2;
  int64_t good = 0;
  for (uint64_t at = 0; at < args.bytes; at += kBufferBytes / 2) {
    const uint64_t part = Least(args.bytes - at, kBufferBytes / 2);
    for (uint64_t i = LaneOfBlock(); i < part; i += LanesOfBlock()) {
      buffer[i] = PatternAt(args.block, at + i);
    }
    SyncBlock();
    const int64_t sent = gsend(args.net, socket, buffer, part, args.timeout_ns);
    if (sent != static_cast<int64_t>(part)) return sent < 0 ? sent : -ETIMEDOUT;
    const int64_t got = grecv_whole(args.net, socket, back, part, args.timeout_ns);
    if (got != static_cast<int64_t>(part)) return got < 0 ? got : -ENODATA;
    int32_t same = 0;
    for (uint64_t i = LaneOfBlock(); i < part; i += LanesOfBlock()) same += back[i] == buffer[i];
    good += SumOfBlock(same);
  }
  return good;
}

// Results: the handle or error of gconnect, what came back unchanged, gclose, and grecv after it.
TAPEDECK_ANYWHERE void RunExchange(const Args& args, Connecting connecting) {
  const int64_t socket = gconnect(args.net, args.address, args.port, args.timeout_ns, connecting);
  Tell(args, 0, socket);
  if (socket < 0) return;
  auto* item = reinterpret_cast<PollItem*>(args.buffer);
  if (IsFirstLane()) *item = {socket, kWritable, 0};
  SyncBlock();
  Tell(args, 4, gpoll(args.net, item, 1, args.timeout_ns));
  Tell(args, 5, item->ready);
  SyncBlock();
  Tell(args, 1, Exchange(args, socket));
  Tell(args, 2, gclose(args.net, socket, args.timeout_ns));
  Tell(args, 3, grecv(args.net, socket, args.buffer, 1, args.timeout_ns));
}

// Results: gaccept, grecv_whole, how long that took.
TAPEDECK_ANYWHERE void RunReadWhole(const Args& args) {
  const int64_t socket = gaccept(args.net, args.handle, args.timeout_ns);
  Tell(args, 0, socket);
  if (socket < 0) return;
  const int64_t begin_ns = NowNs();
  Tell(args, 1, grecv_whole(args.net, socket, args.buffer, args.bytes, args.timeout_ns));
  Tell(args, 2, NowNs() - begin_ns);
  gclose(args.net, socket, 0);
}

// Results: one for each call.
TAPEDECK_ANYWHERE void RunErrors(const Args& args) {
  const Net& net = args.net;
  unsigned char* const buffer = args.buffer;
  Tell(args, 0, gsend(net, 12345, buffer, 8, args.timeout_ns));
  Tell(args, 1, gconnect(net, args.address, args.port, args.timeout_ns));
  Tell(args, 2, gconnect(net, 0x0a000001, 9, args.timeout_ns));
  Tell(args, 3, glisten(net, 0, 80, args.timeout_ns));
  Tell(args, 4, gaccept(net, args.handle, 30 * kMs));
  Tell(args, 5, gaccept(net, args.handle, 0));
  Tell(args, 6, grecv(net, args.handle, buffer, 8, args.timeout_ns));
  Tell(args, 7, gaccept(net, args.handle, -1));
  Tell(args, 8, gclose(net, -1, 0));
  Tell(args, 9, gclose(net, args.handle, args.timeout_ns));
  Tell(args, 10, gaccept(net, args.handle, args.timeout_ns));
  Tell(args, 11, glisten(net, args.address, 70000, args.timeout_ns));
}

// Results: gaccept, grecv, and a call after that.
TAPEDECK_ANYWHERE void RunWait(const Args& args) {
  const int64_t socket = gaccept(args.net, args.handle, args.timeout_ns);
  Tell(args, 0, socket);
  if (socket < 0) return;
  Tell(args, 1, grecv(args.net, socket, args.buffer, 8, args.timeout_ns));
  Tell(args, 2, gaccept(args.net, args.handle, args.timeout_ns));
}

TAPEDECK_ANYWHERE void Run(Program program, const Args& args) {
  switch (program) {
    case Program::kListen:
      return RunListen(args);
    case Program::kEcho:
      return RunEcho(args);
    case Program::kPollEcho:
      return RunPollEcho(args);
    case Program::kExchange:
      return RunExchange(args, Connecting::kWait);
    case Program::kLateExchange:
      return RunExchange(args, Connecting::kDoNotWait);
    case Program::kReadWhole:
      return RunReadWhole(args);
    case Program::kErrors:
      return RunErrors(args);
    case Program::kWait:
      return RunWait(args);
  }
}

// For blocks.h; `args` is the first block's.
struct Calls {
  static constexpr uint32_t kLanes = 128;

  Program program;
  Args args;

  TAPEDECK_ANYWHERE void RunBlock(uint32_t block) const {
    Args own = args;
    own.block = block;
    own.results += block * kResults;
    own.buffer += block * kBufferBytes;
    Run(program, own);
  }
};

}  // namespace tapedeck::gpu_worker::sockets
