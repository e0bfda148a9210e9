#include "dataplane/executor/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "dataplane/transport/rail_set.h"

namespace tapedeck::dataplane {
namespace {

namespace fs = std::filesystem;

// What the kernel shows of control groups.
class Quota : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(mount_); }
  void TearDown() override { fs::remove_all(mount_); }

  void Write(const std::string& file, const std::string& text) {
    fs::create_directories((mount_ / file).parent_path());
    std::ofstream(mount_ / file) << text;
  }
  double Of(const std::string& memberships) { return QuotaOf(memberships, mount_); }

  const fs::path mount_ = fs::path(testing::TempDir()) / "processors_test";
};

TEST_F(Quota, IsTheLeastOfAGroupAndThoseAboveIt) {
  Write("cpu.max", "max 100000\n");
  Write("pod/cpu.max", "150000 100000\n");
  Write("pod/worker/cpu.max", "400000 100000\n");
  EXPECT_EQ(Of("0::/pod/worker\n"), 1.5);
  EXPECT_EQ(Of("0::/pod\n"), 1.5);
  EXPECT_EQ(Of("0::/other\n"), 0) << "none";
}

TEST_F(Quota, OfAContainerIsWhatItSeesMounted) {
  Write("cpu.max", "50000 100000\n");
  EXPECT_EQ(Of("0::/\n"), 0.5);
  EXPECT_EQ(Of("0::/system.slice/docker-1234.scope\n"), 0.5);
}

TEST_F(Quota, IsFoundInTheFirstVersionAsWell) {
  Write("cpu,cpuacct/pod/cpu.cfs_quota_us", "200000\n");
  Write("cpu,cpuacct/pod/cpu.cfs_period_us", "100000\n");
  Write("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  Write("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  Write("cpuset/pod/cpu.cfs_quota_us", "1\n");
  Write("cpuset/pod/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Of("4:cpuset:/pod\n3:cpu,cpuacct:/pod\n0::/pod\n"), 2);
  EXPECT_EQ(Of("3:cpu,cpuacct:/\n"), 0) << "-1 is none";
}

TEST_F(Quota, OfTextThatIsNoneIsNone) {
  Write("cpu.max", "many of them\n");
  for (const char* memberships : {"", "\n", "0", "0:", "0::/\n", "cpu:/pod\n"}) {
    EXPECT_EQ(Of(memberships), 0) << memberships;
  }
}

TEST(UsableProcessors, OfAFractionNoThreadCanRunAllTheTime) {
  EXPECT_EQ(UsableProcessors{.count = 0.5}.threads(), 1u);
  EXPECT_EQ(UsableProcessors{.count = 1.9}.threads(), 1u);
  EXPECT_EQ(UsableProcessors{.count = 16}.threads(), 16u);
}

TEST(UsableProcessors, SayWhereTheirNumberComesFrom) {
  EXPECT_EQ(TextOf({.count = 2}), "2 (machine)");
  EXPECT_EQ(TextOf({.count = 1, .limit = ProcessorLimit::kAffinity}), "1 (affinity)");
  EXPECT_EQ(TextOf({.count = 1.5, .limit = ProcessorLimit::kQuota}), "1.5 (quota)");
}

// On one of several processors there is one poller for a rail, as more would only take turns.
TEST(UsableProcessors, AreThoseOfTheAffinity) {
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_LE(FindUsableProcessors().count, 1);
    const auto rails = RailSet::Create({"r0=tcp:127.0.0.1"}, {});
    ASSERT_TRUE(rails.ok()) << rails.status();
    EXPECT_EQ((*rails)->transports()[0]->pollers().size(), 1u);
  }).join();
}

}  // namespace
}  // namespace tapedeck::dataplane
