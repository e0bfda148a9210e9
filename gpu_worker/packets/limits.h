// What holds for packets of every kind.
#pragma once

#include <cstddef>

namespace tapedeck::gpu_worker::packets {

// No packet is larger, with its header: a datagram over IPv4 holds no more, and less than the
// smallest block is, so that a packet lies in two blocks at most.
inline constexpr size_t kMaxPacketBytes = 65'507;

}  // namespace tapedeck::gpu_worker::packets
