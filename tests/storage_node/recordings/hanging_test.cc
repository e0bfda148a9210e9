// Threads that make room in a ring whose disk is slow, or whose room others take meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "storage_node/luns/config_files.h"
#include "storage_node/opening/reconcile.h"
#include "storage_node/recordings/retention.h"
#include "tests/storage_node/hanging_disk.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

// The LUN of a node that has stopped, with its recordings.
class StoppedLun {
 public:
  explicit StoppedLun(NodeFixture& fixture)
      : contents_({.state_dir = fixture.state_dir(),
                   .clock = std::make_shared<dataplane::SystemClock>(),
                   .random = [] { return std::random_device()(); },
                   .member_roots = {},
                   .standby_members = {}},
                  catalog::Catalog::Open(fixture.state_dir() + "/catalog.sqlite").value()) {
    const auto configs = luns::ReadLunFiles(fixture.state_dir()).value();
    EXPECT_TRUE(opening::OpenLunsAndReconcile(contents_.recordings, configs).ok());
    lun_ = contents_.luns.Find("l").value();
  }

  recording::Capacity& capacity() { return *lun_->capacity; }
  absl::Status MakeRoom(uint64_t bytes) {
    return recordings::MakeRoom(contents_.recordings, "l", *lun_, bytes);
  }
  std::set<std::string> Names() {
    std::set<std::string> names;
    const auto rows = contents_.recordings.catalog()->ListRecordings({.lun = "l", .channel = "c"});
    for (const auto& row : rows.value()) names.insert(row.name.ToString());
    return names;
  }

 private:
  node::NodeContents contents_;
  std::shared_ptr<luns::OpenLun> lun_;
};

TEST(HangingRingTest, GivesUpNoRecordingBesideAnOlderOneThatGoes) {
  NodeFixture fixture;
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) names.push_back(fixture.RecordAndSeal(2));
  const std::string oldest = fixture.Directory(names[0]);
  fixture.Stop();
  StoppedLun lun(fixture);
  // Each needs as much as one deletion gives.
  const uint64_t bytes = lun.capacity().limit() - lun.capacity().used() + 1;
  const auto make_room = [&] { return lun.MakeRoom(bytes); };
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
  EXPECT_EQ(lun.Names(), (std::set<std::string>{names[1], names[2]}));
}

TEST(RingRoomTest, TheOldestGoThoughOthersTakeTheRoomMeanwhile) {
  NodeFixture fixture;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back(fixture.RecordAndSeal(2));
  fixture.Stop();
  StoppedLun lun(fixture);
  recording::Capacity& capacity = lun.capacity();
  const uint64_t one = capacity.used() / names.size();
  capacity.SetLimit(capacity.used());
  std::atomic<bool> over = false;
  std::thread session([&] {
    while (!over) {
      if (capacity.Charge(one / 2)) capacity.Refund(one / 2);
    }
  });
  bool of_the_oldest = true;
  for (size_t i = 1; i < names.size() && of_the_oldest; ++i) {
    EXPECT_TRUE(lun.MakeRoom(i * one).ok());
    const std::set<std::string> left = lun.Names();
    const std::set<std::string> youngest(names.end() - static_cast<ptrdiff_t>(left.size()),
                                         names.end());
    of_the_oldest = left == youngest;
  }
  over = true;
  session.join();
  EXPECT_TRUE(of_the_oldest);
}

}  // namespace
}  // namespace tapedeck::storage_node
