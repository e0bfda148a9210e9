// TCP sockets for kernels, served by a Proxy on the CPU. C++17, for nvcc and for g++: a thread of
// the CPU calls the same functions, as a thread block of one thread.
//
//   const int64_t listener = glisten(net, 0x7f000001, 0, kSecondNs);
//   const int64_t socket = gaccept(net, listener, kSecondNs);
//   const int64_t got = grecv(net, socket, buffer, sizeof(buffer), kSecondNs);
//
// All threads of a thread block call a function together, with the same arguments, and all get the
// same result. A socket is used by one block at a time, but that one block may send while another
// receives; who hands a socket to another block orders memory between the two as for any value.
//
// Results are a handle or a count where they are not negative, else a negative errno:
//   EAGAIN        timeout_ns is 0 and there is nothing to do yet
//   ETIMEDOUT     the deadline has passed
//   EBADF         no socket has this handle, or it was closed
//   EMFILE        all sockets of the table are in use, or the proxy has no descriptor left
//   EACCES        the proxy was not given this address and port
//   ECONNREFUSED  and other errnos of connect(2), bind(2): what the network said
//   ECONNRESET    the peer is gone, maybe in the middle of a message
//   EPIPE         nothing may be sent any more
//   EPROTO        the proxy, or the kernel, broke the protocol of the rings
//   ENETDOWN      nobody serves the table (yet, or any more)
//   EINVAL, ENOTCONN  an argument is wrong
// timeout_ns is in nanoseconds, from 0 (does not wait) to kMostTimeoutNs. Nothing waits without a
// deadline. Buffers may be any memory of the caller's; in 16 byte steps they are copied fastest.
#pragma once

#include <cerrno>
#include <cstdint>

#include "gpu_worker/sockets/asking.h"
#include "gpu_worker/sockets/block.h"
#include "gpu_worker/sockets/layout.h"
#include "gpu_worker/sockets/own_socket.h"
#include "gpu_worker/sockets/ring.h"

