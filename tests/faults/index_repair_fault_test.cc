// The repair of an index copy meets a failing disk, or the end of the power, at each of its
// operations: nothing that was there is lost, what it calls repaired is on the disk, and the rest
// is repaired the next time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "storage_node/repair/index_repair.h"
#include "tests/bytes.h"
#include "tests/faults/fail_at.h"
#include "tests/faults/recorded.h"
#include "tests/sim/disks/fault_store.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::faults {
namespace {

using namespace storage_node;  // NOLINT: the names under test

constexpr uint64_t kIndexedBlocks = 40;
constexpr uint8_t kRecording = 1;

enum class Damage { kPages, kGone };

class IndexRepairFault : public testing::Test {
 protected:
  IndexRepairFault() {
    manifest_ = Record(disk_, kRecording, kIndexedBlocks, 2);
    sound_ = Indexes();
  }

  void Plant(Damage damage) {
    if (damage == Damage::kGone) return Files().index[1].Remove();
    const format::EntryFormat entries = manifest_.entries();
    Flip(1, 9);
    // The page that is used, or both.
    for (const uint64_t page : {4096, 8192}) {
      if (sound_[0][page] != std::byte{0}) Flip(0, page + 24);
    }
    for (uint64_t i = 0; i < 6; ++i) Flip(i % 2, entries.Offset(i) + 20);
    const sim::Bytes zeros(10 * entries.entry_bytes);
    Files().index[1].Overwrite(entries.Offset(20), zeros);
  }

  sim::DiskRecording& Files() { return FilesOf(disk_, kRecording); }
  std::vector<sim::Bytes> Indexes() {
    std::vector<sim::Bytes> bytes;
    for (const sim::DiskFile& file : Files().index) bytes.push_back(file.bytes());
    return bytes;
  }
  void Flip(uint32_t copy, uint64_t offset) {
    const auto byte = Files().index[copy].bytes()[offset] ^ std::byte{0x10};
    Files().index[copy].Overwrite(offset, {&byte, 1});
  }

  std::vector<repair::CopyDamage> Repair() {
    std::vector<repair::CopyDamage> found;
    const ManualClock clock;
    absl::Mutex writing;
    const auto store = sim::MakeFaultStore(disk_, 2);
    const absl::Status status = repair::RepairIndex(
        *store, {.channel = "c", .recording = manifest_.id}, manifest_, 0, clock, writing,
        [&](const repair::RepairProgress& progress) {
          found.insert(found.end(), progress.damaged.begin(), progress.damaged.end());
          return true;
        });
    EXPECT_TRUE(status.ok()) << status;
    return found;
  }

  // On a sound disk: no block has lost its entry, and what is bad still can be mended.
  void ExpectNothingLost() {
    for (const auto& [sequence, block] : Verify(disk_, manifest_)) {
      EXPECT_EQ(block.kind, services::DamageKind::kHeader) << sequence << ": " << block.detail;
    }
    for (const repair::CopyDamage& damage : Repair())
      EXPECT_TRUE(damage.repaired) << damage.block.detail;
    EXPECT_TRUE(Indexes() == sound_);
    EXPECT_EQ(Play(disk_, manifest_).size(), kIndexedBlocks);
  }

  // The entries that it calls repaired are.
  void ExpectTrue(const std::vector<repair::CopyDamage>& found) {
    const auto now = Indexes();
    const format::EntryFormat entries = manifest_.entries();
    for (const repair::CopyDamage& damage : found) {
      if (!damage.repaired || damage.block.kind != services::DamageKind::kIndex) continue;
      const size_t copy = absl::StrContains(damage.block.detail, "; copy 1: rewritten") ? 1 : 0;
      const uint64_t at = entries.Offset(damage.block.sequence);
      EXPECT_TRUE(SameBytes(std::span(now[copy]).subspan(at, entries.entry_bytes),
                            std::span(sound_[copy]).subspan(at, entries.entry_bytes)))
          << damage.block.detail;
    }
  }

  sim::FaultDisk disk_;
  format::Manifest manifest_;
  std::vector<sim::Bytes> sound_;
};

class EachOperation : public IndexRepairFault,
                      public testing::WithParamInterface<std::tuple<Damage, Failure>> {};

TEST_P(EachOperation, Fails) {
  const auto [planted, failure] = GetParam();
  Plant(planted);
  const sim::FaultDisk damaged = disk_;
  uint64_t left = 0;
  for (uint64_t n = 1;; ++n) {
    disk_ = damaged;
    const uint64_t first = disk_.operations + n;
    FailAt(disk_, n, failure);
    const auto found = Repair();
    const bool met = disk_.operations >= first;
    disk_.fault = nullptr;
    for (const repair::CopyDamage& damage : found) {
      if (damage.repaired) continue;
      ++left;
      EXPECT_THAT(damage.block.detail, testing::HasSubstr("member "));
    }
    disk_.CutPower(n);
    ExpectTrue(found);
    ExpectNothingLost();
    ASSERT_FALSE(HasFailure()) << "operation " << n;
    if (!met) break;
  }
  EXPECT_GT(left, 0u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachOperation,
                         testing::Combine(testing::Values(Damage::kPages, Damage::kGone),
                                          testing::Values(Failure::kErrorOnce,
                                                          Failure::kErrorForEver,
                                                          Failure::kFullForEver)));

class PowerEnds : public IndexRepairFault, public testing::WithParamInterface<Damage> {};

TEST_P(PowerEnds, AtEachOperation) {
  Plant(GetParam());
  const sim::FaultDisk damaged = disk_;
  for (uint64_t n = 0;; ++n) {
    bool reached = false;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      disk_ = damaged;
      disk_.operations_left = n;
      const auto found = Repair();
      reached = disk_.operations_left == 0;
      disk_.CutPower(seed);
      ExpectTrue(found);
      ExpectNothingLost();
      ASSERT_FALSE(HasFailure()) << "operation " << n << ", seed " << seed;
    }
    if (!reached) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, PowerEnds, testing::Values(Damage::kPages, Damage::kGone));

}  // namespace
}  // namespace tapedeck::faults
