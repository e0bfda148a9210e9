// What a capture file and its packets are made of, for those who write and who read them: libpcap's
// pcap-savefile(5), RFC 791 and RFC 768. Of this room alone.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace tapedeck::services::formats
