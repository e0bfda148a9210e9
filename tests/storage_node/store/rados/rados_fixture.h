// A rados LUN of one member on the cluster that TAPEDECK_CEPH_CONF names; without one the test is
// skipped.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage_node/store/host_ring.h"
#include "storage_node/store/rados/cluster.h"
#include "storage_node/store/rados/names.h"
#include "storage_node/store/rados/store.h"
#include "tests/storage_node/ceph_cluster.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::storage_node::store::rados {

// Two blocks of that size lie in one object.
inline constexpr uint64_t kLargeBlock = 8 << 20;
inline const RecordingPath kTestPath{.channel = "c", .recording = "r"};

class RadosFixture : public testing::Test {
 protected:
  explicit RadosFixture(bool erasure_coded = false) : erasure_coded_(erasure_coded) {}

  void SetUp() override {
    if (!UseCephCluster()) GTEST_SKIP() << kNoCephCluster;
    lun_ = {.name = "luns/l",
            .uid = "00112233-4455-4677-8899-aabbccddeeff",
            .store = "rados",
            .members = {MakeCephMember("unit", erasure_coded_)}};
    auto cluster = Cluster::Connect(lun_.members[0]);
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    beside_ = *std::move(cluster);
    auto store = Create(lun_, 0);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  std::unique_ptr<RecordingFiles> CreateFiles(Store& store) {
    auto files = store.Open(kTestPath, ToCreate(kLargeBlock), executor_);
    EXPECT_TRUE(files.ok()) << files.status();
    return *std::move(files);
  }

  template <typename Result, typename Start>
  Result Wait(Start start) {
    std::optional<Result> result;
    start([&](Result r) { result.emplace(std::move(r)); });
    EXPECT_TRUE(executor_.RunUntil([&] { return result.has_value(); }));
    return *std::move(result);
  }

  // Block `number`, all of whose bytes are `value`.
  absl::Status Write(RecordingFiles& files, uint64_t number, uint8_t value) {
    dataplane::Block block = *ring_->Take();
    std::memset(block.memory().data(), value, kLargeBlock);
    block.header().payload_bytes = kLargeBlock;
    std::optional<absl::Status> status;
    files.WriteBlock({.offset = number * kLargeBlock}, std::move(block),
                     [&](absl::Status s, dataplane::Block) { status = s; });
    EXPECT_TRUE(executor_.RunUntil([&] { return status.has_value(); }));
    return *status;
  }

  absl::StatusOr<dataplane::Block> Read(RecordingFiles& files, uint64_t number) {
    return Wait<absl::StatusOr<dataplane::Block>>([&](auto done) {
      EXPECT_TRUE(
          files.ReadBlock({.offset = number * kLargeBlock}, kLargeBlock, *ring_, std::move(done)));
    });
  }

  absl::Status WriteManifest(RecordingFiles& files, const std::string& text) {
    return Wait<absl::Status>([&](auto done) { files.WriteManifest(text, std::move(done)); });
  }

  // Of the LUN's objects, as the pool lists them.
  std::vector<std::string> Objects() { return ObjectsIn(beside_->objects()); }

  static std::vector<std::string> ObjectsIn(librados::IoCtx& pool) {
    std::vector<std::string> names;
    for (auto it = pool.nobjects_begin(); it != pool.nobjects_end(); ++it) {
      names.push_back(it->get_oid());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // As an operator could, or the end of its lease.
  void BreakLock() {
    int exclusive = 0;
    std::string tag;
    std::list<librados::locker_t> lockers;
    ASSERT_EQ(beside_->objects().list_lockers(kLunObject, "tapedeck", &exclusive, &tag, &lockers),
              1);
    ASSERT_EQ(beside_->objects().break_lock(kLunObject, "tapedeck", lockers.front().client,
                                            lockers.front().cookie),
              0);
  }

  const bool erasure_coded_;
  ManualExecutor executor_;
  services::Lun lun_;
  std::unique_ptr<Cluster> beside_;  // another client
  std::unique_ptr<Store> store_;
  std::shared_ptr<dataplane::SlotPool> ring_ =
      *MakeHostRing({.slots = 4, .slot_bytes = kLargeBlock}, {});
};

}  // namespace tapedeck::storage_node::store::rados
