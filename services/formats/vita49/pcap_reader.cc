#include "services/formats/vita49/pcap_reader.h"

#include <arpa/inet.h>
#include <pcap/pcap.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/formats/io/input.h"
#include "services/formats/vita49/pcap.h"

namespace tapedeck::services::formats {
namespace {

using Bytes = std::span<const std::byte>;

// What lies before IP in packets of Ethernet and of Linux' any device (SLL, SLL2), and where the
// type of what follows stands there. The header of a loopback is 4 bytes, without a type of those.
struct Link {
  int kind = 0;  // DLT_
  size_t bytes = 0;
  std::optional<size_t> type_at;
};
constexpr Link kLinks[] = {{DLT_EN10MB, 14, 12}, {DLT_LINUX_SLL, 16, 14}, {DLT_LINUX_SLL2, 20, 0},
                           {DLT_NULL, 4, {}},    {DLT_LOOP, 4, {}},       {DLT_RAW, 0, {}},
                           {DLT_IPV4, 0, {}},    {DLT_IPV6, 0, {}}};

// Tags of VLANs (802.1Q, 802.1ad, and one that came before it), each of 4 bytes, which end with the
// type of what follows.
constexpr uint32_t kVlans[] = {0x8100, 0x88a8, 0x9100};
constexpr size_t kVlanBytes = 4;
constexpr int kMostVlans = 4;

constexpr uint32_t kIpTypes[] = {0x0800, 0x86dd};

constexpr size_t kIpv6Bytes = 40;
constexpr uint32_t kIpv6Fragment = 44;
// Headers between IPv6 and UDP: options of hops, a route, options of the receiver. Each begins with
// what follows it, and how many times 8 bytes it has beyond the first.
constexpr uint32_t kIpv6Between[] = {0, 43, 60};
constexpr size_t kIpv6BetweenBytes = 8;
// A PCAP has 32 bits without a sign for them, which libpcap gives as a signed number.
constexpr int64_t kWrappedSeconds = int64_t{1} << 32;
// A time in nanoseconds does not overflow before.
constexpr int64_t kLatestSecond = int64_t{1} << 33;

enum class Passed { kCut, kFragment, kOther };

// A datagram, or why there is none.
struct Unwrapped {
  Bytes datagram;
  std::optional<Passed> passed;
  Flow flow = {};
};

uint32_t BigAt(Bytes bytes, size_t at, size_t count) {
  uint32_t number = 0;
  for (const std::byte one : bytes.subspan(at, count)) {
    number = number << 8 | std::to_integer<uint32_t>(one);
  }
  return number;
}

const Link* LinkOf(int kind) {
  const Link* link = std::ranges::find(kLinks, kind, &Link::kind);
  return link == std::end(kLinks) ? nullptr : link;
}

// From the header of IP on; nothing: too short.
Bytes BehindLink(int kind, Bytes packet) {
  const Link& link = *LinkOf(kind);
  size_t before = link.bytes;
  if (packet.size() <= before) return {};
  if (!link.type_at.has_value()) return packet.subspan(before);
  uint32_t type = BigAt(packet, *link.type_at, 2);
  const auto is_vlan = [&] { return std::ranges::find(kVlans, type) != std::end(kVlans); };
  for (int tags = 0; tags < kMostVlans && is_vlan(); ++tags) {
    before += kVlanBytes;
    if (packet.size() <= before) return {};
    type = BigAt(packet, before - 2, 2);
  }
  if (std::ranges::find(kIpTypes, type) == std::end(kIpTypes)) return {};
  return packet.subspan(before);
}

Flow::Address AddressIn(Bytes bytes) {
  Flow::Address address{};
  std::ranges::copy(bytes, address.begin());
  return address;
}

Unwrapped BehindIpv6(Bytes ip) {
  const Flow flow{
      .ipv6 = true, .from = AddressIn(ip.subspan(8, 16)), .to = AddressIn(ip.subspan(24, 16))};
  uint32_t next = BigAt(ip, 6, 1);
  Bytes rest = ip.subspan(kIpv6Bytes);
  while (std::ranges::find(kIpv6Between, next) != std::end(kIpv6Between)) {
    const size_t bytes = rest.size() < 2 ? 0 : (BigAt(rest, 1, 1) + 1) * kIpv6BetweenBytes;
    if (bytes == 0 || bytes > rest.size()) return {.passed = Passed::kOther};
    next = BigAt(rest, 0, 1);
    rest = rest.subspan(bytes);
  }
  if (next == kIpv6Fragment) return {.passed = Passed::kFragment};
  if (next != kUdp) return {.passed = Passed::kOther};
  return {.datagram = rest, .flow = flow};
}

// What IP carries, if that is UDP in one piece.
Unwrapped BehindIp(Bytes ip) {
  const uint32_t version = ip.empty() ? 0 : BigAt(ip, 0, 1) >> 4;
  if (version == 4 && ip.size() >= kIpv4Bytes) {
    const size_t header = (BigAt(ip, 0, 1) & 0xf) * 4;
    if (header < kIpv4Bytes || header > ip.size() || BigAt(ip, 9, 1) != kUdp) {
      return {.passed = Passed::kOther};
    }
    if ((BigAt(ip, 6, 2) & 0x3fff) != 0) return {.passed = Passed::kFragment};
    return {.datagram = ip.subspan(header),
            .flow = {.from = AddressIn(ip.subspan(12, 4)), .to = AddressIn(ip.subspan(16, 4))}};
  }
  if (version != 6 || ip.size() < kIpv6Bytes) return {.passed = Passed::kOther};
  return BehindIpv6(ip);
}

Unwrapped DatagramIn(int link, Bytes packet, bool whole) {
  Unwrapped found = BehindIp(BehindLink(link, packet));
  if (found.passed.has_value()) return found;
  const Bytes udp = found.datagram;
  const size_t bytes = udp.size() < kUdpBytes ? 0 : BigAt(udp, 4, 2);
  if (bytes > udp.size() || udp.size() < kUdpBytes) {
    return {.passed = whole ? Passed::kOther : Passed::kCut};
  }
  if (bytes < kUdpBytes) return {.passed = Passed::kOther};
  found.datagram = udp.first(bytes).subspan(kUdpBytes);
  found.flow.port = static_cast<uint16_t>(BigAt(udp, 2, 2));
  return found;
}

std::string CaptureError(const char* text) { return dataplane::Printable(text, PCAP_ERRBUF_SIZE); }

}  // namespace

std::string Flow::Text() const {
  const auto text = [this](const Address& address) {
    std::array<char, INET6_ADDRSTRLEN> out{};
    inet_ntop(ipv6 ? AF_INET6 : AF_INET, address.data(), out.data(), out.size());
    return std::string(out.data());
  };
  const std::string target = text(to);
  return absl::StrCat(text(from), " to ", ipv6 ? absl::StrCat("[", target, "]") : target, ":",
                      port);
}

void PcapReader::Close::operator()(pcap* capture) const { pcap_close(capture); }

absl::StatusOr<PcapReader> PcapReader::Create(const files::InputFile& file) {
  PcapReader reader(file);
  TD_RETURN_IF_ERROR(reader.Rewind());
  return reader;
}

// libpcap cannot go back, so that it opens the file anew.
absl::Status PcapReader::Rewind() {
  capture_.reset();
  ends_early_ = false;
  packets_ = cut_ = fragments_ = others_ = 0;
  const int fd = dup(file_->fd.get());
  FILE* stream = fd < 0 || lseek(fd, 0, SEEK_SET) != 0 ? nullptr : fdopen(fd, "r");
  if (stream == nullptr) {
    const int error = errno;
    if (fd >= 0) close(fd);
    return files::Invalid(file_->path, absl::StrCat("fdopen: ", std::strerror(error)));
  }
  char error[PCAP_ERRBUF_SIZE] = {};
  capture_.reset(
      pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, error));
  if (capture_ == nullptr) {
    std::fclose(stream);
    TD_RETURN_IF_ERROR(CheckUnpacked(*file_));
    return files::Invalid(file_->path, absl::StrCat("is not a capture: ", CaptureError(error)));
  }
  link_ = pcap_datalink(capture_.get());
  if (LinkOf(link_) != nullptr) return absl::OkStatus();
  const char* name = pcap_datalink_val_to_name(link_);
  return files::Invalid(
      file_->path,
      absl::StrCat("was captured on a link of kind ", name == nullptr ? "" : name, " (", link_,
                   "); Ethernet, Linux cooked, loopback and IP are known"));
}

