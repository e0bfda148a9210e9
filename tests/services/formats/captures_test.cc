// Captures of packets of VITA 49.2 as tcpdump and devices make them: on other links, cut, in
// fragments, without a context, with clocks that are coarse or set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "services/formats/pcap_layout.h"
#include "services/formats/riff.h"
#include "services/formats/vita49.h"
#include "services/vita49/packet.h"
#include "tests/services/formats/ramp.h"

namespace tapedeck::services::formats {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kCaptureSecond = 1'704'164'645;
constexpr uint64_t kPacketSamples = 256;
constexpr uint64_t kPackets = 200;

std::string Big(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i)
    text.push_back(i < 8 ? static_cast<char>(value >> (8 * i)) : '\0');
  return text;
}

std::string Udp(const std::string& bytes) {
  return Big(5000, 2) + Big(4991, 2) + Big(8 + bytes.size(), 2) + Big(0, 2) + bytes;
}

// Of a whole datagram, or a fragment with these flags and offset.
std::string Ip(const std::string& udp, uint64_t fragment = 0) {
  return Big(0x4500, 2) + Big(20 + udp.size(), 2) + Big(1, 2) + Big(fragment, 2) + Big(64, 1) +
         Big(17, 1) + Big(0, 2) + Big(0x7f000001, 4) + Big(0x7f000001, 4) + udp;
}

