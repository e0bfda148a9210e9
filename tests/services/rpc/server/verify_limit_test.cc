// Verifications have a bound, and calls are answered where no thread can be made.
#include <grpcpp/channel.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "dataplane/now.h"
#include "services/base/errors.h"
#include "services/rpc/client/catalog_client.h"
#include "tests/no_threads.h"
#include "tests/services/loopback_node.h"

namespace tapedeck::services::server {
namespace {

constexpr absl::Duration kCallLimit = absl::Seconds(20);
constexpr int kMostVerifications = 8;
const char kBusyRecording[] = "luns/l0/channels/c0/recordings/r";

std::string ReasonFor(const absl::Status& status) {
  return ReasonOf(status).value_or(ErrorReason()).reason;
}

class VerifyLimitTest : public ::testing::Test {
 protected:
  VerifyLimitTest() { node_.catalog.AddRecording("r", 1); }
  absl::Status Verify() {
    return catalog_.VerifyRecording(kBusyRecording, kCallLimit, [](const VerifyProgress&) {});
  }

  LoopbackNode node_;
  client::CatalogClient catalog_{node_.channel, kCallLimit};
};

TEST_F(VerifyLimitTest, TheNinthIsRefusedUntilOneEnds) {
  node_.catalog.HoldVerifications(true);
  std::vector<std::thread> callers;
  for (int i = 0; i < kMostVerifications; ++i) {
    callers.emplace_back([&] { EXPECT_TRUE(Verify().ok()); });
  }
  for (int i = 0; i < 1000 && node_.catalog.verifying() < kMostVerifications; ++i) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  ASSERT_EQ(node_.catalog.verifying(), kMostVerifications);
  const absl::Status refused = Verify();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonFor(refused), "LIMIT_REACHED") << refused;
  EXPECT_TRUE(catalog_.GetRecording(kBusyRecording).ok()) << "other calls go on";
  node_.catalog.HoldVerifications(false);
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(Verify().ok());
}

TEST_F(VerifyLimitTest, WithoutThreadsCallsAreRefusedAndNothingEnds) {
  ASSERT_TRUE(node_.channel.channel->WaitForConnected(
      absl::ToChronoTime(dataplane::WallTime() + kCallLimit)));
  {
    const NoThreads none;
    if (!none.works()) GTEST_SKIP() << "this user may not become another one";
    EXPECT_EQ(ReasonFor(Verify()), "LIMIT_REACHED");
    EXPECT_EQ(ReasonFor(catalog_.ListLuns().status()), "LIMIT_REACHED");
  }
  EXPECT_TRUE(Verify().ok());
  EXPECT_TRUE(catalog_.ListLuns().ok());
}

}  // namespace
}  // namespace tapedeck::services::server
