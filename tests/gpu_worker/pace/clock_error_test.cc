#include "gpu_worker/pace/clock_error.h"

#include <gtest/gtest.h>
#include <sys/timex.h>

#include "dataplane/clock.h"

namespace tapedeck::gpu_worker::pace {
namespace {

using dataplane::kSecondNs;

TEST(ClockErrorTest, TheKernelsWordIsWhatCounts) {
  timex told = {};
  told.maxerror = 1234;
  EXPECT_TRUE(ErrorOf(told, TIME_OK, 0).synchronized);
  EXPECT_EQ(ErrorOf(told, TIME_OK, 0).error_ns, 1'734'000) << "with a second's drift";
  EXPECT_EQ(ErrorOf(told, TIME_INS, 0).ClockText(), "system");
  EXPECT_EQ(ErrorOf(told, TIME_ERROR, 0).ClockText(), "system, unsynchronized");
  told.status = STA_UNSYNC;
  EXPECT_FALSE(ErrorOf(told, TIME_OK, 0).synchronized);
}

TEST(ClockErrorTest, TheClockMayDriftUntilTheInstant) {
  timex told = {};
  told.maxerror = 1000;
  EXPECT_EQ(ErrorOf(told, TIME_OK, 4 * kSecondNs).error_ns, 3'500'000);
  EXPECT_EQ(ErrorOf(told, TIME_OK, -4 * kSecondNs).error_ns, 1'500'000) << "it has passed";
  EXPECT_EQ(ErrorOf(told, TIME_OK, 86'400 * kSecondNs).error_ns, 16'000'000'000);
}

// As phc2sys tells the kernel; and an estimate beyond the bound is one that the bound is not.
TEST(ClockErrorTest, NoClockIsRight) {
  timex told = {};
  EXPECT_EQ(ErrorOf(told, TIME_OK, 0).error_ns, 500'000);
  told.esterror = 700;
  EXPECT_EQ(ErrorOf(told, TIME_OK, 0).error_ns, 1'200'000);
  told.esterror = told.maxerror = -5;
  EXPECT_EQ(ErrorOf(told, TIME_OK, 0).error_ns, 500'000);
}

TEST(ClockErrorTest, WhatTheKernelDoesNotSayIsTheWorst) {
  EXPECT_FALSE(ErrorOf({}, -1, 0).synchronized);
  EXPECT_EQ(ErrorOf({}, -1, 0).error_ns, 16'000'000'000);
  const ClockError now = SystemClockErrorAt(0);
  EXPECT_GE(now.error_ns, 500'000);
  EXPECT_LE(now.error_ns, 16'000'000'000);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::pace
