#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "gpu_worker/emulator/plan.h"

namespace tapedeck::gpu_worker::emulator {
namespace {

TEST(PlanTest, TheLastPacketHasTheRest) {
  const Plan plan{.sample_bytes = 4, .packet_bytes = 1000, .samples = 1001};
  EXPECT_EQ(plan.packets(), 5u);
  EXPECT_EQ(plan.bytes_of(0), 1000u);
  EXPECT_EQ(plan.bytes_of(4), 4u);
  EXPECT_EQ(Plan{}.packets(), UINT64_MAX);
}

TEST(PlanTest, NoSampleIsZero) {
  std::vector<uint64_t> words(4);
  FillSamples(64, std::as_writable_bytes(std::span(words)));
  EXPECT_EQ(words, (std::vector<uint64_t>{9, 10, 11, 12}));
  uint32_t half = 0;
  FillSamples(0, std::as_writable_bytes(std::span(&half, 1)));
  EXPECT_EQ(half, 1u);
}

TEST(PlanTest, RetunesAreSpreadOverTheStream) {
  const std::vector<Retune> tuned = PlanRetunes(1'000'000, 100, 7);
  ASSERT_EQ(tuned.size(), 101u);
  EXPECT_EQ(tuned.front(), (Retune{.sample = 0, .frequency_hz = 1e9}));
  for (size_t i = 1; i < tuned.size(); ++i) {
    EXPECT_GT(tuned[i].sample, tuned[i - 1].sample) << i;
    EXPECT_NE(tuned[i].frequency_hz, tuned[i - 1].frequency_hz) << i;
  }
  EXPECT_LT(tuned.back().sample, 1'000'000u);
  EXPECT_EQ(tuned, PlanRetunes(1'000'000, 100, 7));
  EXPECT_EQ(PlanRetunes(0, 0, 7).size(), 1u);
}

TEST(FatesTest, OneSeedIsOnePattern) {
  const Plan plan{.drop = 100'000, .drop_run = 3, .repeat = 50'000, .reorder = 50'000, .seed = 7};
  Fates first(plan), second(plan);
  EXPECT_EQ(first.Next(), Fates::Fate::kSent);
  second.Next();
  size_t counts[4] = {};
  for (int i = 0; i < 10'000; ++i) {
    const Fates::Fate fate = first.Next();
    EXPECT_EQ(fate, second.Next());
    ++counts[static_cast<size_t>(fate)];
  }
  const auto count = [&](Fates::Fate fate) { return counts[static_cast<size_t>(fate)]; };
  EXPECT_NEAR(static_cast<double>(count(Fates::Fate::kDropped)), 2500, 300);
  EXPECT_NEAR(static_cast<double>(count(Fates::Fate::kRepeated)), 375, 100);
  EXPECT_NEAR(static_cast<double>(count(Fates::Fate::kReordered)), 356, 100);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::emulator
