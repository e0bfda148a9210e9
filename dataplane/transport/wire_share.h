// How much of the wire is payload, by the size of packets. Any thread.
#pragma once

#include <cstdint>

namespace tapedeck::dataplane {

// The largest path MTU that RoCEv2 knows.
inline constexpr uint32_t kBestRoceMtu = 4096;
// What network cards and switches usually take at most.
inline constexpr uint32_t kBestInterfaceMtu = 9000;

// Of messages of 1 MiB over RoCEv2. Bytes round the payload of a packet over IPv4: preamble and
// start 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4, gap 12. 0 for no MTU.
constexpr double RoceShare(uint32_t path_mtu_bytes) {
  if (path_mtu_bytes == 0) return 0;
  constexpr uint64_t kBlockBytes = 1 << 20;
  constexpr uint64_t kAround = 82;
  const uint64_t packets = (kBlockBytes + path_mtu_bytes - 1) / path_mtu_bytes;
  return static_cast<double>(kBlockBytes) / static_cast<double>(kBlockBytes + packets * kAround);
}

// Of TCP over IPv4 with time stamps: headers of 52 bytes inside the interface's MTU, and 38 round
// it: preamble and start 8, Ethernet 14, FCS 4, gap 12.
constexpr double TcpShare(uint32_t interface_mtu_bytes) {
  if (interface_mtu_bytes <= 52) return 0;
  return (interface_mtu_bytes - 52.0) / (interface_mtu_bytes + 38.0);
}

// The path MTU that the kernel gives a RoCE port for its interface's, whose packets also hold up to
// 96 bytes of headers; 0 if none fits.
constexpr uint32_t RoceMtuOf(uint32_t interface_mtu_bytes) {
  for (uint32_t mtu = kBestRoceMtu; mtu >= 256; mtu /= 2) {
    if (mtu + 96 <= interface_mtu_bytes) return mtu;
  }
  return 0;
}

}  // namespace tapedeck::dataplane
