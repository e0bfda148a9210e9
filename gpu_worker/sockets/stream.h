// The few calls of TCP that the proxy makes, with errnos, which is what kernels are told. All
// sockets are non-blocking and IPv4. Any thread; none of them waits.
#pragma once

#include <cstdint>

#include "dataplane/fd.h"

namespace tapedeck::gpu_worker::sockets {

// A socket, or the errno for which there is none.
struct Opened {
  dataplane::Fd fd;
  int error = 0;
};
Opened ListenOn(uint32_t address, uint16_t port);
// Connected once it is writable and ConnectError is 0; it may fail at once.
Opened StartConnect(uint32_t address, uint16_t port);
int ConnectError(const dataplane::Fd& socket);
// EAGAIN where nobody is waiting.
Opened AcceptFrom(const dataplane::Fd& listener);

struct Place {
  uint32_t address = 0;
  uint32_t port = 0;
};
Place LocalPlace(const dataplane::Fd& socket);
Place PeerPlace(const dataplane::Fd& socket);

// Memory in two pieces, of which the second may be empty.
struct TwoPieces {
  unsigned char* first;
  uint64_t first_bytes;
  unsigned char* second;
  uint64_t second_bytes;
};
// How many bytes, or a negative errno; of Receive 0 at the end of the stream.
int64_t Send(const dataplane::Fd& socket, const TwoPieces& pieces);
int64_t Receive(const dataplane::Fd& socket, const TwoPieces& pieces);

// The peer sees the end of the stream. 0 or an errno.
int EndSending(const dataplane::Fd& socket);

// The peer sees a reset, now, and so does not take what it got for all there was. The descriptor
// stays, for nothing.
void Reset(const dataplane::Fd& socket);

}  // namespace tapedeck::gpu_worker::sockets
