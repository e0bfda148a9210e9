#include "storage_node/luns/lun_queue.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "absl/synchronization/notification.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/executor/waiting.h"
#include "storage_node/disk/durable_file.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

TEST(LunQueueTest, DoesOneThingAfterTheOtherAndAllBeforeItGoes) {
  std::vector<int> done;
  {
    luns::LunQueue queue("l");
    for (int i = 0; i < 100; ++i) queue.Run([&done, i] { done.push_back(i); });
  }
  ASSERT_EQ(done.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[i], i);
}

TEST(LunQueueTest, RefusesStrangersWhileADiskHangs) {
  luns::LunQueue queue("l");
  absl::Notification thawed;
  queue.Run([&] { thawed.WaitForNotification(); });
  absl::Status status;
  int accepted = 0;
  for (; status.ok() && accepted < 1000; accepted += status.ok()) status = queue.TryRun([] {});
  EXPECT_EQ(Reason(status), "LIMIT_REACHED");
  EXPECT_GE(accepted, 63);  // the first may not have begun
  queue.Run([] {});         // what sessions that are there need is not refused
  thawed.Notify();
}

TEST(LunQueueTest, OneLunDoesNotWaitForAnother) {
  luns::LunQueues queues;
  absl::Notification thawed, done;
  queues.Of("frozen")->Run([&] { thawed.WaitForNotification(); });
  queues.Of("good")->Run([&] { done.Notify(); });
  EXPECT_TRUE(dataplane::AwaitFor(done, absl::Seconds(20)));
  EXPECT_EQ(queues.Busy().count("frozen"), 1u);
  thawed.Notify();
}

TEST(WaitingDeathTest, AThreadThatCarriesSessionsMustNotReadAFile) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("TAPEDECK_WAITING", "abort", 1);
  EXPECT_DEATH(
      {
        const dataplane::NoWaiting no_waiting;
        disk::ReadFile("/etc/hostname", 4096, "/etc").IgnoreError();
      },
      "a thread that carries sessions must not wait");
}

TEST(WaitingDeathTest, NorAskTheCatalog) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("TAPEDECK_WAITING", "abort", 1);
  EXPECT_DEATH(
      {
        NodeFixture node;
        const dataplane::NoWaiting no_waiting;
        node.node().recordings().ListRecordings("luns/-/channels/-").IgnoreError();
      },
      "a thread that carries sessions must not wait");
}

}  // namespace
}  // namespace tapedeck::storage_node
