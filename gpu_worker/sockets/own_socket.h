// The kernel's side of a socket below its functions: lives, handles, commands. One thread at a time
// for each socket that is not free; any thread may claim one. C++17, for nvcc and for g++.
#pragma once

#include <cerrno>
#include <cstdint>

#include "gpu_worker/sockets/block.h"
#include "gpu_worker/sockets/layout.h"
#include "gpu_worker/sockets/patience.h"
#include "gpu_worker/sockets/ring.h"

namespace tapedeck::gpu_worker::sockets {

// The lower bits of OwnSocket::life. All zero is a free socket.
enum class State : uint32_t { kFree, kClaimed, kConnecting, kOpen, kListening, kClosing };

inline constexpr uint32_t kStateBits = 4;
inline constexpr uint32_t kSocketBits = 10;
inline constexpr uint32_t kGenerations = 1u << 20;  // a handle has so many for each socket
static_assert(kMostSockets == 1u << kSocketBits);

// The proxy keeps to the deadlines of commands; a kernel waits for so much longer for an answer.
inline constexpr int64_t kProxyGraceNs = int64_t{2} * 1'000'000'000;

TAPEDECK_ANYWHERE State StateOf(uint32_t life) {
  return static_cast<State>(life & ((1u << kStateBits) - 1));
}
TAPEDECK_ANYWHERE uint32_t GenerationOf(uint32_t life) {
  return (life >> kStateBits) % kGenerations;
}
TAPEDECK_ANYWHERE uint32_t WithState(uint32_t life, State state) {
  return (life >> kStateBits) << kStateBits | static_cast<uint32_t>(state);
}

TAPEDECK_ANYWHERE int64_t HandleOf(const Net& net, uint32_t socket) {
  const uint32_t life = LoadAcquire(&net.own[socket].life);
  return int64_t{GenerationOf(life)} << kSocketBits | socket;
}

// The socket of a handle, or -EBADF where there is none, also where it has been closed since.
TAPEDECK_ANYWHERE int64_t FindSocket(const Net& net, int64_t handle) {
  const int64_t socket = handle & (kMostSockets - 1);
  if (handle < 0 || socket >= net.sockets) return -EBADF;
  const uint32_t life = LoadAcquire(&net.own[socket].life);
  const State state = StateOf(life);
  if (handle >> kSocketBits != GenerationOf(life)) return -EBADF;
  const bool used =
      state == State::kConnecting || state == State::kOpen || state == State::kListening;
  return used ? socket : -EBADF;
}

TAPEDECK_ANYWHERE void SetState(const Net& net, uint32_t socket, State state) {
  uint32_t* life = &net.own[socket].life;
  StoreRelease(life, WithState(LoadAcquire(life), state));
}

TAPEDECK_ANYWHERE bool IsServed(const Net& net) {
  return LoadAcquire(&net.service->service) == static_cast<uint32_t>(Service::kServing);
}

TAPEDECK_ANYWHERE bool IsAnswered(const Net& net, uint32_t socket) {
  return LoadAcquire(&net.proxy[socket].answered) == LoadAcquire(&net.own[socket].command);
}

// A socket that is the caller's alone, of a new generation; -EMFILE where all are in use. One that
// was closed without waiting for it is free once the proxy has answered.
TAPEDECK_ANYWHERE int64_t ClaimSocket(const Net& net) {
  for (uint32_t i = 0; i < net.sockets; ++i) {
    const uint32_t socket = (NumberOfBlock() + i) % net.sockets;
    uint32_t* life = &net.own[socket].life;
    const uint32_t seen = LoadAcquire(life);
    const bool free = StateOf(seen) == State::kFree ||
                      (StateOf(seen) == State::kClosing && IsAnswered(net, socket));
    const uint32_t next = WithState(seen + (1u << kStateBits), State::kClaimed);
    if (free && ReplaceOwn(life, seen, next)) return socket;
  }
  return -EMFILE;
}

// Both rings are empty for the next connection. Before the command that asks for it: the proxy
// looks at these words only after it.
TAPEDECK_ANYWHERE void BeginRings(const Net& net, uint32_t socket) {
  OwnSocket& own = net.own[socket];
  own.to_network = WriterPlace{};
  own.from_network = ReaderPlace{};
  KernelLine& line = net.kernel[socket];
  StoreRelease(&line.to_network.written, uint64_t{0});
  StoreRelease(&line.to_network.end, kOpen);
  StoreRelease(&line.from_network.read, uint64_t{0});
  StoreRelease(&line.from_network.stop, kOpen);
}

// Tells the proxy; it must have taken the last command of this socket.
TAPEDECK_ANYWHERE void Issue(const Net& net, uint32_t socket, const Command& command) {
  const uint64_t number = net.own[socket].command + 1;
  net.kernel[socket].command = command;
  StoreRelease(&net.own[socket].command, number);
  StoreRelease(&net.commands[socket], number);
}

// Waits a moment before another look, as AwaitNextLook, or -ENETDOWN where nobody serves the table
// any more.
TAPEDECK_ANYWHERE int64_t BeforeNextLook(const Net& net, Patience& patience) {
  // That word lies across the bus, as what is looked for does: not with each look.
  const bool ask = patience.timeout_ns == 0 || patience.looks % 16 == 15;
  if (ask && !IsServed(net)) return -ENETDOWN;
  return AwaitNextLook(patience);
}

// Until `word`, which is the proxy's, is the number of the last command. 0, or as BeforeNextLook.
TAPEDECK_ANYWHERE int64_t AwaitNumber(const Net& net, uint32_t socket, const uint64_t* word,
                                      Patience& patience) {
  const uint64_t number = net.own[socket].command;
  while (LoadAcquire(word) != number) {
    const int64_t over = BeforeNextLook(net, patience);
    if (over != 0) return over;
  }
  return 0;
}

// The proxy's answer to the last command: 0 or a negative errno, also where none came.
TAPEDECK_ANYWHERE int64_t AwaitAnswer(const Net& net, uint32_t socket, int64_t timeout_ns) {
  Patience patience = PatienceOf(timeout_ns + kProxyGraceNs);
  const int64_t over = AwaitNumber(net, socket, &net.proxy[socket].answered, patience);
  if (over != 0) return over;
  const int32_t result = net.proxy[socket].result;
  return result <= 0 && result >= -kMostErrno ? result : -EPROTO;
}

// A claimed socket is free again: at once, or when the proxy has answered after all.
TAPEDECK_ANYWHERE void SetFree(const Net& net, uint32_t socket) {
  SetState(net, socket, IsAnswered(net, socket) ? State::kFree : State::kClosing);
}

// A claimed socket asks for `command`. Its handle, in `state`, or a negative errno, and then it is
// free again, at the latest when the proxy has answered.
TAPEDECK_ANYWHERE int64_t AskFor(const Net& net, uint32_t socket, const Command& command,
                                 State state) {
  BeginRings(net, socket);
  Issue(net, socket, command);
  const int64_t result = AwaitAnswer(net, socket, command.timeout_ns);
  if (result != 0) {
    SetFree(net, socket);
    return result;
  }
  SetState(net, socket, state);
  return HandleOf(net, socket);
}

// Where the proxy has answered a connect that nobody waited for: the socket is open, if only to
// tell the error. Whether it has.
TAPEDECK_ANYWHERE bool NoteConnected(const Net& net, uint32_t socket) {
  if (!IsAnswered(net, socket)) return false;
  OwnSocket& own = net.own[socket];
  const int32_t result = net.proxy[socket].result;
  if (result != 0) {
    own.to_network.fault = own.from_network.fault = ReasonOfEnd(-result, EPROTO);
  }
  SetState(net, socket, State::kOpen);
  return true;
}

// The socket of a handle that bytes go through, once it is connected; or a negative errno.
TAPEDECK_ANYWHERE int64_t FindConnected(const Net& net, int64_t handle, Patience& patience) {
  const int64_t socket = FindSocket(net, handle);
  if (socket < 0) return socket;
  const State state = StateOf(LoadAcquire(&net.own[socket].life));
  if (state == State::kListening) return -ENOTCONN;
  if (state == State::kConnecting) {
    const int64_t over =
        AwaitNumber(net, static_cast<uint32_t>(socket), &net.proxy[socket].answered, patience);
    if (over != 0) return over;
    NoteConnected(net, static_cast<uint32_t>(socket));
  }
  return socket;
}

}  // namespace tapedeck::gpu_worker::sockets
