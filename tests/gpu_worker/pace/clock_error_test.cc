#include "gpu_worker/pace/clock_error.h"

#include <gtest/gtest.h>
#include <sys/timex.h>

namespace tapedeck::gpu_worker::pace {
namespace {

TEST(ClockErrorTest, TheKernelsWordIsWhatCounts) {
  timex told = {};
  told.maxerror = 1234;
  EXPECT_TRUE(ErrorOf(told, TIME_OK).synchronized);
  EXPECT_EQ(ErrorOf(told, TIME_OK).error_ns, 1'234'000);
  EXPECT_EQ(ErrorOf(told, TIME_INS).ClockText(), "system");
  EXPECT_EQ(ErrorOf(told, TIME_ERROR).ClockText(), "system, unsynchronized");
  told.status = STA_UNSYNC;
  EXPECT_FALSE(ErrorOf(told, TIME_OK).synchronized);
}

TEST(ClockErrorTest, WhatTheKernelDoesNotSayIsTheWorst) {
  EXPECT_FALSE(ErrorOf({}, -1).synchronized);
  EXPECT_EQ(ErrorOf({}, -1).error_ns, 16'000'000'000);
  EXPECT_GE(SystemClockError().error_ns, 0);
  EXPECT_LE(SystemClockError().error_ns, 16'000'000'000);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::pace
