// The repair of a manifest copy meets a failing disk, or the end of the power, at each of its
// operations: the sound copy stays, and what it calls repaired is on the disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "storage_node/recording/recovery/recovery.h"
#include "storage_node/repair/manifest_repair.h"
#include "tests/faults/fail_at.h"
#include "tests/faults/recorded.h"
#include "tests/sim/disks/fault_store.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::faults {
namespace {

using namespace storage_node;  // NOLINT: the names under test

constexpr uint64_t kSealedBlocks = 5;
constexpr uint8_t kSealedRecording = 1;

// By the copy that is damaged.
class ManifestRepairFault : public testing::TestWithParam<uint32_t> {
 protected:
  ManifestRepairFault() {
    manifest_ = Record(disk_, kSealedRecording, kSealedBlocks, 2);
    sound_ = Copies()[0];
    Copies()[GetParam()].clear();
    damaged_ = disk_;
  }

  std::vector<std::string>& Copies() { return FilesOf(disk_, kSealedRecording).manifest; }

  absl::StatusOr<repair::RepairProgress> Repair() {
    const auto store = sim::MakeFaultStore(disk_, 2);
    return repair::RepairManifest(*store, {.channel = "c", .recording = manifest_.id}, manifest_,
                                  ManualClock());
  }
  // Whether it met the `n`th operation, which fails so.
  bool RepairFailing(uint64_t n, Failure failure) {
    disk_ = damaged_;
    const uint64_t first = disk_.operations + n;
    FailAt(disk_, n, failure);
    found_ = Repair();
    disk_.fault = nullptr;
    return disk_.operations >= first;
  }

  // After the power was off and on again.
  void ExpectNothingLost() {
    ASSERT_TRUE(found_.ok()) << found_.status();
    EXPECT_EQ(Copies()[1 - GetParam()], sound_);
    for (const repair::CopyDamage& damage : found_->damaged) {
      EXPECT_EQ(damage.block.kind, services::DamageKind::kManifest);
      if (!damage.repaired) continue;
      EXPECT_TRUE(
          absl::StrContains(damage.block.detail, absl::StrCat("copy ", GetParam(), ": rewritten")))
          << damage.block.detail;
      EXPECT_EQ(Copies()[GetParam()], sound_);
    }
    const auto loaded = recording::LoadManifest(
        *sim::MakeFaultStore(disk_, 2), {.channel = "c", .recording = manifest_.id}, ManualClock());
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(format::EncodeManifest(*loaded), sound_);
    const auto again = Repair();
    ASSERT_TRUE(again.ok()) << again.status();
    for (const repair::CopyDamage& damage : again->damaged) EXPECT_TRUE(damage.repaired);
    EXPECT_EQ(Copies()[0], sound_);
    EXPECT_EQ(Copies()[1], sound_);
    EXPECT_EQ(Play(disk_, manifest_).size(), kSealedBlocks);
  }

  sim::FaultDisk disk_;
  sim::FaultDisk damaged_;
  format::Manifest manifest_;
  std::string sound_;
  absl::StatusOr<repair::RepairProgress> found_;
};

TEST_P(ManifestRepairFault, EachOperationFails) {
  uint64_t left = 0;
  for (const Failure failure :
       {Failure::kErrorOnce, Failure::kErrorForEver, Failure::kFullForEver}) {
    for (uint64_t n = 1; RepairFailing(n, failure); ++n) {
      for (const repair::CopyDamage& damage : found_->damaged) left += damage.repaired ? 0 : 1;
      disk_.CutPower(n);
      ExpectNothingLost();
      ASSERT_FALSE(HasFailure()) << "operation " << n << ", failure " << static_cast<int>(failure);
    }
  }
  EXPECT_GT(left, 0u);
}

TEST_P(ManifestRepairFault, PowerEndsAtEachOperation) {
  for (uint64_t n = 0, reached = 1; reached > 0; ++n) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      disk_ = damaged_;
      disk_.operations_left = n;
      found_ = Repair();
      reached = disk_.operations_left == 0 ? 1 : 0;
      disk_.CutPower(seed);
      ExpectNothingLost();
      ASSERT_FALSE(HasFailure()) << "operation " << n << ", seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Copies, ManifestRepairFault, testing::Values(0u, 1u));

}  // namespace
}  // namespace tapedeck::faults
