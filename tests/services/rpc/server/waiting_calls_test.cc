// Calls that wait for another machine hold up nothing else, and there is a bound to them.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "services/base/errors.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/client/jobs_client.h"
#include "services/rpc/limits.h"
#include "tests/services/loopback_node.h"

namespace tapedeck::services::server {
namespace {

TEST(WaitingCallsTest, StartsHaveThreadsOfTheirOwn) {
  LoopbackNode node;
  client::JobsClient jobs(node.channel, absl::Seconds(20));
  const RecordSpec mute{.transfer = {.storage = "s:1", .target = "luns/l0/channels/mute"},
                        .source = {"synth"},
                        .blocks = 1};
  std::vector<std::thread> callers;
  for (int i = 0; i < 16; ++i) {
    callers.emplace_back([&] { EXPECT_TRUE(jobs.StartRecord(mute).ok()); });
  }
  for (int i = 0; i < 1000 && node.jobs.waiting() < 16; ++i) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_EQ(node.jobs.waiting(), 16);
  EXPECT_TRUE(jobs.ListJobs().ok());
  const absl::Status refused = jobs.StartRecord(mute).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(refused)->reason, "LIMIT_REACHED");
  node.jobs.LetGo();
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(jobs.StartRecord(mute).ok());
}

// Whole requests: the names are refused only once they are there.
TEST(WaitingCallsTest, ARequestIsBounded) {
  LoopbackNode node;
  client::CatalogClient catalog(node.channel, absl::Seconds(20));
  const absl::Status fits = catalog.GetRecording("luns/" + std::string(200 << 10, 'x')).status();
  EXPECT_EQ(fits.code(), absl::StatusCode::kInvalidArgument) << fits;
  const absl::Status refused = catalog.GetRecording("luns/" + std::string(300 << 10, 'x')).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
}

}  // namespace
}  // namespace tapedeck::services::server
