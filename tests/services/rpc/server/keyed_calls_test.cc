#include "services/rpc/server/keyed_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/now.h"
#include "services/base/errors.h"

namespace tapedeck::services::server {
namespace {

constexpr absl::Duration kLong = absl::Seconds(20);

std::string WhyRefused(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() ? reason->reason : "accepted";
}

TEST(KeyedCallsTest, CallsOfOneKeyWaitForEachOtherAndForNobodyElse) {
  absl::Notification thawed, second, other;
  KeyedCalls calls("call", "calls for LUNs", 64);
  ASSERT_TRUE(calls.TryRun("luns/frozen", [&] { thawed.WaitForNotification(); }).ok());
  ASSERT_TRUE(calls.TryRun("luns/frozen", [&] { second.Notify(); }).ok());
  ASSERT_TRUE(calls.TryRun("luns/good", [&] { other.Notify(); }).ok());
  EXPECT_TRUE(dataplane::AwaitFor(other, kLong));
  EXPECT_FALSE(second.HasBeenNotified());
  thawed.Notify();
  EXPECT_TRUE(dataplane::AwaitFor(second, kLong));
}

TEST(KeyedCallsTest, ALimitForEachKeyAndForKeys) {
  absl::Notification thawed;
  std::atomic<int> ran = 0;
  int accepted = 0;
  {
    KeyedCalls calls("call", "calls for LUNs", 64);
    const auto wait = [&] {
      thawed.WaitForNotification();
      ++ran;
    };
    absl::Status status;
    for (int i = 0; status.ok() && i < 1000; ++i, accepted += status.ok()) {
      status = calls.TryRun("luns/frozen", wait);
    }
    EXPECT_EQ(WhyRefused(status), "LIMIT_REACHED");
    status = absl::OkStatus();
    for (int i = 0; status.ok() && i < 1000; ++i, accepted += status.ok()) {
      status = calls.TryRun(absl::StrCat("luns/", i), wait);
    }
    EXPECT_EQ(WhyRefused(status), "LIMIT_REACHED");
    thawed.Notify();
  }
  EXPECT_EQ(ran, accepted);
}

TEST(KeyedCallsTest, ACallerMayHaveSoManyWaiting) {
  absl::Notification thawed;
  {
    KeyedCalls calls("view", "views", 2, {.of_a_caller = 3});
    const auto wait = [&] { thawed.WaitForNotification(); };
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(calls.TryRun("luns/a", wait, "ann").ok());
    EXPECT_EQ(WhyRefused(calls.TryRun("luns/b", wait, "ann")), "LIMIT_REACHED");
    EXPECT_TRUE(calls.TryRun("luns/b", wait, "bob").ok());
    thawed.Notify();
  }
  // Those that have ended do not count.
  KeyedCalls calls("view", "views", 2, {.of_a_caller = 1});
  for (int i = 0; i < 3; ++i) {
    absl::Status taken = absl::InternalError("");
    const absl::Time until = dataplane::SteadyTime() + kLong;
    while (!taken.ok() && dataplane::SteadyTime() < until)
      taken = calls.TryRun(
          "luns/a", [] {}, "ann");
    EXPECT_TRUE(taken.ok()) << taken;
  }
}

TEST(KeyedCallsTest, ALimitForAllTogether) {
  absl::Notification thawed;
  int accepted = 0;
  KeyedCalls calls("call", "calls for LUNs", 64);
  for (int key = 0; key < 32; ++key) {
    for (int i = 0; i < 32; ++i) {
      const absl::Status status =
          calls.TryRun(absl::StrCat("luns/", key), [&] { thawed.WaitForNotification(); });
      accepted += status.ok() ? 1 : 0;
    }
  }
  EXPECT_GE(accepted, 256);
  EXPECT_LE(accepted, 256 + 32) << "each key may have one that runs";
  thawed.Notify();
}

}  // namespace
}  // namespace tapedeck::services::server
