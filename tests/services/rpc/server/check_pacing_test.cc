#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dataplane/clock.h"
#include "services/base/errors.h"
#include "services/rpc/server/handlers/validate.h"

namespace tapedeck::services::server {
namespace {

using model::Pacing;
using model::Playhead;
using model::SampleRange;

// The field that is refused; empty: none is.
std::string RefusedIn(const absl::Status& status) {
  if (status.ok()) return "";
  const auto reason = ReasonOf(status);
  return reason.has_value() && reason->reason == "ARGUMENT_INVALID" ? reason->metadata.at("field")
                                                                    : status.ToString();
}

std::string Refused(const Pacing& pacing, const Playhead& playhead = {}) {
  return RefusedIn(CheckPacing({.playhead = playhead, .pacing = pacing}));
}

Playhead FromSample(int64_t sample) { return {.unit = Playhead::Unit::kSample, .start = sample}; }

TEST(CheckPacingTest, ARateIsANumberThatCanBe) {
  for (const double good : {1.0, 0.5, 1e-6, 1e6}) EXPECT_EQ(Refused({.rate_factor = good}), "");
  for (const double bad :
       {0.0, -0.0, -1.0, 1e-7, 1.1e6, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_EQ(Refused({.rate_factor = bad}), "pacing.rate_factor") << bad;
  }
}

TEST(CheckPacingTest, AnEndIsAfterTheBeginning) {
  EXPECT_EQ(Refused({.end_sample = 1}), "");
  EXPECT_EQ(Refused({.end_sample = 0}), "pacing.end_sample");
  EXPECT_EQ(Refused({.end_sample = UINT64_MAX}), "pacing.end_sample");
  EXPECT_EQ(Refused({.end_sample = 11}, FromSample(10)), "");
  EXPECT_EQ(Refused({.end_sample = 10}, FromSample(10)), "pacing.end_sample");
  EXPECT_EQ(Refused({.end_sample = 10}, {.start = 10}), "") << "a block is not a sample";
}

TEST(CheckPacingTest, ALoopHasItsOwnEnds) {
  EXPECT_EQ(Refused({.loop = SampleRange{5, 6}}), "");
  EXPECT_EQ(Refused({.loop = SampleRange{5, 5}}), "pacing.loop");
  EXPECT_EQ(Refused({.loop = SampleRange{6, 5}}), "pacing.loop");
  EXPECT_EQ(Refused({.loop = SampleRange{0, UINT64_MAX}}), "pacing.loop");
  EXPECT_EQ(Refused({.end_sample = 9, .loop = SampleRange{5, 6}}), "pacing.end_sample");
  EXPECT_EQ(Refused({.loop = SampleRange{5, 6}}, FromSample(5)), "playhead");
  EXPECT_EQ(Refused({.loop = SampleRange{5, 6}, .loop_count = uint64_t{1} << 32}), "");
  EXPECT_EQ(Refused({.loop = SampleRange{5, 6}, .loop_count = (uint64_t{1} << 32) + 1}),
            "pacing.loop_count");
  EXPECT_EQ(Refused({.loop_count = 1}), "pacing.loop_count");
}

TEST(CheckPacingTest, NoTransformsWhereSamplesAreChosen) {
  PlaybackSpec spec{.transfer = {.transforms = {{"fft"}}}};
  EXPECT_EQ(RefusedIn(CheckPacing(spec)), "");
  spec.pacing.rate_factor = 1;
  spec.playhead = {.start = 7};
  EXPECT_EQ(RefusedIn(CheckPacing(spec)), "");
  spec.playhead = FromSample(7);
  EXPECT_EQ(RefusedIn(CheckPacing(spec)), "transforms");
  spec.playhead = {};
  spec.pacing.end_sample = 7;
  EXPECT_EQ(RefusedIn(CheckPacing(spec)), "transforms");
}

TEST(CheckPacingTest, ATimeIsWithinADayFromNow) {
  const int64_t now_ns = dataplane::SystemClock().WallNs();
  EXPECT_EQ(RefusedIn(CheckAt("at", 0)), "");
  EXPECT_EQ(RefusedIn(CheckAt("at", now_ns + 3600 * dataplane::kSecondNs)), "");
  for (const int64_t bad : {now_ns - 1, int64_t{1}, int64_t{-1}, INT64_MIN, INT64_MAX,
                            now_ns + model::kMostAheadNs + 3600 * dataplane::kSecondNs}) {
    EXPECT_EQ(RefusedIn(CheckAt("at", bad)), "at") << bad;
    EXPECT_EQ(Refused({.at_ns = bad}), "pacing.at") << bad;
  }
}

}  // namespace
}  // namespace tapedeck::services::server
