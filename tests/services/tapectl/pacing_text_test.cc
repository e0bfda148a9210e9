#include "services/tapectl/jobs/pacing_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tapedeck::services::tapectl {
namespace {

using model::JitterOf;
using model::SampleRange;
using model::Timing;
using testing::HasSubstr;

constexpr int64_t kMicrosecondNs = dataplane::kMicrosecondNs;

// 1000 blocks: 900 by 10 us at most, 95 by 20, 4 by 50, and one that is later than any bound.
Timing Example() {
  return {.samples_per_s = 2e6,
          .blocks = 1000,
          .samples = 32'768'000,
          .underruns = 1,
          .jitter = {{10 * kMicrosecondNs, 900},
                     {20 * kMicrosecondNs, 95},
                     {50 * kMicrosecondNs, 4},
                     {0, 1}},
          .worst_jitter_ns = 1200 * dataplane::kMillisecondNs};
}

TEST(PacingTextTest, Rates) {
  EXPECT_EQ(ParseRateFactor("recorded").value(), 1.0);
  EXPECT_EQ(ParseRateFactor("max").value(), std::nullopt);
  EXPECT_EQ(ParseRateFactor("0.25").value(), 0.25);
  EXPECT_TRUE(std::isnan(ParseRateFactor("nan").value().value())) << "the worker refuses it";
  EXPECT_FALSE(ParseRateFactor("fast").ok());
}

TEST(PacingTextTest, PercentilesAreUpperBounds) {
  EXPECT_EQ(JitterOf(Example(), 0.5), 10 * kMicrosecondNs);
  EXPECT_EQ(JitterOf(Example(), 0.9), 10 * kMicrosecondNs);
  EXPECT_EQ(JitterOf(Example(), 0.99), 20 * kMicrosecondNs);
  EXPECT_EQ(JitterOf(Example(), 0.999), 50 * kMicrosecondNs);
  EXPECT_EQ(JitterOf(Example(), 1), 1200 * dataplane::kMillisecondNs);
  EXPECT_EQ(JitterOf({}, 0.99), 0);
  EXPECT_EQ(JitterOf({.jitter = {{50 * kMicrosecondNs, 3}}, .worst_jitter_ns = 31'000}, 0.5),
            31'000)
      << "none was later than the latest";
}

TEST(PacingTextTest, TellsWhatThereIs) {
  EXPECT_EQ(TimingText({}), "");
  EXPECT_EQ(TimingText(Example()),
            "gave 32768000 samples in 1000 blocks\n"
            "at 2000000 samples/s: 1 underruns; jitter p50 10us, p99 20us, p99.9 50us, max 1.2s\n");
  EXPECT_THAT(TimingText({.blocks = 2, .samples = 60, .turns = 3}),
              HasSubstr("3 turns of the loop"));
  EXPECT_EQ(TimingText({.after_at_ns = 42'000}), "first sample 42us after the time asked for\n");
}

}  // namespace
}  // namespace tapedeck::services::tapectl
