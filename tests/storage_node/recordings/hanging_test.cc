// Two threads that make room in a ring whose disk is slow.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "storage_node/luns/config_files.h"
#include "storage_node/opening/reconcile.h"
#include "storage_node/recordings/retention.h"
#include "tests/storage_node/hanging_disk.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

TEST(HangingRingTest, GivesUpNoRecordingBesideAnOlderOneThatGoes) {
  NodeFixture fixture;
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) names.push_back(fixture.RecordAndSeal(2));
  const std::string oldest = fixture.Directory(names[0]);
  fixture.Stop();
  node::Kept kept({.state_dir = fixture.state_dir(),
                   .clock = std::make_shared<dataplane::SystemClock>(),
                   .random = [] { return std::random_device()(); },
                   .member_roots = {},
                   .standby_members = {}},
                  catalog::Catalog::Open(fixture.state_dir() + "/catalog.sqlite").value());
  const auto configs = luns::ReadLunFiles(fixture.state_dir()).value();
  ASSERT_TRUE(opening::OpenLunsAndReconcile(kept.recordings, configs).ok());
  const auto lun = kept.luns.Find("l").value();
  // Each needs as much as one deletion gives.
  const uint64_t bytes = lun->capacity->limit() - lun->capacity->used() + 1;
  const auto make_room = [&] { return recordings::MakeRoom(kept.recordings, "l", *lun, bytes); };
  std::future<absl::Status> first, second;
  {
    const HangingDisk disk(oldest);
    first = std::async(std::launch::async, make_room);
    EXPECT_TRUE(fixture.executor().RunUntil([] { return HangingDisk::calls() == 1; }));
    second = std::async(std::launch::async, make_room);
    second.wait_for(std::chrono::milliseconds(300));
  }
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.get().ok());
  std::set<std::string> left;
  const auto rows = kept.recordings.catalog()->ListRecordings({.lun = "l", .channel = "c"});
  for (const auto& row : rows.value()) {
    left.insert(row.name.ToString());
  }
  EXPECT_EQ(left, (std::set<std::string>{names[1], names[2]}));
}

}  // namespace
}  // namespace tapedeck::storage_node
