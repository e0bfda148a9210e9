// Packets as devices send them: stamps of every grain, losses, packets out of order, clocks that
// are set or drift, rates that change.
#include "services/signal/vita49/stream_clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tapedeck::services::vita49 {
namespace {

constexpr int64_t kSamples = 256;  // of a packet
constexpr uint64_t kPicoseconds = 1'000'000'000'000;
constexpr int64_t kSecondNs = 1'000'000'000;

// A device whose clock runs at `rate` and tells times cut to a grain.
struct Device {
  long double rate = 1e6L;
  uint64_t grain = 1;         // picoseconds
  long double begin_s = 0.3;  // after a whole second
  int64_t set_by_s = 0;       // its clock
  long double set_by_ms = 0;  // the same

  Stamp Of(int64_t packet) const { return At(packet, packet * kSamples); }

  Stamp At(int64_t packet, int64_t sample) const {
    const long double seconds =
        begin_s + set_by_ms / 1e3L + static_cast<long double>(sample) / rate;
    const auto whole = static_cast<int64_t>(std::floor(seconds));
    auto fraction = static_cast<uint64_t>((seconds - static_cast<long double>(whole)) * 1e12L);
    fraction = std::min(fraction, kPicoseconds - 1) / grain * grain;
    return {.count = static_cast<uint32_t>(packet & 15),
            .time = {.has_seconds = true,
                     .seconds = static_cast<uint32_t>(1'700'000'000 + set_by_s + whole),
                     .kind = Fraction::kPicoseconds,
                     .fraction = fraction},
            .samples = kSamples,
            .arrival = {.silent_ns = static_cast<int64_t>(kSamples / rate * 1e9L)}};
  }
};

TEST(StreamClockTest, NothingIsMissingWhateverTheGrain) {
  const int packets = std::getenv("TAPEDECK_LONG") != nullptr ? 200'000 : 20'000;
  for (uint64_t grain = 1; grain <= 1'000'000'000; grain *= 10) {
    for (const double rate : {48e3, 1e6 / 3, 2.4e6, 61.44e6, 122.88e6}) {
      const Device device{.rate = rate, .grain = grain};
      StreamClock clock(rate);
      for (int64_t packet = 0; packet < packets; ++packet) {
        const auto place = clock.PlaceOf(device.Of(packet));
        ASSERT_TRUE(place.has_value());
        ASSERT_EQ(place->position, packet * kSamples) << "grain " << grain << " rate " << rate;
        ASSERT_FALSE(place->step_s.has_value());
      }
      EXPECT_EQ(clock.DriftPpm(), 0) << "grain " << grain << " rate " << rate;
    }
  }
}

// A clock of 125 MHz, and one of 1/3 of a microsecond.
TEST(StreamClockTest, GrainsNeedNotBePowersOfTen) {
  for (const uint64_t grain : {8'000u, 333'333u, 65'536u}) {
    const Device device{.rate = 122.88e6, .grain = grain};
    StreamClock clock(device.rate);
    for (int64_t packet = 0; packet < 5'000; ++packet) {
      ASSERT_EQ(clock.PlaceOf(device.Of(packet))->position, packet * kSamples) << grain;
    }
  }
}

// Losses of up to 40 packets, and packets that come up to 3 later: each is where it belongs.
TEST(StreamClockTest, LossesAndOvertakingLeaveEachInItsPlace) {
  std::mt19937_64 random(7);
  for (const uint64_t grain : {1u, 1'000u, 10'000u, 1'000'000u}) {
    const Device device{.rate = 2.4e6, .grain = grain};
    StreamClock clock(device.rate);
    std::vector<int64_t> order;
    for (int64_t packet = 0; packet < 20'000; ++packet) {
      if (packet > 0 && random() % 50 == 0) packet += static_cast<int64_t>(random() % 40);
      order.push_back(packet);
    }
    for (size_t i = 4; i + 3 < order.size(); i += 4) {
      if (random() % 8 == 0) std::shuffle(order.begin() + i, order.begin() + i + 3, random);
    }
    int64_t before = 0;
    for (const int64_t packet : order) {
      Stamp stamp = device.Of(packet);
      stamp.arrival.silent_ns *= std::max<int64_t>(packet - before, 1);
      before = std::max(before, packet);
      ASSERT_EQ(clock.PlaceOf(stamp)->position, packet * kSamples) << "grain " << grain;
    }
  }
}

TEST(StreamClockTest, AClockThatIsSetIsOneStep) {
  constexpr int64_t kYears = 20 * int64_t{31'557'600};
  for (const int64_t by_s : {3600L, -3600L, kYears, -kYears}) {
    Device device;
    StreamClock clock(device.rate);
    int steps = 0;
    for (int64_t packet = 0; packet < 200; ++packet) {
      if (packet == 100) device.set_by_s = by_s;
      const auto place = clock.PlaceOf(device.Of(packet));
      ASSERT_EQ(place->position, packet * kSamples);
      if (!place->step_s.has_value()) continue;
      ++steps;
      EXPECT_NEAR(*place->step_s, static_cast<double>(by_s), 1e-3);
    }
    EXPECT_EQ(steps, 1);
  }
}

// By as little as a daemon sets it; times of each grain, and packets that come in bursts.
TEST(StreamClockTest, AClockThatIsSetByMillisecondsIsOneStepEitherWay) {
  for (const uint64_t grain : {1u, 10'000u, 1'000'000u, 1'000'000'000u}) {
    for (const long double by_ms : {5.0L, -5.0L, 21.5L, -21.5L, 300.0L, -300.0L}) {
      for (const int64_t silent_ns : {0L, 256'000L, 1'000'000L}) {
        Device device{.grain = grain};
        StreamClock clock(device.rate);
        int steps = 0;
        for (int64_t packet = 0; packet < 200; ++packet) {
          if (packet == 100) device.set_by_ms = by_ms;
          Stamp stamp = device.Of(packet);
          stamp.arrival.silent_ns = silent_ns;
          const auto place = clock.PlaceOf(stamp);
          ASSERT_EQ(place->position, packet * kSamples) << grain << " ps, " << by_ms << " ms";
          if (!place->step_s.has_value()) continue;
          ++steps;
          EXPECT_EQ(packet, 100);
          EXPECT_NEAR(*place->step_s * 1e3, static_cast<double>(by_ms), 1.01);
        }
        EXPECT_EQ(steps, 1) << grain << " ps, " << by_ms << " ms, silent " << silent_ns;
      }
    }
  }
}

// What a network loses is missing in the count, and the times fit it.
TEST(StreamClockTest, ALossThatTheTimesFitIsNoStep) {
  const Device device{.grain = 1'000};
  for (const int64_t lost : {1, 5, 15, 16, 17, 20, 40}) {
    StreamClock clock(device.rate);
    for (int64_t packet = 0; packet < 100; ++packet) clock.PlaceOf(device.Of(packet));
    Stamp stamp = device.Of(100 + lost);
    stamp.arrival.silent_ns *= lost + 1;
    const auto place = clock.PlaceOf(stamp);
    EXPECT_EQ(place->position, (100 + lost) * kSamples) << lost;
    EXPECT_FALSE(place->step_s.has_value()) << lost;
  }
}

// One that comes alone may be any; the second that agrees says how much is missing.
TEST(StreamClockTest, AClockIsSetBackByMillisecondsWherePacketsAreMissing) {
  Device device;
  StreamClock clock(device.rate);
  for (int64_t packet = 0; packet < 100; ++packet) clock.PlaceOf(device.Of(packet));
  device.set_by_ms = -5;
  EXPECT_LT(clock.PlaceOf(device.Of(102))->position, 100 * kSamples);
  const auto place = clock.PlaceOf(device.Of(103));
  EXPECT_EQ(place->position, 103 * kSamples);
  EXPECT_NEAR(place->step_s.value_or(0), -0.005, 1e-6);
  for (int64_t packet = 104; packet < 150; ++packet) {
    EXPECT_EQ(clock.PlaceOf(device.Of(packet))->position, packet * kSamples);
  }
}

// Two that agree are believed.
TEST(StreamClockTest, AClockIsSetWherePacketsAreMissing) {
  Device device;
  StreamClock clock(device.rate);
  for (int64_t packet = 0; packet < 10; ++packet) clock.PlaceOf(device.Of(packet));
  device.set_by_s = -86'400;
  EXPECT_LT(clock.PlaceOf(device.Of(12))->position, 0) << "one alone";
  const auto place = clock.PlaceOf(device.Of(13));
  EXPECT_EQ(place->position, 13 * kSamples);
  EXPECT_TRUE(place->step_s.has_value());
  EXPECT_EQ(clock.PlaceOf(device.Of(14))->position, 14 * kSamples);
}

// An overflow: the device counts the packets that it sends, and tells when their samples were.
TEST(StreamClockTest, ATimeThatGoesOnWithoutTheCountIsAGap) {
  const Device device{.grain = 1'000};
  StreamClock clock(device.rate);
  for (int64_t packet = 0; packet < 100; ++packet) clock.PlaceOf(device.Of(packet));
  constexpr int64_t kLost = 12'345;
  Stamp stamp = device.At(100, 100 * kSamples + kLost);
  stamp.arrival.silent_ns += kLost * 1'000;
  EXPECT_EQ(clock.PlaceOf(stamp)->position, 100 * kSamples + kLost);
  EXPECT_EQ(clock.PlaceOf(device.At(101, 101 * kSamples + kLost))->position,
            101 * kSamples + kLost);
}

TEST(StreamClockTest, ARateThatChangesMovesNothing) {
  for (const long double other : {2e6L, 0.5e6L, 1.000001e6L}) {
    const Device first;
    StreamClock clock(first.rate);
    for (int64_t packet = 0; packet < 100; ++packet) clock.PlaceOf(first.Of(packet));
    clock.SetRate(other);
    const Device second{.rate = other, .begin_s = first.begin_s + 100 * kSamples / first.rate};
    for (int64_t packet = 0; packet < 1'000; ++packet) {
      Stamp stamp = second.Of(packet);
      stamp.count = static_cast<uint32_t>((packet + 100) & 15);
      ASSERT_EQ(clock.PlaceOf(stamp)->position, (packet + 100) * kSamples) << packet;
    }
  }
}

TEST(StreamClockTest, ADriftIsToldAndTakesNothing) {
  for (const double ppm : {-150.0, 150.0, -1000.0}) {
    const Device device{.rate = 1e6L * (1 + ppm * 1e-6L)};
    StreamClock clock(1e6L);
    for (int64_t packet = 0; packet < 20'000; ++packet) {
      ASSERT_EQ(clock.PlaceOf(device.Of(packet))->position, packet * kSamples) << ppm;
    }
    // A sound clock may have 200.
    EXPECT_NEAR(clock.DriftPpm(), ppm == -1000.0 ? 1001.0 : 0, 0.5) << ppm;
  }
}

// Nothing proves who sent a packet.
TEST(StreamClockTest, RandomStampsAreHeldWithinTheirKind) {
  std::mt19937_64 random(1);
  StreamClock clock(1e6L);
  for (int i = 0; i < 100'000; ++i) {
    Stamp stamp{.count = static_cast<uint32_t>(random() & 15),
                .time = {.has_seconds = random() % 8 != 0,
                         .seconds = static_cast<uint32_t>(random()),
                         .kind = random() % 8 == 0 ? Fraction::kSamples : Fraction::kPicoseconds,
                         .fraction = random()},
                .samples = static_cast<int64_t>(random() % 16'000 + 1),
                .arrival = {.silent_ns = static_cast<int64_t>(random() % kSecondNs)}};
    if (random() % 16 == 0) clock.SetRate(std::ldexp(1.0L, static_cast<int>(random() % 100) - 40));
    clock.PositionOf(stamp.time, stamp.arrival);
    clock.PlaceOf(stamp);
  }
}

}  // namespace
}  // namespace tapedeck::services::vita49
