#include "services/formats/pcap_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/files/errors.h"
#include "services/formats/input.h"
#include "services/formats/pcap_layout.h"

namespace tapedeck::services::formats {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint32_t kPcapng = 0x0a0d0d0a;
constexpr size_t kWindowBytes = 1 << 20;  // holds any packet

// Kinds of links (LINKTYPE_), and what lies before IP there.
constexpr uint32_t kLinkMask = 0x0fff'ffff;
constexpr uint32_t kNull = 0;
constexpr uint32_t kEthernet = 1;
constexpr uint32_t kLinuxCooked = 113;
constexpr size_t kNullBytes = 4;
constexpr size_t kEthernetBytes = 14;
constexpr size_t kLinuxCookedBytes = 16;
constexpr size_t kVlanBytes = 4;
constexpr uint32_t kVlan = 0x8100;

constexpr size_t kIpv6Bytes = 40;

uint32_t BigAt(Bytes bytes, size_t at, size_t count) {
  uint32_t number = 0;
  for (const std::byte one : bytes.subspan(at, count)) {
    number = number << 8 | std::to_integer<uint32_t>(one);
  }
  return number;
}

// From the header of IP on; nothing: too short.
Bytes BehindLink(uint32_t link, Bytes packet) {
  size_t before = 0;
  if (link == kNull) before = kNullBytes;
  if (link == kLinuxCooked) before = kLinuxCookedBytes;
  if (link == kEthernet) {
    before = kEthernetBytes;
    const auto is_vlan = [&] {
      return packet.size() >= before && BigAt(packet, before - 2, 2) == kVlan;
    };
    for (int tags = 0; tags < 2 && is_vlan(); ++tags) before += kVlanBytes;
  }
  return packet.size() > before ? packet.subspan(before) : Bytes();
}

// What IP carries, if that is UDP in one piece; else nothing.
Bytes BehindIp(Bytes ip) {
  const uint32_t version = ip.empty() ? 0 : BigAt(ip, 0, 1) >> 4;
  if (version == 4 && ip.size() >= kIpv4Bytes) {
    const size_t header = (BigAt(ip, 0, 1) & 0xf) * 4;
    const bool whole = (BigAt(ip, 6, 2) & 0x3fff) == 0;
    if (header < kIpv4Bytes || header > ip.size() || !whole || BigAt(ip, 9, 1) != kUdp) return {};
    return ip.subspan(header);
  }
  if (version == 6 && ip.size() >= kIpv6Bytes && BigAt(ip, 6, 1) == kUdp) {
    return ip.subspan(kIpv6Bytes);
  }
  return {};
}

// None: no datagram, or not all of it was captured.
std::optional<Bytes> DatagramIn(uint32_t link, Bytes packet) {
  const Bytes udp = BehindIp(BehindLink(link, packet));
  if (udp.size() < kUdpBytes) return std::nullopt;
  const size_t bytes = BigAt(udp, 4, 2);
  if (bytes < kUdpBytes || bytes > udp.size()) return std::nullopt;
  return udp.first(bytes).subspan(kUdpBytes);
}

}  // namespace

absl::StatusOr<PcapReader> PcapReader::Create(const files::InputFile& file) {
  PcapReader reader(file);
  TD_RETURN_IF_ERROR(reader.ReadHead());
  return reader;
}

uint32_t PcapReader::Number(Bytes at) const {
  const uint32_t big = BigAt(at, 0, 4);
  return swapped_ ? big : __builtin_bswap32(big);
}

absl::Status PcapReader::ReadHead() {
  TD_ASSIGN_OR_RETURN(const Bytes head, Take(kPcapHeadBytes, "its header"));
  const auto is = [&](uint32_t magic) { return Number(head) == magic; };
  if (is(kPcapng)) {
    return files::Invalid(file_->path,
                          "is a PCAPNG file; `editcap -F nsecpcap IN OUT` makes a PCAP of it");
  }
  swapped_ = !is(kPcapMicroseconds) && !is(kPcapNanoseconds);
  if (!is(kPcapMicroseconds) && !is(kPcapNanoseconds)) {
    return files::Invalid(file_->path, "is no PCAP file");
  }
  tick_ns_ = is(kPcapMicroseconds) ? 1000 : 1;
  link_ = Number(head.subspan(20)) & kLinkMask;
  if (link_ != kNull && link_ != kEthernet && link_ != kLinkRawIp && link_ != kLinuxCooked) {
    return files::Invalid(
        file_->path, absl::StrCat("was captured on a link of kind ", link_, ", which is none of ",
                                  kNull, ", ", kEthernet, ", ", kLinkRawIp, ", ", kLinuxCooked));
  }
  return absl::OkStatus();
}

void PcapReader::Rewind() {
  at_ = kPcapHeadBytes;
  passed_over_ = 0;
}

absl::StatusOr<std::optional<Captured>> PcapReader::Next() {
  while (at_ < file_->bytes) {
    TD_ASSIGN_OR_RETURN(const Bytes record, Take(kPcapRecordBytes, "the header of a packet"));
    const int64_t time_ns =
        int64_t{Number(record)} * 1'000'000'000 + Number(record.subspan(4)) * tick_ns_;
    const uint32_t bytes = Number(record.subspan(8));
    if (bytes > kPcapMostBytes) {
      return files::Invalid(
          file_->path, absl::StrCat("has a packet of ", bytes, " bytes, more than captures have"));
    }
    TD_ASSIGN_OR_RETURN(const Bytes packet, Take(bytes, "a packet"));
    const auto datagram = DatagramIn(link_, packet);
    if (datagram.has_value()) return Captured{time_ns, *datagram};
    ++passed_over_;
  }
  return std::nullopt;
}

absl::StatusOr<Bytes> PcapReader::Take(size_t bytes, const char* what) {
  if (at_ > file_->bytes || bytes > file_->bytes - at_) {
    return files::Invalid(file_->path, absl::StrCat("it ends within ", what));
  }
  const bool held = at_ >= window_at_ && at_ + bytes <= window_at_ + window_.size();
  if (!held) {
    window_at_ = at_;
    window_.resize(std::min<uint64_t>(kWindowBytes, file_->bytes - at_));
    TD_RETURN_IF_ERROR(ReadExactly(*file_, at_, window_));
  }
  const Bytes taken = Bytes(window_).subspan(at_ - window_at_, bytes);
  at_ += bytes;
  return taken;
}

}  // namespace tapedeck::services::formats
