// The credits of control messages: never more under way than the peer has posted, never stuck.

#include "dataplane/transport/verbs/credits.h"

#include <gtest/gtest.h>

namespace tapedeck::dataplane::verbs {
namespace {

TEST(VerbsCredits, FramesStopBeforeTheReserve) {
  Credits credits;
  uint32_t frames = 0;
  for (; credits.MaySendFrame(); ++frames) credits.Sent();
  EXPECT_EQ(frames, kControlReceives - kReservedReceives);
  uint32_t words = 0;
  for (; credits.MaySendWord(); ++words) credits.Sent();
  EXPECT_EQ(words, kReservedReceives);
  EXPECT_TRUE(credits.Heard(1));
  EXPECT_FALSE(credits.MaySendFrame());
  EXPECT_TRUE(credits.MaySendWord());
}

TEST(VerbsCredits, ImpossibleWordIsRefused) {
  Credits credits;
  EXPECT_FALSE(credits.Heard(1));
  for (int i = 0; i < 10; ++i) credits.Sent();
  EXPECT_TRUE(credits.Heard(7));
  EXPECT_FALSE(credits.Heard(6));   // back
  EXPECT_FALSE(credits.Heard(11));  // more than was sent
  EXPECT_FALSE(credits.Heard(0xffffffff));
  EXPECT_TRUE(credits.Heard(10));
}

// Two ends, one of which only listens, for longer than the counts hold.
TEST(VerbsCredits, OneWayTrafficNeverStops) {
  Credits talker;
  Credits listener;
  uint32_t words = 0;
  for (uint64_t i = 0; i < (uint64_t{1} << 20); ++i) {
    ASSERT_TRUE(talker.MaySendFrame());
    const uint32_t told = talker.Tell();
    talker.Sent();
    ASSERT_TRUE(listener.Heard(told));
    listener.Reposted();
    if (!listener.MustTell()) continue;
    ASSERT_TRUE(listener.MaySendWord());
    ++words;
    const uint32_t word = listener.Tell();
    listener.Sent();
    ASSERT_TRUE(talker.Heard(word));
    talker.Reposted();
  }
  EXPECT_EQ(words, (1u << 20) / (kControlReceives / 2));
}

}  // namespace
}  // namespace tapedeck::dataplane::verbs
