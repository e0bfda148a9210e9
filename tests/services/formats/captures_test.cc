// Captures of packets of VITA 49.2 as tcpdump and devices make them: on other links, cut, in
// fragments, without a context, with clocks that are coarse or set.
#include "tests/services/formats/captures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/services/noted.h"

namespace tapedeck::services::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
  EXPECT_THAT(
      (*reader)->content().notes,
      ElementsAre(Noted("RATE_CHANGES|sample=51200|samples_per_s=2000000|sample_rate=1000000")));
}

TEST(CapturesTest, AClockThatIsSetIsOneNote) {
  for (const int64_t set_s : {3600, -3600, 630'720'000}) {
    LinkCapture capture;
    PutStream({.set_s = set_s}, &capture);
    const auto reader = OpenCapture(capture.text());
    ExpectRamp(reader, kPackets * kPacketSamples);
    EXPECT_THAT((*reader)->content().gaps, IsEmpty());
    EXPECT_THAT((*reader)->content().notes,
                ElementsAre(Noted(
                    absl::StrCat("CLOCK_SET|seconds=", set_s > 0 ? "+" : "", set_s, ".000000"))));
  }
}

TEST(CapturesTest, AClockThatIsSetByMillisecondsLosesNothingEither) {
  for (const int64_t set_ms : {5, -5}) {
    LinkCapture capture;
    PutStream({.set_ms = set_ms}, &capture);
    const auto reader = OpenCapture(capture.text());
    ExpectRamp(reader, kPackets * kPacketSamples);
    EXPECT_THAT((*reader)->content().gaps, IsEmpty());
    const std::string told = absl::StrCat(set_ms > 0 ? "+" : "-", "0.005000");
    EXPECT_THAT((*reader)->content().notes,
                ElementsAre(Noted(absl::StrCat("CLOCK_SET|times=1|seconds=", told))));
    std::vector<std::string> steps;
    for (const Annotation& one : (*reader)->content().annotations) {
      if (one.label != "clock_step") continue;
      EXPECT_EQ(one.sample_start, kPackets * kPacketSamples / 2);
      steps.push_back(one.comment);
    }
    EXPECT_THAT(steps, ElementsAre(HasSubstr(told)));
  }
}

// A device that sets its clock with each packet has as many annotations as a recording takes.
TEST(CapturesTest, ClocksThatAreSetAgainAndAgainAreCounted) {
  LinkCapture capture;
  for (uint64_t i = 0; i < 4'000; ++i) {
    const uint64_t ps = i * kPacketSamples * 1'000'000;
    const vita49::Time time = TimeAt(ps + i % 2 * 5'000'000'000);
    const int64_t ns = kCaptureSecond * 1'000'000'000 + static_cast<int64_t>(ps / 1000);
    if (i == 0) capture.Put(capture.wrap(Context(1e6, time)), ns);
    const std::string data =
        Data(i * kPacketSamples, kPacketSamples, static_cast<uint32_t>(i), time);
    capture.Put(capture.wrap(data), ns);
  }
  const auto reader = OpenCapture(capture.text());
  ExpectRamp(reader, 4'000 * kPacketSamples);
  EXPECT_THAT((*reader)->content().annotations, testing::SizeIs(1 + 1'000));
  // The first packets alone do not tell the grain of the times.
  EXPECT_THAT((*reader)->content().notes, ElementsAre(Noted("CLOCK_SET|times=3998")));
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
              ElementsAre(Noted("PACKETS_OTHER_STREAM|packets=101|names=7 (101)")));
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
  EXPECT_THAT((*reader)->content().notes, ElementsAre(Noted("CAPTURE_CUT")));
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
