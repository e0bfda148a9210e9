#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "gpu_worker/stages/ingest/packet.h"
#include "gpu_worker/stages/ingest/signal_marks.h"
#include "services/signal/vita49/sample_clock.h"
#include "tests/gpu_worker/ingest/vita49_packets.h"

namespace tapedeck::gpu_worker::stages::ingest {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using Is = Packet::Is;

constexpr uint64_t kRate = 1'000'000;
constexpr uint32_t kStream = 3;
constexpr int64_t kVitaSamples = 100;  // of a packet

std::vector<std::byte> Data(uint64_t sample, uint32_t stream = kStream) {
  const std::vector<std::byte> samples(kVitaSamples * 4, std::byte{1});
  return VitaData(stream, VitaTime::Of(sample, kRate), samples);
}

std::string TextOf(uint64_t hertz) {
  return "frequency=" + std::to_string(hertz) + " bandwidth=20000000 gain=3 sample_rate=1000000";
}

class Vita49Test : public testing::Test {
 protected:
  Packet Read(const std::vector<std::byte>& bytes) {
    last_ = bytes;
    return reader_->Read(last_, {});
  }

  std::vector<std::byte> last_;  // packets refer to it
  std::unique_ptr<PacketReader> reader_ =
      vita49::CreateReader({.sample_bytes = 4, .sample_rate = kRate});
};

TEST_F(Vita49Test, PositionsComeFromTimes) {
  const uint64_t begin = 999'950;  // a second ends in the first packet
  EXPECT_EQ(Read(Data(begin)).position, 0);
  const Packet next = Read(Data(begin + 12'345));
  EXPECT_EQ(next.is, Is::kSamples);
  EXPECT_EQ(next.position, 12'345);
  EXPECT_EQ(next.samples.size(), kVitaSamples * 4u);
  EXPECT_EQ(Read(Data(begin - kVitaSamples)).position, -kVitaSamples);
  EXPECT_EQ(Read(Data(begin + 86'400 * kRate + 1)).position, 86'400 * int64_t{kRate} + 1);
}

TEST_F(Vita49Test, SamplesOfTheSecondAreCounted) {
  const auto data = [](uint32_t seconds, uint64_t samples) {
    return VitaPacket().Word(0x1050'0000).Word(kStream).Word(seconds).Two(samples).Word(1).Done();
  };
  EXPECT_EQ(Read(data(9, 999'999)).position, 0);
  EXPECT_EQ(Read(data(10, 0)).position, 1);
  EXPECT_EQ(Read(data(12, 5)).position, 2 * int64_t{kRate} + 6);
  // Of the other kind.
  EXPECT_EQ(Read(Data(5)).is, Is::kMalformed);
}

TEST_F(Vita49Test, ChangesHoldFromTheirSampleOn) {
  EXPECT_TRUE(Read(VitaContext(kStream, {}, 1e9, 3)).changes.empty());  // nothing has begun
  const Packet first = Read(Data(500));
  EXPECT_EQ(first.position, 0);
  EXPECT_THAT(first.changes, ElementsAre(SignalChange{0, TextOf(1'000'000'000)}));
  EXPECT_TRUE(Read(Data(600)).changes.empty());
  const Packet later = Read(VitaContext(kStream, VitaTime::Of(777, kRate), 1.5e9, 3));
  EXPECT_EQ(later.is, Is::kContext);
  EXPECT_THAT(later.changes, ElementsAre(SignalChange{277, TextOf(1'500'000'000)}));
}

TEST_F(Vita49Test, EarlyChangesAreOfTheirOwnStream) {
  Read(VitaContext(kStream, {}, 1e9, 3));
  for (uint32_t other = 100; other < 300; ++other) Read(VitaContext(other, {}, 2e9, 3));
  Read(VitaContext(kStream, {}, 4e9, 3));
  EXPECT_THAT(Read(Data(0)).changes, ElementsAre(SignalChange{0, TextOf(4'000'000'000)}));
}

// A device that retunes in its first packet; what it sends may overtake itself.
TEST_F(Vita49Test, EarlyChangesHoldFromTheirOwnSamplesOn) {
  const auto tell = [&](uint64_t sample, double hertz) {
    Read(VitaContext(kStream, VitaTime::Of(sample, kRate), hertz, 3));
  };
  tell(1007, 3e9);
  tell(900, 1e9);
  tell(1000, 2e9);
  tell(950, 4e9);
  EXPECT_THAT(Read(Data(1000)).changes,
              UnorderedElementsAre(SignalChange{0, TextOf(2'000'000'000)},
                                   SignalChange{7, TextOf(3'000'000'000)}));
  EXPECT_TRUE(Read(Data(1100)).changes.empty());
}

TEST_F(Vita49Test, AnotherStreamIsForeign) {
  EXPECT_EQ(Read(Data(0)).is, Is::kSamples);
  EXPECT_EQ(Read(Data(100, 4)).is, Is::kForeign);
  EXPECT_EQ(Read(VitaContext(4, {}, 1, 1)).is, Is::kForeign);
}

TEST_F(Vita49Test, WhatIsNotOfTheKindIsMalformed) {
  for (const std::vector<std::byte>& good :
       {Data(0), VitaContext(kStream, VitaTime::Of(9, kRate), 1e9, 1)}) {
    for (size_t bytes = 0; bytes < good.size(); ++bytes) {
      std::vector<std::byte> part(good.begin(), good.begin() + static_cast<ptrdiff_t>(bytes));
      EXPECT_EQ(Read(part).is, Is::kMalformed) << bytes;
      if (part.size() < 4) continue;  // and with a size that is right
      part.resize(part.size() / 4 * 4);
      part[2] = static_cast<std::byte>(part.size() / 4 >> 8);
      part[3] = static_cast<std::byte>(part.size() / 4);
      EXPECT_EQ(Read(part).samples.size() % 4, 0u) << bytes;
    }
  }
  // A command; samples without a time; padding beyond the packet.
  EXPECT_EQ(Read(VitaPacket().Word(0x6000'0000).Word(kStream).Word(1).Done()).is, Is::kMalformed);
  EXPECT_EQ(Read(VitaPacket().Word(0x1000'0000).Word(kStream).Word(1).Done()).is, Is::kMalformed);
  EXPECT_EQ(Read(VitaPacket().Word(0x1800'0000).Word(kStream).Word(0xf800'0000).Word(0).Done()).is,
            Is::kMalformed);
  EXPECT_EQ(reader_->SizeOf(std::vector<std::byte>(4)), std::nullopt);
  EXPECT_EQ(reader_->SizeOf(Data(0)), Data(0).size());
}

TEST_F(Vita49Test, RandomBytesAreRead) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    std::vector<std::byte> bytes(random() % 25 * 4 + 4);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    bytes[2] = std::byte{0};
    bytes[3] = static_cast<std::byte>(bytes.size() / 4);
    const Packet packet = Read(bytes);
    ASSERT_LE(packet.samples.size(), bytes.size());
  }
}

// A daemon sets the device's clock by some milliseconds, either way: no sample is lost or late.
TEST_F(Vita49Test, AClockThatIsSetByLittleIsAStepAndNoLoss) {
  constexpr uint64_t kTicksPs = 1'000'000'000'000 / kRate;
  for (const int64_t by_ms : {5, -5}) {
    reader_ = vita49::CreateReader({.sample_bytes = 4, .sample_rate = kRate});
    int steps = 0;
    for (int64_t i = 0; i < 300; ++i) {
      const int64_t tick = 1'000'000 + i * kVitaSamples + (i < 100 ? 0 : by_ms * 1000);
      const services::vita49::DataHeader header{
          .stream = kStream,
          .number = static_cast<uint32_t>(i),
          .time = {.has_seconds = true,
                   .seconds = 1'700'000'000 + static_cast<uint32_t>(tick / kRate),
                   .kind = services::vita49::Fraction::kPicoseconds,
                   .fraction = static_cast<uint64_t>(tick) % kRate * kTicksPs},
          .samples_bytes = kVitaSamples * 4};
      const auto head = services::vita49::Encode(header);
      std::vector<std::byte> bytes(head.begin(), head.begin() + header.bytes());
      bytes.resize(bytes.size() + kVitaSamples * 4);
      last_ = bytes;
      const Packet packet =
          reader_->Read(last_, {.newest = i * kVitaSamples, .silent_ns = 100'000, .pace = kRate});
      EXPECT_EQ(packet.position, i * kVitaSamples) << by_ms;
      if (!packet.clock_step_s.has_value()) continue;
      ++steps;
      EXPECT_EQ(i, 100);
      EXPECT_NEAR(*packet.clock_step_s, static_cast<double>(by_ms) / 1e3, 1e-6);
    }
    EXPECT_EQ(steps, 1) << by_ms;
  }
}

// Members of a group: samples count from its instant, by the packets' own times.
class Vita49GroupTest : public Vita49Test {
 protected:
  static constexpr int64_t kBeginNs = 1'700'000'000 * int64_t{1'000'000'000};  // of sample 0

  void BeginAt(int64_t at_ns, double rate = kRate, bool from_first = false) {
    reader_ = vita49::CreateReader(
        {.sample_bytes = 4, .sample_rate = rate, .at_ns = at_ns, .from_first = from_first});
  }

  // Each sample is its number.
  Packet ReadNumbered(uint64_t first, double rate = kRate) {
    std::vector<uint32_t> numbers(kVitaSamples);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<uint32_t>(first + i);
    const auto clock = services::vita49::SampleClock::Create(rate, kBeginNs);
    const services::vita49::Time time = clock->At(first);
    return Read(
        VitaData(kStream, {time.seconds, time.fraction}, std::as_bytes(std::span(numbers))));
  }

  static std::vector<uint32_t> NumbersOf(const Packet& packet) {
    std::vector<uint32_t> numbers(packet.samples.size() / 4);
    std::memcpy(numbers.data(), packet.samples.data(), packet.samples.size());
    return numbers;
  }
};

TEST_F(Vita49GroupTest, WhatIsBeforeTheInstantIsCutToTheSample) {
  BeginAt(kBeginNs + 1'000'250'000);  // sample 1,000,250, in the next second
  EXPECT_EQ(ReadNumbered(1'000'000).is, Is::kEarly);
  EXPECT_EQ(ReadNumbered(1'000'150).is, Is::kEarly) << "its last sample is the one before";
  const Packet first = ReadNumbered(1'000'200);
  ASSERT_EQ(first.is, Is::kSamples);
  EXPECT_FALSE(first.uncut);
  EXPECT_EQ(first.position, 0);
  EXPECT_THAT(NumbersOf(first), SizeIs(50));
  EXPECT_EQ(NumbersOf(first).front(), 1'000'250u);
  const Packet next = ReadNumbered(1'000'300);
  EXPECT_EQ(next.position, 50);
  EXPECT_THAT(NumbersOf(next), SizeIs(100));
  EXPECT_EQ(ReadNumbered(1'000'100).is, Is::kEarly) << "one that was overtaken";
}

// The sender's clock may be hours ahead.
TEST_F(Vita49GroupTest, WhoIsInNoneBeginsWithTheFirstThatComes) {
  BeginAt(kBeginNs, kRate, /*from_first=*/true);
  EXPECT_EQ(ReadNumbered(3'600'000'000).position, 0);
  EXPECT_EQ(ReadNumbered(3'600'000'100).position, 100);
  BeginAt(kBeginNs + 40'000, kRate, /*from_first=*/true);
  const Packet cut = ReadNumbered(0);
  EXPECT_EQ(cut.position, 0);
  EXPECT_EQ(NumbersOf(cut).front(), 40u);
  EXPECT_EQ(ReadNumbered(100).position, 60);
}

TEST_F(Vita49GroupTest, AnInstantBetweenTwoSamplesBeginsWithTheSecond) {
  for (const int64_t ns : {1, 500, 999, 1000}) {
    BeginAt(kBeginNs + 40'000 + ns);
    EXPECT_EQ(NumbersOf(ReadNumbered(0)).front(), 41u) << ns;
  }
  BeginAt(kBeginNs + 40'000);
  EXPECT_EQ(NumbersOf(ReadNumbered(0)).front(), 40u);
}

// A sample of 3 MS/s lasts a third of a microsecond: its time is told to the nearest picosecond,
// which may be before the instant that it is due at.
TEST_F(Vita49GroupTest, TheRoundingOfTimesTakesNoSample) {
  for (const double rate : {3e6, 7e6, 48'000.0, 44'100.0, 1e9}) {
    for (const uint64_t sample : {3u, 7u, 21u, 48u, 66u}) {
      // In whole nanoseconds that is at the sample, or less than one before.
      const auto due_ns = static_cast<int64_t>(static_cast<double>(sample) * 1e9 / rate);
      BeginAt(kBeginNs + due_ns, rate);
      const Packet first = ReadNumbered(0, rate);
      ASSERT_EQ(first.is, Is::kSamples);
      EXPECT_EQ(NumbersOf(first).front(), sample) << rate;
      EXPECT_EQ(ReadNumbered(kVitaSamples, rate).position,
                kVitaSamples - static_cast<int64_t>(sample));
    }
  }
}

TEST_F(Vita49GroupTest, WhatIsNotThereAtTheInstantIsLost) {
  BeginAt(kBeginNs + 1'000);
  EXPECT_EQ(ReadNumbered(5'001).position, 5'000);
  const Packet overtaken = ReadNumbered(4'901);
  EXPECT_EQ(overtaken.is, Is::kSamples);
  EXPECT_EQ(overtaken.position, 4'900);
  EXPECT_EQ(NumbersOf(ReadNumbered(0)).front(), 1u);
}

TEST_F(Vita49GroupTest, ContextsFromBeforeTheInstantHoldAtIt) {
  BeginAt(kBeginNs + 250'000);
  EXPECT_EQ(ReadNumbered(0).is, Is::kEarly);
  Read(VitaContext(kStream, VitaTime::Of(120, kRate), 2e9, 3));
  EXPECT_EQ(ReadNumbered(100).is, Is::kEarly);
  Read(VitaContext(kStream, VitaTime::Of(275, kRate), 3e9, 3));
  EXPECT_THAT(ReadNumbered(200).changes,
              UnorderedElementsAre(SignalChange{0, TextOf(2'000'000'000)},
                                   SignalChange{25, TextOf(3'000'000'000)}));
}

// Of GPS, of a free count, and of the samples of nobody's second.
TEST_F(Vita49GroupTest, TimesThatAreNotUtcAreSaid) {
  for (const uint32_t head : {0x10a0'0000u, 0x1030'0000u, 0x1010'0000u}) {
    BeginAt(kBeginNs);
    const bool seconds = (head & 0x00c0'0000u) != 0;
    VitaPacket packet;
    packet.Word(head).Word(kStream);
    if (seconds) packet.Word(1'700'000'000);
    const auto bytes = packet.Two(5).Word(1).Done();
    EXPECT_FALSE(reader_->TellsUtc(bytes)) << head;
    const Packet first = Read(bytes);
    EXPECT_EQ(first.is, Is::kSamples) << head;
    EXPECT_EQ(first.position, 0) << head;
    EXPECT_TRUE(first.uncut) << head;
  }
  BeginAt(kBeginNs);
  EXPECT_TRUE(reader_->TellsUtc(Data(0)));
  // Whole seconds alone.
  EXPECT_EQ(Read(VitaPacket().Word(0x1040'0000).Word(kStream).Word(9).Word(1).Done()).is,
            Is::kMalformed);
}

TEST_F(Vita49GroupTest, AClockThatIsYearsOffIsNotBelieved) {
  BeginAt(kBeginNs, 1e10);
  EXPECT_EQ(Read(VitaData(kStream, {0, 0}, std::vector<std::byte>(400))).is, Is::kMalformed);
  EXPECT_EQ(ReadNumbered(0, 1e10).position, 0);
}

// A hundred retunes, some of them told again, lost, late or out of order.
TEST(SignalMarksTest, EachIsToldOnceWhereItHolds) {
  auto counts = std::make_shared<Counts>();
  auto report = std::make_shared<StageReport>([] { return services::Notes(); });
  SignalMarks signal_marks(report, counts);
  std::vector<std::pair<uint64_t, std::string>> told;
  for (uint64_t i = 0; i < 100; ++i) told.emplace_back(i * 100, "frequency " + std::to_string(i));
  std::map<uint64_t, std::string> expected(told.begin(), told.end());
  std::mt19937_64 random(2);
  for (uint64_t i = 0; i < 100; ++i) told.push_back(told[random() % 100]);
  std::ranges::shuffle(told, random);
  for (const auto& [position, text] : told) signal_marks.Tell(position, text);
  signal_marks.Tell(10'050, "frequency 99");  // the same goes on
  std::map<uint64_t, std::string> marks;
  for (const auto& mark : report->Take(StageReport::Which::kAll)) {
    EXPECT_EQ(mark.label, "signal");
    EXPECT_TRUE(marks.emplace(mark.sample_start, mark.comment).second);
  }
  EXPECT_EQ(marks, expected);
}

// A device that goes back and forth, and says so before each of its packets.
TEST(SignalMarksTest, WhatComesOutOfOrderEndsWhereTheOldReturns) {
  auto counts = std::make_shared<Counts>();
  auto report = std::make_shared<StageReport>([] { return services::Notes(); });
  SignalMarks signal_marks(report, counts);
  std::vector<std::pair<uint64_t, std::string>> told;
  for (uint64_t i = 0; i < 2000; ++i) told.emplace_back(i * 100, std::to_string(i / 7 % 2));
  std::mt19937_64 random(5);
  for (size_t i = 0; i + 8 < told.size(); i += 8) {
    std::shuffle(told.begin() + static_cast<ptrdiff_t>(i),
                 told.begin() + static_cast<ptrdiff_t>(i) + 8, random);
  }
  for (const auto& [position, text] : told) signal_marks.Tell(position, text);
  std::map<uint64_t, std::string> marks;
  for (const auto& mark : report->Take(StageReport::Which::kAll)) {
    marks.insert_or_assign(mark.sample_start, mark.comment);
  }
  std::ranges::sort(told);
  const std::string* holds = nullptr;
  for (const auto& [position, text] : told) {
    if (const auto mark = marks.find(position); mark != marks.end()) holds = &mark->second;
    ASSERT_NE(holds, nullptr);
    EXPECT_EQ(*holds, text) << position;
  }
}

TEST(SignalMarksTest, ThereAreSoManyAtMost) {
  auto counts = std::make_shared<Counts>();
  auto report = std::make_shared<StageReport>([] { return services::Notes(); });
  SignalMarks signal_marks(report, counts);
  for (uint64_t i = 0; i < SignalMarks::kMost + 3; ++i) signal_marks.Tell(i, std::to_string(i));
  EXPECT_THAT(report->Take(StageReport::Which::kAll), SizeIs(SignalMarks::kMost));
  EXPECT_EQ(counts->untold, 3u);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::ingest
