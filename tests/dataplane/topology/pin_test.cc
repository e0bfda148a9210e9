#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "dataplane/topology/topology.h"

namespace tapedeck::dataplane::topology {
namespace {

std::vector<int> AllowedCpus() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// On a thread of its own, which the test may bind.
void OnThread(const std::function<void()>& run) { std::thread(run).join(); }

TEST(PinThisThread, NarrowsAndNeverWidens) {
  OnThread([] {
    const std::vector<int> before = AllowedCpus();
    const int one = before.back();
    ASSERT_TRUE(PinThisThread({one, CPU_SETSIZE - 1, CPU_SETSIZE + 5}).ok());
    EXPECT_EQ(AllowedCpus(), std::vector<int>{one});
    ASSERT_TRUE(PinThisThread(before).ok());
    EXPECT_EQ(AllowedCpus(), std::vector<int>{one});
  });
}

TEST(PinThisThread, LeavesAThreadThatMayUseNoneOfThem) {
  OnThread([] {
    const std::vector<int> before = AllowedCpus();
    EXPECT_EQ(PinThisThread({CPU_SETSIZE + 5}).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(PinThisThread({}).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(AllowedCpus(), before);
  });
}

}  // namespace
}  // namespace tapedeck::dataplane::topology