absl::StatusOr<std::optional<Captured>> PcapReader::Next() {
  while (!ends_early_) {
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    const int read = pcap_next_ex(capture_.get(), &header, &data);
    if (read == PCAP_ERROR_BREAK) return std::nullopt;
    if (read != 1) {
      const std::string text = CaptureError(pcap_geterr(capture_.get()));
      ends_early_ = absl::StartsWith(text, "truncated");
      if (!ends_early_) {
        return files::Invalid(file_->path, absl::StrCat("packet ", packets_ + 1, ": ", text));
      }
      break;
    }
    ++packets_;
    int64_t seconds = header->ts.tv_sec;
    if (seconds < 0) seconds += kWrappedSeconds;
    if (seconds < 0 || seconds > kLatestSecond) {
      return files::Invalid(file_->path, absl::StrCat("packet ", packets_, ": the second ",
                                                      header->ts.tv_sec, " is not a time"));
    }
    const Bytes packet = std::as_bytes(std::span(data, header->caplen));
    const Unwrapped found = DatagramIn(link_, packet, header->caplen >= header->len);
    if (!found.passed.has_value()) {
      // Of nanoseconds, as asked for.
      return Captured{seconds * 1'000'000'000 + header->ts.tv_usec, found.datagram, found.flow};
    }
    ++(*found.passed == Passed::kCut        ? cut_
       : *found.passed == Passed::kFragment ? fragments_
                                            : others_);
  }
  return std::nullopt;
}

void NotePackets(absl::string_view code, uint64_t count, absl::string_view what,
                 model::Notes* notes, std::map<std::string, std::string> facts) {
  if (count == 0) return;
  facts["packets"] = absl::StrCat(count);
  notes->push_back(MakeNote(code, absl::StrCat(count, " packets ", what), std::move(facts)));
}

model::Notes PcapReader::Notes() const {
  model::Notes notes;
  const std::string snapshot = absl::StrCat(pcap_snapshot(capture_.get()));
  NotePackets("PACKETS_CUT", cut_,
              absl::StrCat("are cut, as the capture keeps ", snapshot,
                           " bytes of each; tcpdump -s 0 keeps all"),
              &notes, {{"snapshot_bytes", snapshot}});
  NotePackets("PACKETS_FRAGMENTED", fragments_, "are fragments of IP, which are not put together",
              &notes);
  NotePackets("PACKETS_NOT_UDP", others_, "carry no whole datagram of UDP", &notes);
  if (ends_early_)
    notes.push_back(MakeNote("CAPTURE_CUT", "the capture ends within a packet, which is left out"));
  return notes;
}

}  // namespace tapedeck::services::formats
