// A thread that cannot be made is an answer, not the end of the process.
#include "dataplane/executor/thread.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dataplane/executor/event_loop.h"
#include "dataplane/reason.h"
#include "tests/no_threads.h"

namespace tapedeck::dataplane {
namespace {

std::string ReasonFor(const absl::Status& status) {
  return ReasonOf(status).value_or(ErrorReason()).reason;
}

TEST(StartThread, RunsUnderItsName) {
  std::string name(16, '\0');
  auto thread = StartThread("a-name-that-is-too-long",
                            [&] { pthread_getname_np(pthread_self(), name.data(), name.size()); });
  ASSERT_TRUE(thread.ok()) << thread.status();
  thread->join();
  EXPECT_EQ(name.substr(0, 2), "a-");
}

int Nice() { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); }

TEST(StartThread, HasNotTheLowPriorityOfWhoAsksForIt) {
  const int usual = Nice();
  int lowered = 0;
  int inherited = 0;
  int started = 0;
  auto low = StartThread("low", [&] {
    LowerPriority();
    lowered = Nice();
    std::thread([&] { inherited = Nice(); }).join();
    auto thread = StartThread("usual", [&] { started = Nice(); });
    ASSERT_TRUE(thread.ok()) << thread.status();
    thread->join();
  });
  ASSERT_TRUE(low.ok()) << low.status();
  low->join();
  EXPECT_GT(lowered, usual);
  EXPECT_EQ(inherited, lowered);
  EXPECT_EQ(started, usual);
}

TEST(StartThread, SaysThatThereIsNone) {
  {
    const NoThreads none;
    if (!none.works()) GTEST_SKIP() << "this user may not become another one";
    const absl::Status refused = StartThread("t", [] {}).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(ReasonFor(refused), "LIMIT_REACHED") << refused;
    EXPECT_EQ(ReasonFor(EventLoop::Create("loop").status()), "LIMIT_REACHED");
  }
  auto thread = StartThread("t", [] {});
  ASSERT_TRUE(thread.ok()) << "afterwards there are threads again: " << thread.status();
  thread->join();
}

}  // namespace
}  // namespace tapedeck::dataplane
