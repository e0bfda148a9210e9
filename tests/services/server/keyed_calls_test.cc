#include "services/server/keyed_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "services/errors.h"

namespace tapedeck::services::server {
namespace {

constexpr absl::Duration kLong = absl::Seconds(20);

std::string WhyRefused(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() ? reason->reason : "accepted";
}

TEST(KeyedCallsTest, CallsOfOneKeyWaitForEachOtherAndForNobodyElse) {
  absl::Notification thawed, second, other;
  KeyedCalls calls;
  ASSERT_TRUE(calls.TryRun("luns/frozen", [&] { thawed.WaitForNotification(); }).ok());
  ASSERT_TRUE(calls.TryRun("luns/frozen", [&] { second.Notify(); }).ok());
  ASSERT_TRUE(calls.TryRun("luns/good", [&] { other.Notify(); }).ok());
  EXPECT_TRUE(other.WaitForNotificationWithTimeout(kLong));
  EXPECT_FALSE(second.HasBeenNotified());
  thawed.Notify();
  EXPECT_TRUE(second.WaitForNotificationWithTimeout(kLong));
}

TEST(KeyedCallsTest, ALimitForEachKeyAndForKeys) {
  absl::Notification thawed;
  std::atomic<int> ran = 0;
  int accepted = 0;
  {
    KeyedCalls calls;
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

TEST(KeyedCallsTest, ALimitForAllTogether) {
  absl::Notification thawed;
  int accepted = 0;
  KeyedCalls calls;
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
