// Limits of the control plane that nobody tunes.
#pragma once

namespace tapedeck::services {

// The largest message is a picture of a recording: as many powers as services/model/view.h says,
// and some room. Without a limit a hostile peer fills the memory.
inline constexpr int kMaxMessageBytes = (2 << 20) + (64 << 10);

// What a server takes: the largest request describes a recording with all of its labels. A half of
// one costs as much while its sender waits.
inline constexpr int kMaxRequestBytes = 256 << 10;

// Calls of one connection at the same time; more wait with the caller. A worker's session has a
// connection of its own, and people look at a few things at once.
inline constexpr int kMaxConnectionStreams = 24;

// A connection that has not said hello by then is a stranger's.
inline constexpr int kHandshakeTimeoutMs = 5'000;

// What gRPC may hold before it ends calls, whosever they are: the last resort before the process
// ends. The limits above keep it out of reach of a few hundred connections.
inline constexpr int kGrpcMemoryBytes = 512 << 20;
inline constexpr int kGrpcThreads = 64;

// A peer that vanished without a word is noticed after time plus timeout.
inline constexpr int kKeepaliveTimeMs = 10'000;
inline constexpr int kKeepaliveTimeoutMs = 5'000;
// What the server tolerates. Above the clients' time it answers GOAWAY too_many_pings; gRPC's
// default is 5 minutes.
inline constexpr int kKeepaliveMinimumMs = 5'000;

}  // namespace tapedeck::services
