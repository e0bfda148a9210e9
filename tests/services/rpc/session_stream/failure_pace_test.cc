// Who fails too often waits; nobody else does.
#include "services/rpc/session_stream/failure_pace.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace tapedeck::services::session_stream {
namespace {

constexpr int64_t kNowNs = 1'000 * dataplane::kSecondNs;

void FailOften(FailurePace& pace, const std::string& caller, int64_t times) {
  for (int64_t i = 0; i < times; ++i) pace.OnFailure(caller, kNowNs);
}

TEST(FailurePaceTest, ARunOfMistakesIsNobodysAttack) {
  FailurePace pace;
  FailOften(pace, "ann", FailurePace::kAtOnce);
  EXPECT_EQ(pace.WaitNs("ann", kNowNs), 0);
}

TEST(FailurePaceTest, WhoFailsMoreOftenWaitsAndOthersDoNot) {
  FailurePace pace;
  FailOften(pace, "ann", FailurePace::kAtOnce + 3);
  EXPECT_EQ(pace.WaitNs("ann", kNowNs), 3 * FailurePace::kEachNs);
  EXPECT_EQ(pace.WaitNs("ann", kNowNs + FailurePace::kEachNs), 2 * FailurePace::kEachNs);
  EXPECT_EQ(pace.WaitNs("bob", kNowNs), 0);
}

TEST(FailurePaceTest, NobodyWaitsForEver) {
  FailurePace pace;
  FailOften(pace, "ann", 100'000);
  EXPECT_EQ(pace.WaitNs("ann", kNowNs), FailurePace::kLongestWaitNs);
  EXPECT_EQ(pace.WaitNs("ann", kNowNs + FailurePace::kLongestWaitNs), 0);
}

TEST(FailurePaceTest, CallersWithoutAPlaceShareOneAndPlacesComeBack) {
  FailurePace pace;
  for (size_t i = 0; i < FailurePace::kMostCallers; ++i)
    pace.OnFailure(absl::StrCat("c", i), kNowNs);
  FailOften(pace, "ann", FailurePace::kAtOnce);
  FailOften(pace, "bob", 1);
  EXPECT_EQ(pace.WaitNs("bob", kNowNs), FailurePace::kEachNs);
  EXPECT_EQ(pace.WaitNs("c0", kNowNs), 0) << "it has a place of its own";
  const int64_t later_ns = kNowNs + dataplane::kSecondNs * 60;
  for (int i = 0; i < FailurePace::kAtOnce; ++i) pace.OnFailure("ann", later_ns);
  pace.OnFailure("bob", later_ns);
  EXPECT_EQ(pace.WaitNs("bob", later_ns), 0);
}

TEST(FailurePaceTest, AnIdentityCountsForItselfAndAStrangerForItsHost) {
  EXPECT_EQ(CallerKey("spiffe://lab/ann", "ipv4:10.0.0.1:33012"), "spiffe://lab/ann");
  EXPECT_EQ(CallerKey("", "ipv4:10.0.0.1:33012"), "ipv4:10.0.0.1");
  EXPECT_EQ(CallerKey("", "ipv6:%5B::1%5D:33012"), "ipv6:%5B::1%5D");
}

}  // namespace
}  // namespace tapedeck::services::session_stream
