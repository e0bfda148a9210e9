// The bytes of a device store and its free map.
#include "storage_node/store/device/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "storage_node/store/device/space.h"

namespace tapedeck::storage_node::store::device {
namespace {

format::Uuid SomeUuid(uint64_t seed) {
  return format::Uuid::Make([&seed] { return seed++; });
}

constexpr uint32_t kTestUnits = 100;  // of the device

SlotRecord SomeRecord() {
  return {.generation = 6,
          .live = true,
          .path = {.channel = "adsb", .recording = "20261120T235144Z-3f2a"},
          .data = {{.first = 7, .count = 16}, {.first = 99, .count = 1}},
          .index = {{.first = 3, .count = 1}},
          .data_bytes = 12345,
          .index_bytes = 678,
          .manifest = std::string(5000, 'm')};
}

TEST(BlockLayout, SuperblockComesBackAndEveryFlippedBitIsFound) {
  const Superblock superblock{
      .lun = SomeUuid(1), .stamp = SomeUuid(9), .member = 2, .slots = 64, .device_bytes = 1 << 30};
  Pages page = EncodeSuperblock(superblock);
  const auto back = DecodeSuperblock(page.bytes());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->lun, superblock.lun);
  EXPECT_EQ(back->stamp, superblock.stamp);
  EXPECT_EQ(back->member, 2u);
  EXPECT_EQ(back->slots, 64u);
  EXPECT_EQ(back->device_bytes, uint64_t{1} << 30);
  for (size_t bit = 0; bit < 8 * kPageBytes; ++bit) {
    page.bytes()[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_FALSE(DecodeSuperblock(page.bytes()).ok()) << bit;
    page.bytes()[bit / 8] ^= std::byte{1} << bit % 8;
  }
}

TEST(BlockLayout, UnitsLieBetweenTheTableAndTheSecondSuperblock) {
  for (const uint64_t bytes : {kMinDeviceBytes, uint64_t{1} << 30, (uint64_t{1} << 42) + 4096}) {
    const Superblock superblock{.slots = Superblock::SlotsFor(bytes), .device_bytes = bytes};
    EXPECT_GE(superblock.units_offset(),
              superblock.SlotOffset(superblock.slots - 1, 1) + kSlotBytes);
    EXPECT_LE(superblock.UnitOffset(superblock.units()), bytes - kTailBytes);
    EXPECT_GT(superblock.UnitOffset(superblock.units() + 1), bytes - kTailBytes);
    EXPECT_GE(superblock.units(), 10u);
  }
}

TEST(BlockLayout, SlotVouchesForItsPlaceOnly) {
  const SlotPlace place{.stamp = SomeUuid(5), .slot = 4, .copy = 1};
  const auto pages = EncodeSlot(SomeRecord(), place);
  ASSERT_TRUE(pages.ok()) << pages.status();
  const auto back = DecodeSlot(pages->bytes(), place, kTestUnits);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, SomeRecord());
  EXPECT_FALSE(
      DecodeSlot(pages->bytes(), {.stamp = place.stamp, .slot = 5, .copy = 1}, kTestUnits).ok());
  EXPECT_FALSE(
      DecodeSlot(pages->bytes(), {.stamp = place.stamp, .slot = 4, .copy = 0}, kTestUnits).ok());
  EXPECT_FALSE(
      DecodeSlot(pages->bytes(), {.stamp = SomeUuid(6), .slot = 4, .copy = 1}, kTestUnits).ok());
}

// A stranger's device: check values that fit, and units that are another's.
TEST(BlockLayout, SlotsThatNoRecordingHasAreRefused) {
  const SlotPlace place{.stamp = SomeUuid(5), .slot = 4, .copy = 1};
  const auto refused = [&](const std::function<void(SlotRecord*)>& change) {
    SlotRecord record = SomeRecord();
    change(&record);
    return absl::IsDataLoss(
        DecodeSlot(EncodeSlot(record, place)->bytes(), place, kTestUnits).status());
  };
  EXPECT_FALSE(refused([](SlotRecord*) {}));
  EXPECT_TRUE(refused([](SlotRecord* r) { r->data[0].count = 0; }));
  EXPECT_TRUE(refused([](SlotRecord* r) { r->data[1].first = kTestUnits; }));
  EXPECT_TRUE(refused([](SlotRecord* r) { r->index[0].count = kTestUnits; }));
  // Joined, their counts would add up to one unit.
  EXPECT_TRUE(refused([](SlotRecord* r) {
    r->data = {{.first = 5, .count = UINT32_MAX}, {.first = 4, .count = 2}};
  }));
  EXPECT_TRUE(refused([](SlotRecord* r) { r->data_bytes = 17 * kUnitBytes + 1; }));
  EXPECT_TRUE(refused([](SlotRecord* r) { r->data.clear(); }));
  EXPECT_TRUE(refused([](SlotRecord* r) { r->index.clear(); }));
  EXPECT_TRUE(refused([](SlotRecord* r) { r->index_bytes = UINT64_MAX; }));
  EXPECT_TRUE(refused([](SlotRecord* r) { r->path.channel = "../c"; }));
  EXPECT_TRUE(refused([](SlotRecord* r) { r->path.recording = ""; }));
  EXPECT_TRUE(refused([](SlotRecord* r) { r->generation = UINT64_MAX; }));
}

TEST(BlockLayout, SlotThatGrowsWhileItIsReadIsDamaged) {
  const SlotPlace place{.stamp = SomeUuid(5), .slot = 4, .copy = 1};
  const auto pages = EncodeSlot(SomeRecord(), place);
  EXPECT_FALSE(DecodeSlot(pages->bytes().first(kPageBytes), place, kTestUnits).ok());
}

TEST(BlockLayout, SuperblocksThatNoLunHasAreRefused) {
  const Superblock good{.member = 2, .slots = 64, .device_bytes = 1 << 30};
  ASSERT_TRUE(DecodeSuperblock(EncodeSuperblock(good).bytes()).ok());
  for (const Superblock& bad :
       {Superblock{.member = 64, .slots = 64, .device_bytes = 1 << 30},
        Superblock{.member = 2, .slots = 0, .device_bytes = 1 << 30},
        Superblock{.member = 2, .slots = UINT32_MAX, .device_bytes = 1 << 30},
        Superblock{.member = 2, .slots = 64, .device_bytes = 4096},
        Superblock{.member = 2, .slots = 4096, .device_bytes = UINT64_MAX}}) {
    EXPECT_TRUE(absl::IsDataLoss(DecodeSuperblock(EncodeSuperblock(bad).bytes()).status()))
        << bad.member << " " << bad.slots << " " << bad.device_bytes;
  }
}

// What a power cut leaves of an update: the new bytes up to somewhere, the old ones behind.
TEST(BlockLayout, SlotTornAtAnyByteIsNoSlot) {
  const SlotPlace place{.stamp = SomeUuid(5), .slot = 4, .copy = 0};
  SlotRecord older = SomeRecord();
  older.generation -= 2;
  older.manifest = std::string(4000, 'o');
  const auto old_bytes = EncodeSlot(older, place);
  const auto new_bytes = EncodeSlot(SomeRecord(), place);
  const size_t length = SlotLength(new_bytes->bytes(), place);
  Pages torn(new_bytes->bytes().size());
  for (size_t at = 0; at <= length; ++at) {
    std::ranges::fill(torn.bytes(), std::byte{0});
    std::ranges::copy(old_bytes->bytes(), torn.bytes().begin());
    std::ranges::copy(new_bytes->bytes().first(at), torn.bytes().begin());
    const auto read = DecodeSlot(torn.bytes(), place, kTestUnits);
    if (read.ok()) {
      EXPECT_EQ(*read, read->generation == 6 ? SomeRecord() : older) << at;
    } else {
      EXPECT_TRUE(absl::IsDataLoss(read.status())) << read.status();
    }
  }
}

TEST(BlockLayout, ThousandsOfGapsFitASlotAndMoreAreRefused) {
  SlotRecord record = SomeRecord();
  record.manifest = std::string(3000 * 15, 'g');
  EXPECT_TRUE(EncodeSlot(record, {}).ok());
  record.manifest = std::string(kSlotBytes, 'g');
  const absl::Status status = EncodeSlot(record, {}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("adsb/20261120T235144Z-3f2a"));
}

TEST(BlockLayout, RunsAreMergedAndCut) {
  Runs runs;
  Append(&runs, {{.first = 5, .count = 2}});
  Append(&runs, {{.first = 7, .count = 1}, {.first = 20, .count = 4}});
  EXPECT_EQ(runs, (Runs{{.first = 5, .count = 3}, {.first = 20, .count = 4}}));
  EXPECT_EQ(CutTo(&runs, 4), (Runs{{.first = 21, .count = 3}}));
  EXPECT_EQ(runs, (Runs{{.first = 5, .count = 3}, {.first = 20, .count = 1}}));
  EXPECT_EQ(CutTo(&runs, 0), (Runs{{.first = 5, .count = 3}, {.first = 20, .count = 1}}));
  EXPECT_TRUE(runs.empty());
}

TEST(BlockSpace, NoUnitIsGivenTwiceAndAllComeBack) {
  constexpr uint32_t kUnits = 1000;
  Space space(kUnits);
  std::mt19937_64 random(11);
  std::vector<Runs> held;
  std::vector<bool> taken(kUnits);
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 2 == 0 && !held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      space.Free(held.back());
      for (const device::Run& run : held.back())
        std::fill_n(taken.begin() + run.first, run.count, false);
      held.pop_back();
      continue;
    }
    const auto needed = static_cast<uint32_t>(1 + random() % 20);
    const uint32_t free = space.free_units();
    Runs runs = space.Allocate(needed + random() % 20, needed, random() % kUnits);
    if (needed > free) {
      EXPECT_TRUE(runs.empty());
    }
    if (runs.empty()) continue;
    EXPECT_GE(UnitsOf(runs), needed);
    for (const device::Run& run : runs) {
      for (uint32_t i = run.first; i < run.first + run.count; ++i) {
        ASSERT_FALSE(taken[i]) << i;
        taken[i] = true;
      }
    }
    held.push_back(std::move(runs));
  }
  for (const Runs& runs : held) space.Free(runs);
  EXPECT_EQ(space.Allocate(kUnits, kUnits, std::nullopt), (Runs{{.first = 0, .count = kUnits}}));
}

TEST(BlockSpace, WhatFollowsIsTakenFirstAndHeldUnitsAreRefused) {
  Space space(100);
  ASSERT_TRUE(space.Take({{.first = 10, .count = 5}}));
  EXPECT_FALSE(space.Take({{.first = 50, .count = 1}, {.first = 14, .count = 2}}));
  EXPECT_FALSE(space.Take({{.first = 99, .count = 2}}));
  EXPECT_EQ(space.free_units(), 95u) << "nothing is kept of what was refused";
  EXPECT_EQ(space.Allocate(3, 3, 15), (Runs{{.first = 15, .count = 3}}));
  EXPECT_TRUE(space.Allocate(100, 93, 15).empty());
  EXPECT_EQ(UnitsOf(space.Allocate(100, 1, 18)), 92u);
}

}  // namespace
}  // namespace tapedeck::storage_node::store::device
