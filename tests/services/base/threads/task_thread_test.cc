#include "services/base/threads/task_thread.h"

#include <gtest/gtest.h>

#include <vector>

#include "absl/synchronization/notification.h"
#include "services/base/errors.h"
#include "tests/no_threads.h"

namespace tapedeck::services {
namespace {

TEST(TaskThreadTest, RunsAllThatWasGivenBeforeItStops) {
  std::vector<int> done;
  const auto thread = TaskThread::Create("test").value();
  for (int i = 0; i < 100; ++i) thread->Run([&done, i] { done.push_back(i); });
  thread->Stop();
  ASSERT_EQ(done.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[i], i);
  const auto late = std::make_shared<int>();
  thread->Run([late] { FAIL(); });
  EXPECT_EQ(late.use_count(), 1) << "destroyed at once";
}

TEST(TaskThreadTest, EndsAfterTheTaskUnderWayWhereTheQueueIsDropped) {
  const auto tasks = std::make_shared<TaskQueue>();
  auto thread = TaskThread::Create("test", tasks).value();
  absl::Notification begun, go;
  tasks->Post([&] {
    begun.Notify();
    go.WaitForNotification();
  });
  // As a slot does that goes back to its ring.
  tasks->Post([posts = std::shared_ptr<void>(
                   nullptr, [&](void*) { tasks->Post([] { FAIL(); }); })] { FAIL(); });
  begun.WaitForNotification();
  EXPECT_EQ(tasks->waiting(), 2u);
  tasks->Drop();
  EXPECT_EQ(tasks->waiting(), 1u);
  go.Notify();
  thread = nullptr;
  EXPECT_EQ(tasks->waiting(), 0u);
}

// E.g. a job is refused then, and the worker goes on.
TEST(TaskThreadTest, SaysThatThereIsNone) {
  const auto tasks = std::make_shared<TaskQueue>();
  bool ran = false;
  tasks->Post([&] { ran = true; });
  {
    const NoThreads none;
    if (!none.works()) GTEST_SKIP() << "this user may not become another one";
    const auto refused = TaskThread::Create("test", tasks);
    EXPECT_EQ(ReasonOf(refused.status()).value_or(ErrorReason()).reason, "LIMIT_REACHED");
  }
  TaskThread::Create("test", tasks).value()->Stop();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace tapedeck::services
