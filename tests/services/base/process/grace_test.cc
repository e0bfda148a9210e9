// How long a daemon may take to end.
#include "services/base/process/grace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tapedeck::services {
namespace {

TEST(GraceTest, IsADurationWithinBounds) {
  EXPECT_EQ(*ParseGrace("5s"), absl::Seconds(5));
  EXPECT_EQ(*ParseGrace("1m30s"), absl::Seconds(90));
  EXPECT_EQ(*ParseGrace("1h"), absl::Hours(1));
  EXPECT_GE(kDefaultGrace, kLeastGrace);
  for (const char* text : {"", "9", "4s", "4999ms", "61m", "-9s", "inf"}) {
    EXPECT_EQ(ParseGrace(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace tapedeck::services
