// Datagrams in a capture file (PCAP with nanoseconds), each with headers of IPv4 and UDP before it:
// libpcap's pcap-savefile(5), RFC 791 and RFC 768.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tapedeck::services::formats {

// What a file with nanoseconds begins with.
inline constexpr uint32_t kPcapNanoseconds = 0xa1b23c4d;
inline constexpr size_t kPcapHeadBytes = 24;
inline constexpr size_t kPcapRecordBytes = 16;       // before each packet
inline constexpr uint32_t kPcapMostBytes = 262'144;  // of a packet: MAXIMUM_SNAPLEN

// LINKTYPE_RAW: each packet begins with its IP header.
inline constexpr uint32_t kLinkRawIp = 101;

inline constexpr size_t kIpv4Bytes = 20;  // without options
inline constexpr size_t kUdpBytes = 8;
inline constexpr uint32_t kUdp = 17;

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
