// Limits of the control plane that nobody tunes.
#pragma once

namespace tapedeck::services {

// The largest message is a page of a listing; without a limit a hostile peer fills the memory.
inline constexpr int kMaxMessageBytes = 1 << 20;

// A peer that vanished without a word is noticed after time plus timeout.
inline constexpr int kKeepaliveTimeMs = 10'000;
inline constexpr int kKeepaliveTimeoutMs = 5'000;
// What the server tolerates. Above the clients' time it answers GOAWAY too_many_pings; gRPC's
// default is 5 minutes.
inline constexpr int kKeepaliveMinimumMs = 5'000;

}  // namespace tapedeck::services
