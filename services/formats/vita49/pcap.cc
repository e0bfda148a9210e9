#include "services/formats/vita49/pcap.h"

#include "services/formats/io/riff.h"

namespace tapedeck::services::formats {
namespace {

constexpr uint32_t kLoopback = 0x7f000001;
constexpr uint64_t kSecondNs = 1'000'000'000;

void AppendBig(std::string* text, uint32_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) text->push_back(static_cast<char>(value >> (8 * i)));
}

// Of the header's words but that of the sum itself, RFC 791.
uint16_t SumOf(size_t bytes) {
  uint32_t sum = 0x4500 + static_cast<uint32_t>(bytes) + 0x4011;
  sum += 2 * ((kLoopback >> 16) + (kLoopback & 0xffff));
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

}  // namespace

std::string PcapHead() {
  std::string text;
  AppendNumber(&text, kPcapNanoseconds, 4);
  AppendNumber(&text, 2, 2);  // version 2.4
  AppendNumber(&text, 4, 2);
  AppendNumber(&text, 0, 8);  // UTC
  AppendNumber(&text, kPcapMostBytes, 4);
  AppendNumber(&text, kLinkRawIp, 4);
  return text;
}

void AppendDatagram(const Datagram& datagram, std::string* text) {
  const size_t bytes = kIpv4Bytes + kUdpBytes + datagram.bytes.size();
  const auto ns = static_cast<uint64_t>(datagram.time_ns);
  AppendNumber(text, ns / kSecondNs, 4);
  AppendNumber(text, ns % kSecondNs, 4);
  AppendNumber(text, bytes, 4);
  AppendNumber(text, bytes, 4);
  AppendBig(text, 0x4500, 2);
  AppendBig(text, static_cast<uint32_t>(bytes), 2);
  AppendBig(text, 0, 4);
  AppendBig(text, 0x4011, 2);  // 64 hops, UDP
  AppendBig(text, SumOf(bytes), 2);
  AppendBig(text, kLoopback, 4);
  AppendBig(text, kLoopback, 4);
  AppendBig(text, datagram.port, 2);
  AppendBig(text, datagram.port, 2);
  AppendBig(text, static_cast<uint32_t>(kUdpBytes + datagram.bytes.size()), 2);
  AppendBig(text, 0, 2);  // no sum
  text->append(reinterpret_cast<const char*>(datagram.bytes.data()), datagram.bytes.size());
}

}  // namespace tapedeck::services::formats
