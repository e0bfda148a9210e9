// What a kernel and the CPU's proxy share: a table of sockets, each with a mailbox for commands and
// two rings, in memory that both map. C++17, for nvcc and for g++.
//
// A socket has a line that only the kernel writes and a line that only the proxy writes, 64 bytes
// each, so that a look at what the other did costs one cache line, or one read over the bus.
// Numbers of commands lie beside them in one array, which the proxy looks through for all sockets.
//
// A command: the kernel fills `command`, then counts the socket's number up. The proxy copies it,
// stores the number in `taken`, and once it is done the result, and then the number in `answered`.
// A kernel fills the next one only when the last was taken.
#pragma once

#include <cstdint>

#include "gpu_worker/sockets/patience.h"
#include "gpu_worker/sockets/ring.h"

namespace tapedeck::gpu_worker::sockets {

// A handle has ten bits for the socket.
inline constexpr uint32_t kMostSockets = 1024;

// What the kernel asks for.
enum class Operation : uint32_t {
  kListen = 1,   // on address:port; port 0: one that the system chooses
  kAccept = 2,   // the next connection of the socket `listener`
  kConnect = 3,  // to address:port
  kClose = 4,    // once all is sent that was committed
};

// Addresses are IPv4 and, like ports, in the byte order of the machine: 127.0.0.1 is 0x7f000001.
struct Command {
  Operation operation;
  uint32_t address;
  uint32_t port;
  uint32_t listener;   // its place in the table
  int64_t timeout_ns;  // the proxy answers with ETIMEDOUT then; of kClose 0: the proxy's own
};

// The kernel's.
struct alignas(64) KernelLine {
  WriterWords to_network;
  ReaderWords from_network;
  uint64_t unused;
  Command command;
};
static_assert(sizeof(KernelLine) == 64);

// The proxy's. What answers a command is there before its number is.
struct alignas(64) ProxyLine {
  ReaderWords to_network;
  WriterWords from_network;
  uint64_t taken;
  uint64_t answered;
  int32_t result;    // 0 or a negative errno
  uint32_t address;  // of kListen the own, of kAccept and kConnect the peer's
  uint32_t port;     // the same
  uint32_t arrived;  // of a socket that listens: connections that wait to be accepted
};
static_assert(sizeof(ProxyLine) == 64);

// Whether somebody serves the table.
enum class Service : uint32_t { kNotYet = 0, kServing = 1, kOver = 2 };

struct alignas(64) ServiceLine {
  uint32_t service;  // the proxy's
};

// What the kernel's side knows by itself, in memory of its own. `life` changes whenever the socket
// is opened or closed; who changes it to a state owns the rest.
struct alignas(64) OwnSocket {
  uint32_t life;  // generation << 4 | state
  uint32_t unused;
  uint64_t command;  // number of the last one
  WriterPlace to_network;
  ReaderPlace from_network;
};

// All of it, as a kernel gets it: a plain value of pointers that are good on both machines, but for
// `own`, which is memory of the kernel's.
struct Net {
  ServiceLine* service;
  uint64_t* commands;    // for each socket the number of its last command; the kernel's
  KernelLine* kernel;    // for each socket
  ProxyLine* proxy;      // for each socket
  unsigned char* bytes;  // for each socket two rings, that to the network first
  OwnSocket* own;        // for each socket
  uint64_t ring_bytes;   // capacity of each ring
  uint32_t sockets;
};

TAPEDECK_ANYWHERE Ring RingToNetwork(const Net& net, uint32_t socket) {
  return {&net.kernel[socket].to_network, &net.proxy[socket].to_network,
          net.bytes + 2 * socket * net.ring_bytes, net.ring_bytes};
}

TAPEDECK_ANYWHERE Ring RingFromNetwork(const Net& net, uint32_t socket) {
  return {&net.proxy[socket].from_network, &net.kernel[socket].from_network,
          net.bytes + (2 * socket + 1) * net.ring_bytes, net.ring_bytes};
}

}  // namespace tapedeck::gpu_worker::sockets
