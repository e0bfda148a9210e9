// Captures of packets of VITA 49.2 that are made packet by packet, in headers of any kind.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "services/formats/io/riff.h"
#include "services/formats/vita49/pcap.h"
#include "services/formats/vita49/vita49.h"
#include "services/signal/vita49/packet.h"
#include "tests/services/formats/ramp.h"

namespace tapedeck::services::formats {

inline constexpr int64_t kCaptureSecond = 1'704'164'645;
inline constexpr uint64_t kPacketSamples = 256;
inline constexpr uint64_t kPackets = 200;

inline std::string Big(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i)
    text.push_back(i < 8 ? static_cast<char>(value >> (8 * i)) : '\0');
  return text;
}

inline std::string Udp(const std::string& bytes) {
  return Big(5000, 2) + Big(4991, 2) + Big(8 + bytes.size(), 2) + Big(0, 2) + bytes;
}

// Of a whole datagram, or a fragment with these flags and offset.
inline std::string Ip(const std::string& udp, uint64_t fragment = 0) {
  return Big(0x4500, 2) + Big(20 + udp.size(), 2) + Big(1, 2) + Big(fragment, 2) + Big(64, 1) +
         Big(17, 1) + Big(0, 2) + Big(0x7f000001, 4) + Big(0x7f000001, 4) + udp;
}

inline std::string Ethernet(const std::string& packet, const std::vector<uint64_t>& tags = {}) {
  std::string text(12, 'a');
  for (const uint64_t tag : tags) text += Big(tag, 2) + Big(7, 2);
  return text + Big(0x0800, 2) + packet;
}

class LinkCapture {
 public:
  // Link: LINKTYPE_ of PCAP.
  explicit LinkCapture(uint64_t link = 1, uint64_t snap = 262'144) : snap_(snap) {
    for (const uint64_t word : {uint64_t{kPcapNanoseconds}, uint64_t{4} << 16 | 2, uint64_t{0},
                                uint64_t{0}, snap, link}) {
      AppendNumber(&text_, word, 4);
    }
  }

  std::function<std::string(const std::string&)> wrap = [](const std::string& packet) {
    return Ethernet(Ip(Udp(packet)));
  };

  void Put(const std::string& frame, int64_t ns) {
    AppendNumber(&text_, static_cast<uint64_t>(ns / 1'000'000'000), 4);
    AppendNumber(&text_, static_cast<uint64_t>(ns % 1'000'000'000), 4);
    AppendNumber(&text_, std::min<uint64_t>(frame.size(), snap_), 4);
    AppendNumber(&text_, frame.size(), 4);
    text_ += frame.substr(0, snap_);
  }

  const std::string& text() const { return text_; }

 private:
  const uint64_t snap_;
  std::string text_;
};

inline vita49::Time TimeAt(uint64_t ps, int64_t off_s = 0) {
  constexpr uint64_t kSecondPs = 1'000'000'000'000;
  return {.has_seconds = true,
          .seconds =
              static_cast<uint32_t>(kCaptureSecond + off_s + static_cast<int64_t>(ps / kSecondPs)),
          .kind = vita49::Fraction::kPicoseconds,
          .fraction = ps % kSecondPs};
}

template <typename Bytes>
std::string TextOf(const Bytes& bytes, size_t count) {
  return {reinterpret_cast<const char*>(bytes.data()), count};
}

inline std::string Context(double rate, const vita49::Time& time, uint32_t stream = 7) {
  const auto packet =
      vita49::Encode(vita49::ContextPacket{.stream = stream,
                                           .time = time,
                                           .context = {.frequency_hz = 1e8, .sample_rate = rate},
                                           .format = *dataplane::ParseDatatype("ci16_be")});
  return TextOf(packet, packet.size());
}

// Samples of the ramp, big-endian.
inline std::string Data(uint64_t first, uint64_t samples, uint32_t number, const vita49::Time& time,
                        uint32_t stream = 7) {
  std::string bytes = Ramp(samples, first);
  for (size_t i = 0; i < bytes.size(); i += 2) std::swap(bytes[i], bytes[i + 1]);
  const vita49::DataHeader header{
      .stream = stream, .number = number, .time = time, .samples_bytes = bytes.size()};
  return TextOf(vita49::Encode(header), header.bytes()) + bytes;
}

struct CapturedStream {
  double rate = 1e6;
  uint64_t grain_ps = 1;  // that times are rounded to
  bool context = true;
  std::vector<uint64_t> lost = {};
  int64_t set_s = 0;   // of the device's clock, halfway
  int64_t set_ms = 0;  // the same
};

inline void PutStream(const CapturedStream& stream, LinkCapture* capture) {
  for (uint64_t i = 0; i < kPackets; ++i) {
    const auto exact = static_cast<uint64_t>(static_cast<long double>(i * kPacketSamples) * 1e12L /
                                             static_cast<long double>(stream.rate));
    const uint64_t ps = exact - exact % stream.grain_ps;
    const bool is_set = i >= kPackets / 2;
    const int64_t by_ps = is_set ? stream.set_ms * 1'000'000'000 : 0;
    const vita49::Time time = TimeAt(ps + static_cast<uint64_t>(by_ps), is_set ? stream.set_s : 0);
    const int64_t ns = kCaptureSecond * 1'000'000'000 + static_cast<int64_t>(exact / 1000);
    if (stream.context && i % 50 == 0) capture->Put(capture->wrap(Context(stream.rate, time)), ns);
    if (std::ranges::find(stream.lost, i) != stream.lost.end()) continue;
    capture->Put(
        capture->wrap(Data(i * kPacketSamples, kPacketSamples, static_cast<uint32_t>(i), time)),
        ns);
  }
}

inline absl::StatusOr<std::unique_ptr<Reader>> OpenCapture(const std::string& text,
                                                           const ReadOptions& options = {}) {
  const std::string path = ScratchPath("a.pcap");
  WriteFile(path, text);
  return OpenVita49(path, options);
}

// All samples, none missing, and no note.
inline void ExpectWhole(const absl::StatusOr<std::unique_ptr<Reader>>& reader) {
  ExpectRamp(reader, kPackets * kPacketSamples);
  if (!reader.ok()) return;
  EXPECT_THAT((*reader)->content().gaps, testing::IsEmpty());
  EXPECT_THAT((*reader)->content().notes, testing::IsEmpty());
}

}  // namespace tapedeck::services::formats