namespace tapedeck::gpu_worker::sockets {

// Their names are those of the sockets they stand for.
// NOLINTBEGIN(readability-identifier-naming)

// ---- Waiting for the other end of a ring. By the first lane.

TAPEDECK_ANYWHERE int64_t AwaitRoom(const Net& net, const Ring& ring, WriterPlace& place,
                                    uint64_t wanted, Patience& patience) {
  const int64_t known = KnownRoom(ring, place);
  if (known < 0 || static_cast<uint64_t>(known) >= wanted) return known;
  while (true) {
    const int64_t room = Room(ring, place);
    if (room != 0) return room;
    const int64_t over = BeforeNextLook(net, patience);
    if (over != 0) return over;
  }
}

TAPEDECK_ANYWHERE int64_t AwaitBytes(const Net& net, const Ring& ring, ReaderPlace& place,
                                     uint64_t wanted, Patience& patience) {
  if (place.fault == 0 && place.seen - place.read >= wanted) {
    return static_cast<int64_t>(place.seen - place.read);
  }
  while (true) {
    const int64_t available = Available(ring, place);
    if (available != -EAGAIN) return available;
    const int64_t over = BeforeNextLook(net, patience);
    if (over != 0) return over;
  }
}

TAPEDECK_ANYWHERE uint64_t Least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// ---- The functions.

// A socket that listens on address:port (port 0: the system chooses one, see gport). EACCES,
// EADDRINUSE.
TAPEDECK_ANYWHERE int64_t glisten(const Net& net, uint32_t address, uint32_t port,
                                  int64_t timeout_ns) {
  return FromFirstLane(IsFirstLane() ? ListenByOne(net, address, port, timeout_ns) : 0);
}

// The port that a socket listens on, or its peer's. EBADF; ENOTCONN while it connects.
TAPEDECK_ANYWHERE int64_t gport(const Net& net, int64_t handle) {
  const int64_t socket = FindSocket(net, handle);
  if (socket < 0) return socket;
  if (!IsAnswered(net, static_cast<uint32_t>(socket))) return -ENOTCONN;
  return net.proxy[socket].port;
}

// The next connection of a socket that listens.
TAPEDECK_ANYWHERE int64_t gaccept(const Net& net, int64_t listener, int64_t timeout_ns) {
  return FromFirstLane(IsFirstLane() ? AcceptByOne(net, listener, timeout_ns) : 0);
}

// A connection to address:port, which must be there within timeout_ns. With kDoNotWait the handle
// comes at once: gpoll says when it may be written to, and sending and receiving wait for it and
// tell its error.
TAPEDECK_ANYWHERE int64_t gconnect(const Net& net, uint32_t address, uint32_t port,
                                   int64_t timeout_ns, Connecting connecting = Connecting::kWait) {
  return FromFirstLane(IsFirstLane() ? ConnectByOne(net, address, port, timeout_ns, connecting)
                                     : 0);
}

// Puts bytes into the socket's ring: all of them, or as many as until the deadline, or an error.
// The count says nothing of whether the peer has got them: errors of bytes under way are told
// later.
TAPEDECK_ANYWHERE int64_t gsend(const Net& net, int64_t handle, const void* data, uint64_t bytes,
                                int64_t timeout_ns) {
  if (!IsTimeout(timeout_ns)) return -EINVAL;
  Patience patience = PatienceOf(timeout_ns);
  const int64_t socket = FromFirstLane(IsFirstLane() ? FindConnected(net, handle, patience) : 0);
  if (socket < 0) return socket;
  const Ring ring = RingToNetwork(net, static_cast<uint32_t>(socket));
  WriterPlace& place = net.own[socket].to_network;
  const auto* from = static_cast<const unsigned char*>(data);
  uint64_t sent = 0;
  while (sent < bytes) {
    // In parts of the ring, so that the proxy sends one while the next one is copied.
    const uint64_t part = Least(bytes - sent, ring.capacity / 4);
    const int64_t room =
        FromFirstLane(IsFirstLane() ? AwaitRoom(net, ring, place, part, patience) : 0);
    if (room <= 0) return sent > 0 ? static_cast<int64_t>(sent) : room;
    const uint64_t now = Least(part, static_cast<uint64_t>(room));
    const Piece piece = PieceAt(ring.capacity, place.written, now);
    CopyByBlock(ring.bytes + piece.at, from + sent, piece.bytes);
    CopyByBlock(ring.bytes, from + sent + piece.bytes, now - piece.bytes);
    SyncBlock();
    if (IsFirstLane()) Commit(ring, place, now);
    sent += now;
  }
  return static_cast<int64_t>(sent);
}

// Takes what is there, `bytes` at most; waits only for the first byte. 0: the peer has ended its
// stream. An error is told once all that came before it has been taken.
TAPEDECK_ANYWHERE int64_t grecv(const Net& net, int64_t handle, void* data, uint64_t bytes,
                                int64_t timeout_ns) {
  if (!IsTimeout(timeout_ns)) return -EINVAL;
  Patience patience = PatienceOf(timeout_ns);
  const int64_t socket = FromFirstLane(IsFirstLane() ? FindConnected(net, handle, patience) : 0);
  if (socket < 0 || bytes == 0) return socket < 0 ? socket : 0;
  const Ring ring = RingFromNetwork(net, static_cast<uint32_t>(socket));
  ReaderPlace& place = net.own[socket].from_network;
  const int64_t available =
      FromFirstLane(IsFirstLane() ? AwaitBytes(net, ring, place, bytes, patience) : 0);
  if (available <= 0) return available;
  auto* to = static_cast<unsigned char*>(data);
  const uint64_t now = Least(bytes, static_cast<uint64_t>(available));
  // In parts of the ring, so that the proxy fills one while the next one is copied.
  for (uint64_t taken = 0; taken < now;) {
    const uint64_t part = Least(now - taken, ring.capacity / 4);
    const Piece piece = PieceAt(ring.capacity, place.read, part);
    CopyByBlock(to + taken, ring.bytes + piece.at, piece.bytes);
    CopyByBlock(to + taken + piece.bytes, ring.bytes, part - piece.bytes);
    SyncBlock();
    if (IsFirstLane()) Release(ring, place, part);
    // The other lanes look for the next part behind it, and the caller reads what they have copied.
    SyncBlock();
    taken += part;
  }
  return static_cast<int64_t>(now);
}

// A whole message of `bytes` bytes, which is waited for; 0 where the stream ends before it.
// ECONNRESET where the peer goes, or ends its stream, in the middle of it; ETIMEDOUT there loses
// what had come, so that the socket is of no use any more.
TAPEDECK_ANYWHERE int64_t grecv_whole(const Net& net, int64_t handle, void* data, uint64_t bytes,
                                      int64_t timeout_ns) {
  if (!IsTimeout(timeout_ns) || timeout_ns == 0) return -EINVAL;
  const int64_t deadline_ns = FromFirstLane(NowNs()) + timeout_ns;
  auto* to = static_cast<unsigned char*>(data);
  uint64_t have = 0;
  while (have < bytes) {
    const int64_t left_ns = FromFirstLane(deadline_ns - NowNs());
    const int64_t wait_ns = left_ns > 0 ? left_ns : 0;
    const int64_t got = grecv(net, handle, to + have, bytes - have, wait_ns);
    if (got == 0) return have == 0 ? 0 : -ECONNRESET;
    if (got == -EAGAIN) return -ETIMEDOUT;
    if (got < 0) return got;
    have += static_cast<uint64_t>(got);
  }
  return static_cast<int64_t>(have);
}

// Nothing more is sent: the peer sees the end of the stream behind what was sent. Receiving goes
// on.
TAPEDECK_ANYWHERE int64_t gshutdown(const Net& net, int64_t handle, int64_t timeout_ns) {
  if (!IsTimeout(timeout_ns)) return -EINVAL;
  Patience patience = PatienceOf(timeout_ns);
  int64_t socket = 0;
  if (IsFirstLane()) {
    socket = FindConnected(net, handle, patience);
    if (socket >= 0 && net.own[socket].to_network.fault == 0) {
      End(RingToNetwork(net, static_cast<uint32_t>(socket)), kEnded);
      net.own[socket].to_network.fault = EPIPE;
    }
  }
  socket = FromFirstLane(socket);
  return socket < 0 ? socket : 0;
}

// Ends a socket, of any kind. What was sent still goes out; with a timeout it is waited for, and
// ETIMEDOUT or the network's error says that some did not, with which the peer sees a reset. With 0
// the proxy goes on by itself. The handle is good for nothing from then on, whatever the result.
TAPEDECK_ANYWHERE int64_t gclose(const Net& net, int64_t handle, int64_t timeout_ns) {
  return FromFirstLane(IsFirstLane() ? CloseByOne(net, handle, timeout_ns) : 0);
}

// ---- Many sockets at once.

inline constexpr uint32_t kReadable = 1;  // grecv or gaccept does not wait; maybe it tells an error
inline constexpr uint32_t kWritable = 2;  // gsend does not wait; maybe it tells an error
inline constexpr uint32_t kFailed = 4;    // told unasked: an error, or an unknown socket

struct PollItem {
  int64_t handle;
  uint32_t wanted;
  uint32_t ready;
};

TAPEDECK_ANYWHERE uint32_t ReadyNow(const Net& net, const PollItem& item) {
  const int64_t found = FindSocket(net, item.handle);
  if (found < 0) return kFailed;
  const auto socket = static_cast<uint32_t>(found);
  OwnSocket& own = net.own[socket];
  const State state = StateOf(LoadAcquire(&own.life));
  if (state == State::kListening) {
    return LoadAcquire(&net.proxy[socket].arrived) > 0 ? item.wanted & kReadable : 0;
  }
  if (state == State::kConnecting && !NoteConnected(net, socket)) return 0;
  uint32_t ready = 0;
  if ((item.wanted & kReadable) != 0) {
    const int64_t available = Available(RingFromNetwork(net, socket), own.from_network);
    if (available != -EAGAIN) ready |= available < 0 ? kReadable | kFailed : kReadable;
  }
  if ((item.wanted & kWritable) != 0) {
    const int64_t room = Room(RingToNetwork(net, socket), own.to_network);
    if (room != 0) ready |= room < 0 ? kWritable | kFailed : kWritable;
  }
  return ready;
}

// How many of the items have something ready, once one has; 0 where none has until the deadline.
// Each lane looks at some of them; they lie in memory that the whole block sees, and have each
// socket once. EINVAL for more than kMostSockets.
TAPEDECK_ANYWHERE int64_t gpoll(const Net& net, PollItem* items, uint32_t count,
                                int64_t timeout_ns) {
  if (!IsTimeout(timeout_ns) || count > kMostSockets) return -EINVAL;
  Patience patience = PatienceOf(timeout_ns);
  while (true) {
    int32_t mine = 0;
    for (uint32_t i = LaneOfBlock(); i < count; i += LanesOfBlock()) {
      items[i].ready = ReadyNow(net, items[i]);
      mine += items[i].ready != 0 ? 1 : 0;
    }
    const int32_t ready = SumOfBlock(mine);
    if (ready > 0) return ready;
    const int64_t over = FromFirstLane(IsFirstLane() ? BeforeNextLook(net, patience) : 0);
    if (over == -EAGAIN || over == -ETIMEDOUT) return 0;
    if (over != 0) return over;
  }
}

// NOLINTEND(readability-identifier-naming)

}  // namespace tapedeck::gpu_worker::sockets
