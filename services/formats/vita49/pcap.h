// Datagrams in a capture file (PCAP with nanoseconds), each with headers of IPv4 and UDP before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tapedeck::services::formats {

// UDP carries no more over IPv4.
inline constexpr size_t kMaxDatagramBytes = 65'507;

// What the file begins with.
std::string PcapHead();

struct Datagram {
  int64_t time_ns = 0;
  uint16_t port = 0;  // to which and from which it goes
  std::span<const std::byte> bytes;
};
void AppendDatagram(const Datagram& datagram, std::string* text);

}  // namespace tapedeck::services::formats
