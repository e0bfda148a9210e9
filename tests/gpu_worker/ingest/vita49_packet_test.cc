// Packets of VITA 49.2 as they are written, word by word as the standard and DIFI lay them out, and
// read again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "gpu_worker/stages/ingest/counts.h"
#include "gpu_worker/stages/ingest/packet.h"
#include "services/signal/vita49/packet.h"
#include "services/signal/vita49/sample_clock.h"
#include "services/signal/vita49/signal_text.h"
#include "tests/gpu_worker/ingest/vita49_packets.h"
#include "tests/services/noted.h"

namespace tapedeck::services::vita49 {
namespace {

using gpu_worker::VitaContext;
using gpu_worker::VitaPacket;
using testing::DoubleEq;
using testing::ElementsAreArray;
using testing::Optional;

constexpr uint64_t kSecond = 1'000'000'000'000;  // in picoseconds

constexpr Time kTime{.has_seconds = true,
                     .seconds = 0x6553f100,
                     .kind = Fraction::kPicoseconds,
                     .fraction = 0xe8'd4a5'0fff};  // one picosecond before the next second

std::vector<std::byte> BytesOf(const std::vector<uint32_t>& words) {
  VitaPacket packet;
  for (const uint32_t word : words) packet.Word(word);
  return packet.Done();
}

dataplane::Datatype FormatOf(const char* name) { return dataplane::ParseDatatype(name).value(); }

TEST(Vita49PacketTest, DataBeginsWithStreamClassAndTime) {
  const auto bytes =
      Encode({.stream = 0x01020304, .number = 0x25, .time = kTime, .samples_bytes = 16});
  const std::vector<std::byte> expected = BytesOf({
      0x18e5'000b,  // data, a class, POSIX seconds, picoseconds, number 5, 11 words
      0x0102'0304,
      0x006a'621e,  // no padding, DIFI
      0x0000'0000,  // its signal data
      0x6553'f100,
      0x0000'00e8,
      0xd4a5'0fff,
  });
  // BytesOf has written the size of what is there.
  std::vector<std::byte> head = expected;
  head[3] = std::byte{11};
  EXPECT_THAT(bytes, ElementsAreArray(head));
}

TEST(Vita49PacketTest, SamplesAreFilledUpToAWord) {
  const DataHeader header{.time = kTime, .samples_bytes = 14};
  EXPECT_EQ(header.padding_bytes(), 2u);
  const auto encoded = Encode(header);
  EXPECT_EQ(encoded[3], std::byte{11});
  EXPECT_EQ(encoded[8], std::byte{16 << 3});  // bits
  std::vector<std::byte> packet(encoded.begin(), encoded.end());
  packet.resize(packet.size() + 16, std::byte{7});
  const auto decoded = Decode(packet);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->samples.size(), 14u);
  EXPECT_EQ(decoded->samples.data(), packet.data() + kDataHeaderBytes);
  EXPECT_EQ(decoded->time, kTime);
}

TEST(Vita49PacketTest, AWholeContextIsOneOfDifi) {
  const ContextPacket packet{.stream = 7,
                             .number = 3,
                             .time = kTime,
                             .context = {.bandwidth_hz = 20e6,
                                         .frequency_hz = 1'500'000'000.5,
                                         .gain_db = -3.5,
                                         .sample_rate = 1e6},
                             .format = FormatOf("ci16_be"),
                             .changed = true};
  const std::vector<uint32_t> words{
      0x49e3'001b,  // context, a class, TSM, POSIX seconds, picoseconds, number 3, 27 words
      0x0000'0007, 0x006a'621e, 0x0000'0001, 0x6553'f100, 0x0000'00e8, 0xd4a5'0fff,
      0xfbb9'8000,               // something is new, and all fields of DIFI
      0x0000'0064,               // reference point
      0x0000'1312, 0xd000'0000,  // bandwidth: 20000000 and 20 bits behind the point
      0x0000'0000, 0x0000'0000,  // intermediate frequency
      0x0005'9682, 0xf008'0000,  // frequency
      0x0000'0000, 0x0000'0000,  // offset of the band
      0x0000'0000,               // reference level
      0x0000'fe40,               // gain of the first stage: -448 / 128
      0x0000'00f4, 0x2400'0000,  // sample rate
      0x0000'0000, 0x0000'0000,  // adjustment of the time
      0x0000'0000,               // time of calibration
      0x0000'0000,               // state and events
      0xa000'03cf, 0x0000'0000,  // complex whole numbers of 16 bits
  };
  EXPECT_THAT(Encode(packet), ElementsAreArray(BytesOf(words)));
  ContextPacket again = packet;
  again.changed = false;
  EXPECT_EQ(Encode(again)[28], std::byte{0x7b});
}

TEST(Vita49PacketTest, AContextWithFewerFieldsHasNoOthers) {
  const ContextPacket packet{.stream = 7,
                             .number = 16,
                             .time = kTime,
                             .context = {.frequency_hz = 1'500'000'000.0, .sample_rate = 1e6},
                             .format = FormatOf("cf32_be")};
  EXPECT_THAT(Encode(packet),
              ElementsAreArray(BytesOf({0x40e0'000c, 7, 0x6553'f100, 0x0000'00e8, 0xd4a5'0fff,
                                        0x0820'8000, 0x0005'9682, 0xf000'0000, 0x0000'00f4,
                                        0x2400'0000, 0xae00'07df, 0x0000'0000})));
}

TEST(Vita49PacketTest, FormatsOfSamples) {
  const auto format = [](const char* name) {
    const auto bytes = Encode(ContextPacket{.time = kTime, .format = FormatOf(name)});
    uint32_t word = 0;
    for (size_t i = 0; i < kWordBytes; ++i) {
      word = word << 8 | std::to_integer<uint32_t>(bytes[bytes.size() - 8 + i]);
    }
    return word;
  };
  EXPECT_EQ(format("ci8"), 0xa000'01c7u);
  EXPECT_EQ(format("ru8"), 0x9000'01c7u);
  EXPECT_EQ(format("ri32_be"), 0x8000'07dfu);
  EXPECT_EQ(format("cf64_be"), 0xaf00'0fffu);
}

TEST(Vita49PacketTest, AContextOfADeviceHasItsFields) {
  const auto decoded = Decode(VitaContext(7, {.seconds = 5}, 1'234'567'890.5, -3.5));
  ASSERT_TRUE(decoded.has_value());
  ASSERT_TRUE(decoded->context.has_value());
  EXPECT_EQ(decoded->stream, 7u);
  EXPECT_EQ(decoded->time.seconds, 5u);
  EXPECT_EQ(decoded->time.kind, Fraction::kPicoseconds);
  EXPECT_THAT(decoded->context->bandwidth_hz, Optional(DoubleEq(2e7)));
  EXPECT_THAT(decoded->context->frequency_hz, Optional(DoubleEq(1'234'567'890.5)));
  EXPECT_THAT(decoded->context->gain_db, Optional(DoubleEq(-3.5)));
  EXPECT_THAT(decoded->context->sample_rate, Optional(DoubleEq(1e6)));
}

TEST(Vita49PacketTest, AnyContextIsReadAsItWasWritten) {
  std::mt19937_64 random(3);
  const auto maybe = [&](double most, double step) -> std::optional<double> {
    if (random() % 3 == 0) return std::nullopt;
    const double number = std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -63);
    return std::round(number * most / step) * step;
  };
  for (int i = 0; i < 10'000; ++i) {
    const Context context{.bandwidth_hz = maybe(4e9, 0.5),
                          .frequency_hz = maybe(8e12, 1),
                          .gain_db = maybe(510, 1.0 / 128),
                          .sample_rate = maybe(1e9, 0.25)};
    ASSERT_TRUE(Writable(context));
    const auto decoded = Decode(Encode(ContextPacket{
        .stream = 1, .time = kTime, .context = context, .format = FormatOf("ci16_be")}));
    ASSERT_TRUE(decoded.has_value() && decoded->context.has_value());
    EXPECT_EQ(*decoded->context, context);
    if (TextOf(context).empty()) continue;
    const auto told = ContextOf(TextOf(context));
    ASSERT_TRUE(told.has_value()) << TextOf(context);
    EXPECT_EQ(TextOf(*told), TextOf(context));
  }
}

TEST(SignalTextTest, OtherWordsAreNone) {
  for (const char* text :
       {"", " ", "frequency", "frequency=", "frequency=1 ", "frequency=x", "frequency=inf",
        "frequency=nan", "frequency=1 frequency=2", "Frequency=1", "frequency=9e12", "gain=600",
        "the antenna was moved", "frequency=1 noise=2"}) {
    EXPECT_EQ(ContextOf(text), std::nullopt) << text;
  }
  EXPECT_EQ(ContextOf("gain=-3.5 frequency=1e9"), (Context{.frequency_hz = 1e9, .gain_db = -3.5}));
}

uint64_t Since(const Time& begin, const Time& time) {
  return (time.seconds - begin.seconds) * kSecond + time.fraction - begin.fraction;
}

TEST(SampleClockTest, TimesAreTheNearestPicosecond) {
  const auto third = SampleClock::Create(3, 1'999'999'999);
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(third->At(0), (Time{true, 1, Fraction::kPicoseconds, 999'999'999'000}));
  EXPECT_EQ(third->At(1), (Time{true, 2, Fraction::kPicoseconds, 333'333'332'333}));
  EXPECT_EQ(third->At(2), (Time{true, 2, Fraction::kPicoseconds, 666'666'665'667}));
  EXPECT_EQ(third->At(3), (Time{true, 2, Fraction::kPicoseconds, 999'999'999'000}));
  // Ten years at 3 MHz: the third sample of a second is where it was in the first.
  const auto mega = SampleClock::Create(3e6, 0);
  const uint64_t years = 10ull * 365 * 86'400;
  EXPECT_EQ(mega->At(years * 3'000'000 + 2),
            (Time{true, static_cast<uint32_t>(years), Fraction::kPicoseconds, 666'667}));
  // Rates that are no whole number.
  EXPECT_EQ(SampleClock::Create(0.75, 0)->At(3), (Time{true, 4, Fraction::kPicoseconds, 0}));
  EXPECT_EQ(SampleClock::Create(2.5, -1)->At(1),
            (Time{true, 0, Fraction::kPicoseconds, 399'999'999'000}));
}

TEST(SampleClockTest, OfAnUnknownBeginCountsSamples) {
  const DataHeader header{.time = SampleClock::Create(1e6, std::nullopt)->At(7),
                          .samples_bytes = 4};
  EXPECT_EQ(header.time, (Time{.kind = Fraction::kFreeCount, .fraction = 7}));
  const auto encoded = Encode(header);
  std::vector<std::byte> packet(encoded.begin(), encoded.begin() + header.bytes());
  packet.resize(packet.size() + 4);
  const auto decoded = Decode(packet);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->time, header.time);
  EXPECT_EQ(decoded->samples.size(), 4u);
  EXPECT_EQ(NanosecondsOf(header.time, 1e6), std::nullopt);
}

TEST(SampleClockTest, TheTimeOfAPacketInNanoseconds) {
  EXPECT_EQ(NanosecondsOf({true, 1'700'000'000, Fraction::kPicoseconds, 250'000'001'000}, 1),
            1'700'000'000'250'000'001);
  EXPECT_EQ(NanosecondsOf({true, 0, Fraction::kSamples, 3}, 4), 750'000'000);
  EXPECT_EQ(NanosecondsOf({true, 5, Fraction::kPicoseconds, 0, true}, 4), std::nullopt);
}

TEST(SampleClockTest, TakesRatesThatPicosecondsCanTell) {
  for (const double rate : {0.0, -1.0, 1e-4, 1e12, std::nan(""), HUGE_VAL}) {
    EXPECT_FALSE(SampleClock::Create(rate, 0).has_value()) << rate;
  }
  const auto slow = SampleClock::Create(SampleClock::kLeastRate, 0);
  EXPECT_EQ(Since(slow->At(INT64_MAX - 1), slow->At(INT64_MAX)) % kSecond, 0u);
  const auto fast = SampleClock::Create(SampleClock::kMostRate, 0);
  EXPECT_EQ(Since(fast->At(INT64_MAX - 1), fast->At(INT64_MAX)), 10u);
}

TEST(SampleClockTest, AReaderFindsEverySampleAtItsPlace) {
  std::mt19937_64 random(4);
  const std::vector<std::byte> samples(8);
  for (const double rate : {1.0, 44'100.0, 1e6 / 3, 3e6, 122.88e6, 2.999e9}) {
    const auto clock = SampleClock::Create(rate, 1'764'115'200'123'456'789);
    const auto reader =
        gpu_worker::stages::ingest::vita49::CreateReader({.sample_bytes = 8, .sample_rate = rate});
    for (int i = 0; i < 10'000; ++i) {
      // Up to a year.
      const uint64_t sample = i == 0 ? 0 : random() % static_cast<uint64_t>(rate * 365 * 86'400);
      const auto header = Encode(DataHeader{.time = clock->At(sample), .samples_bytes = 8});
      std::vector<std::byte> packet(header.begin(), header.end());
      packet.insert(packet.end(), samples.begin(), samples.end());
      ASSERT_EQ(reader->Read(packet, {}).position, static_cast<int64_t>(sample)) << rate;
    }
  }
}

TEST(VitaReaderTest, AContextOfOtherSamplesThanTheChannelsIsTold) {
  const auto reader = gpu_worker::stages::ingest::vita49::CreateReader(
      {.sample_bytes = 4, .datatype = FormatOf("ci16_be"), .sample_rate = 1e6});
  const auto told = [&](const char* datatype) {
    return reader
        ->Read(Encode(ContextPacket{
                   .time = kTime, .context = {.sample_rate = 1e6}, .format = FormatOf(datatype)}),
               {})
        .other_format;
  };
  EXPECT_EQ(told("ci8"), std::nullopt);  // of which stream, is not known yet
  const auto header = Encode(DataHeader{.time = kTime, .samples_bytes = 4});
  std::vector<std::byte> packet(header.begin(), header.end());
  packet.resize(packet.size() + 4);
  gpu_worker::stages::ingest::Counts counts;
  counts.other_format = reader->Read(packet, {}).other_format.value_or(0);
  EXPECT_THAT(gpu_worker::stages::ingest::NoteOf(counts),
              Noted("INGEST_COUNTS|told_format=complex signed numbers of 8 bits in 8"));
  EXPECT_EQ(told("ci16_be"), std::nullopt);
  EXPECT_NE(told("cf32_be"), std::nullopt);
}

}  // namespace
}  // namespace tapedeck::services::vita49