std::string Ethernet(const std::string& packet, const std::vector<uint64_t>& tags = {}) {
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

vita49::Time TimeAt(uint64_t ps, int64_t off_s = 0) {
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

std::string Context(double rate, const vita49::Time& time, uint32_t stream = 7) {
  const auto packet =
      vita49::Encode(vita49::ContextPacket{.stream = stream,
                                           .time = time,
                                           .context = {.frequency_hz = 1e8, .sample_rate = rate},
                                           .format = *dataplane::ParseDatatype("ci16_be")});
  return TextOf(packet, packet.size());
}

// Samples of the ramp, big-endian.
std::string Data(uint64_t first, uint64_t samples, uint32_t number, const vita49::Time& time,
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
  int64_t set_s = 0;  // of the device's clock, halfway
};

void PutStream(const CapturedStream& stream, LinkCapture* capture) {
  for (uint64_t i = 0; i < kPackets; ++i) {
    const auto exact = static_cast<uint64_t>(static_cast<long double>(i * kPacketSamples) * 1e12L /
                                             static_cast<long double>(stream.rate));
    const uint64_t ps = exact - exact % stream.grain_ps;
    const vita49::Time time = TimeAt(ps, i >= kPackets / 2 ? stream.set_s : 0);
    const int64_t ns = kCaptureSecond * 1'000'000'000 + static_cast<int64_t>(exact / 1000);
    if (stream.context && i % 50 == 0) capture->Put(capture->wrap(Context(stream.rate, time)), ns);
    if (std::ranges::find(stream.lost, i) != stream.lost.end()) continue;
    capture->Put(
        capture->wrap(Data(i * kPacketSamples, kPacketSamples, static_cast<uint32_t>(i), time)),
        ns);
  }
}

absl::StatusOr<std::unique_ptr<Reader>> OpenCapture(const std::string& text,
                                                    const ReadOptions& options = {}) {
  const std::string path = ScratchPath("a.pcap");
  WriteFile(path, text);
  return OpenVita49(path, options);
}

// All samples, none missing, and no note.
void ExpectWhole(const absl::StatusOr<std::unique_ptr<Reader>>& reader) {
  ExpectRamp(reader, kPackets * kPacketSamples);
  if (!reader.ok()) return;
  EXPECT_THAT((*reader)->content().gaps, IsEmpty());
  EXPECT_THAT((*reader)->content().notes, IsEmpty());
}

TEST(CapturesTest, EveryLinkThatCarriesIp) {
  using Wrap = std::function<std::string(const std::string&)>;
  const auto behind = [](const std::string& header) -> Wrap {
    return [header](const std::string& packet) { return header + Ip(Udp(packet)); };
  };
  const auto tagged = [](const std::vector<uint64_t>& tags) -> Wrap {
    return [tags](const std::string& packet) { return Ethernet(Ip(Udp(packet)), tags); };
  };
  const std::string sll = Big(0, 14) + Big(0x0800, 2);
  const std::string sll2 = Big(0x0800, 2) + Big(0, 18);
  const std::string tagged_sll2 = Big(0x8100, 2) + Big(0, 18) + Big(7, 2) + Big(0x0800, 2);
  for (const auto& [link, wrap] :
       std::vector<std::pair<uint64_t, Wrap>>{{1, tagged({})},
                                              {1, tagged({0x8100})},
                                              {1, tagged({0x88a8, 0x8100})},
                                              {113, behind(sll)},
                                              {276, behind(sll2)},
                                              {276, behind(tagged_sll2)},
                                              {0, behind(std::string("\2\0\0\0", 4))},
                                              {108, behind(Big(2, 4))},
                                              {101, behind("")},
                                              {228, behind("")}}) {
    SCOPED_TRACE(link);
    LinkCapture capture(link);
    capture.wrap = wrap;
    PutStream({}, &capture);
    ExpectWhole(OpenCapture(capture.text()));
  }
  const std::string refusal = RefusalOf(OpenCapture(LinkCapture(105).text()));
  EXPECT_THAT(refusal, HasSubstr("on a link of kind IEEE802_11 (105)"));
}

TEST(CapturesTest, APcapng) {
  LinkCapture capture;
  PutStream({}, &capture);
  const std::string path = ScratchPath("a.pcap");
  WriteFile(path, capture.text());
  const std::string next = ScratchPath("a.pcapng");
  const std::string command = "editcap -F pcapng " + path + " " + next + " 2>/dev/null";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no editcap (tshark)";
  ExpectWhole(OpenVita49(next));
}

TEST(CapturesTest, OptionsTellWhatNoContextDoes) {
  LinkCapture capture;
  PutStream({.context = false}, &capture);
  EXPECT_THAT(RefusalOf(OpenCapture(capture.text())), HasSubstr("--datatype"));
  EXPECT_THAT(RefusalOf(OpenCapture(capture.text(), {.datatype = "ci16_le"})),
              HasSubstr("--sample-rate"));
  ExpectWhole(OpenCapture(capture.text(), {.datatype = "ci16_le", .sample_rate = 1e6}));
  LinkCapture told;
  PutStream({}, &told);
  ExpectWhole(OpenCapture(told.text(), {.datatype = "ci16_le", .sample_rate = 1e6}));
  EXPECT_THAT(RefusalOf(OpenCapture(told.text(), {.datatype = "cf32_le"})),
              HasSubstr("its samples are ci16_be, not cf32_be"));
}

TEST(CapturesTest, FewerBitsThanTheirPlace) {
  LinkCapture capture;
  for (int i = 0; i < 2; ++i) {
    std::string context = Context(1e6, TimeAt(0));
    context[context.size() - 5] = static_cast<char>((context[context.size() - 5] & 0xc0) | 13);
    if (i == 1) context[context.size() - 6] = static_cast<char>(context[context.size() - 6] | 1);
    capture.Put(capture.wrap(context), 0);
    if (i == 0) PutStream({.context = false}, &capture);
    // Tags behind the samples leave them without a type; the first context counts then.
    ExpectWhole(OpenCapture(capture.text()));
  }
}

TEST(CapturesTest, CoarseTimesLoseNothing) {
  for (const uint64_t grain_ps : {1, 10'000, 1'000'000}) {
    LinkCapture capture;
    PutStream({.rate = 122.88e6, .grain_ps = grain_ps}, &capture);
    SCOPED_TRACE(grain_ps);
    ExpectWhole(OpenCapture(capture.text()));
  }
}

TEST(CapturesTest, LossesAreExact) {
  LinkCapture capture;
  PutStream({.lost = {10, 11, 57}}, &capture);
  const auto reader = OpenCapture(capture.text());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_THAT((*reader)->content().gaps,
              ElementsAre(SampleRange{.first = 10 * kPacketSamples, .count = 2 * kPacketSamples},
                          SampleRange{.first = 57 * kPacketSamples, .count = kPacketSamples}));
  EXPECT_EQ((*reader)->content().bytes, kPackets * kPacketSamples * 4);
}

TEST(CapturesTest, ARateThatChangesIsTold) {
  LinkCapture capture;
  PutStream({}, &capture);
  const uint64_t end = kPackets * kPacketSamples;
  for (uint64_t i = 0; i < 100; ++i) {
    const uint64_t ps = end * 1'000'000 + i * kPacketSamples * 500'000;
    const int64_t ns = kCaptureSecond * 1'000'000'000 + static_cast<int64_t>(ps / 1000);
    if (i == 0) capture.Put(capture.wrap(Context(2e6, TimeAt(ps))), ns);
    capture.Put(capture.wrap(Data(end + i * kPacketSamples, kPacketSamples,
                                  static_cast<uint32_t>(kPackets + i), TimeAt(ps))),
                ns);
  }
  const auto reader = OpenCapture(capture.text());
  ExpectRamp(reader, end + 100 * kPacketSamples);
  EXPECT_THAT((*reader)->content().gaps, IsEmpty());
  EXPECT_THAT((*reader)->content().notes,
              ElementsAre("from sample 51200 on a context tells 2000000 samples a second, and the "
                          "recording has 1000000"));
}

TEST(CapturesTest, AClockThatIsSetIsOneNote) {
  for (const int64_t set_s : {3600, -3600, 630'720'000}) {
    LinkCapture capture;
    PutStream({.set_s = set_s}, &capture);
    const auto reader = OpenCapture(capture.text());
    ExpectRamp(reader, kPackets * kPacketSamples);
    EXPECT_THAT((*reader)->content().gaps, IsEmpty());
    EXPECT_THAT((*reader)->content().notes,
                ElementsAre(HasSubstr(absl::StrCat(set_s > 0 ? "+" : "", set_s, ".000000 s"))));
  }
}

TEST(CapturesTest, RefusalsSayWhatWasPassedOver) {
  LinkCapture cut(1, 200);
  PutStream({}, &cut);
  EXPECT_THAT(RefusalOf(OpenCapture(cut.text())),
              HasSubstr("200 packets are cut, as the capture keeps "
                        "200 bytes of each"));
  LinkCapture framed;
  framed.wrap = [](const std::string& packet) {
    return Ethernet(Ip(Udp("VRLP" + Big(packet.size() / 4 + 3, 4) + packet + "VEND")));
  };
  PutStream({}, &framed);
  EXPECT_THAT(RefusalOf(OpenCapture(framed.text())),
              HasSubstr("204 packets are in frames of VITA 49.1 (VRLP)"));
  LinkCapture split;
  split.Put(split.wrap(Context(1e6, TimeAt(0))), 0);
  for (uint32_t i = 0; i < 50; ++i) {
    const std::string udp = Udp(Data(i * 750, 750, i, TimeAt(i * uint64_t{750'000'000})));
    split.Put(Ethernet(Ip(udp.substr(0, 1480), 0x2000)), 0);
    split.Put(Ethernet(Ip(udp.substr(1480), 185)), 0);
  }
  EXPECT_THAT(RefusalOf(OpenCapture(split.text())), HasSubstr("100 packets are fragments of IP"));
}

TEST(CapturesTest, OneOfTwoStreamsByItsNumber) {
  LinkCapture capture;
  for (uint32_t i = 0; i < 100; ++i) {
    const vita49::Time time = TimeAt(i * kPacketSamples * 1'000'000);
    for (const uint32_t stream : {9, 7}) {
      if (i == 0) capture.Put(capture.wrap(Context(1e6, time, stream)), 0);
      const uint64_t first = i * kPacketSamples + (stream == 9 ? 1'000'000 : 0);
      capture.Put(capture.wrap(Data(first, kPacketSamples, i, time, stream)), 0);
    }
  }
  const auto first = OpenCapture(capture.text());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*ReadAll(**first), Ramp(25'600, 1'000'000));
  EXPECT_THAT((*first)->content().notes,
              ElementsAre(HasSubstr("of other streams, and left out; --stream takes one of them: "
                                    "7 (101)")));
  const auto chosen = OpenCapture(capture.text(), {.stream = 7});
  ExpectRamp(chosen, 25'600);
  EXPECT_THAT(RefusalOf(OpenCapture(capture.text(), {.stream = 8})),
              testing::AllOf(HasSubstr("of the stream 8"), HasSubstr("7 (100), 9 (100)")));
}

TEST(CapturesTest, ACutInThePacketLeavesThoseBefore) {
  LinkCapture capture;
  PutStream({}, &capture);
  const auto reader = OpenCapture(capture.text().substr(0, capture.text().size() - 100));
  ExpectRamp(reader, (kPackets - 1) * kPacketSamples);
  EXPECT_THAT((*reader)->content().notes, ElementsAre(HasSubstr("ends within a packet")));
}

TEST(CapturesTest, ARateHasAllItsDigits) {
  LinkCapture capture;
  PutStream({.rate = 1e6 / 3}, &capture);
  const auto reader = OpenCapture(capture.text());
  ExpectWhole(reader);
  EXPECT_NEAR((*reader)->content().sample_rate, 1e6 / 3, 1e-6);
}

}  // namespace
}  // namespace tapedeck::services::formats
