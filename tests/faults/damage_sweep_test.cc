// Damage in the thousands, of every kind: all of it is found, named by its kind and located, and
// none of it is ever played as good.
//   TAPEDECK_DAMAGE_PERCENT=100 of 1,000,000 flipped bits and of 10,000 blocks of each other kind;
//   100 with TAPEDECK_LONG, 1 without either
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "storage_node/format/index.h"
#include "tests/faults/recorded.h"

namespace tapedeck::faults {
namespace {

using storage_node::format::EntryFormat;

constexpr uint64_t kBlocks = 16;
constexpr uint64_t kSectors = kBlockBytes / sim::kSectorBytes;
constexpr uint8_t kOld = 1, kNew = 2;

uint64_t Percent() {
  const char* percent = std::getenv("TAPEDECK_DAMAGE_PERCENT");
  if (percent != nullptr) return std::strtoull(percent, nullptr, 10);
  return std::getenv("TAPEDECK_LONG") != nullptr ? 100 : 1;
}

class DamageSweep : public testing::Test {
 protected:
  DamageSweep() {
    Record(disk_, kOld, kBlocks);
    manifest_ = Record(disk_, kNew, kBlocks);
    sound_ = FilesOf(disk_, kNew);
    entries_ = manifest_.entries();
    for (uint64_t i = 0; i < kBlocks; ++i) {
      old_.push_back(PayloadOf(kOld, i));
      new_.push_back(PayloadOf(kNew, i));
    }
  }

  sim::DiskFile& data() { return FilesOf(disk_, kNew).data[0]; }
  sim::DiskFile& index() { return FilesOf(disk_, kNew).index[0]; }

  void Put(uint64_t sequence, std::span<const std::byte> payload) {
    data().Overwrite(sequence * kBlockBytes, payload);
  }

  // Verifies and plays what was planted, then makes the files sound again.
  void ExpectFound(const std::map<uint64_t, services::DamageKind>& planted) {
    const auto found = Verify(disk_, manifest_);
    const std::set<uint64_t> good = Play(disk_, manifest_);
    for (uint64_t i = 0; i < kBlocks; ++i) {
      const auto it = planted.find(i);
      EXPECT_EQ(found.contains(i), it != planted.end()) << "block " << i;
      EXPECT_EQ(good.contains(i), it == planted.end()) << "block " << i;
      if (it == planted.end() || !found.contains(i)) continue;
      EXPECT_EQ(found.at(i).kind, it->second) << "block " << i << ": " << found.at(i).detail;
    }
    found_ += planted.size();
    FilesOf(disk_, kNew) = sound_;
  }

  // Runs rounds until `count` blocks have been damaged.
  template <typename Round>
  void Sweep(uint64_t count, Round round) {
    count = std::max<uint64_t>(1, count * Percent() / 100);
    while (found_ < count && !HasFailure()) round();
    printf("%llu planted, %llu found and named\n", static_cast<unsigned long long>(found_),
           static_cast<unsigned long long>(found_));
  }

  std::mt19937_64 random_{7};
  sim::FaultDisk disk_;
  storage_node::format::Manifest manifest_;
  sim::DiskRecording sound_;
  EntryFormat entries_;
  std::vector<std::vector<std::byte>> old_, new_;
  uint64_t found_ = 0;
};

TEST_F(DamageSweep, FlippedBitsAreRot) {
  Sweep(1'000'000, [this] {
    std::map<uint64_t, services::DamageKind> planted;
    std::map<uint64_t, uint64_t> bytes;
    for (uint64_t i = 0; i < kBlocks; ++i) {
      auto payload = new_[i];
      bytes[i] = random_() % kBlockBytes;
      payload[bytes[i]] ^= static_cast<std::byte>(1 << (random_() % 8));
      Put(i, payload);
      planted[i] = services::DamageKind::kRot;
    }
    for (const auto& [sequence, block] : Verify(disk_, manifest_)) {
      ASSERT_EQ(block.ranges.size(), 1u);
      EXPECT_EQ(block.ranges[0].offset, bytes[sequence] / 4096 * 4096);
      EXPECT_EQ(block.ranges[0].bytes, 4096u);
    }
    ExpectFound(planted);
  });
}

// Every bit of the header page, and of a page of entries.
TEST_F(DamageSweep, EveryBitOfAHeaderPage) {
  for (uint64_t bit = 0; bit < 4096 * 8; ++bit) {
    const auto byte = index().bytes()[bit / 8] ^ static_cast<std::byte>(1 << (bit % 8));
    index().Overwrite(bit / 8, {&byte, 1});
    const auto found = Verify(disk_, manifest_);
    ASSERT_EQ(found.size(), 1u) << "bit " << bit;
    ASSERT_EQ(found.begin()->second.kind, services::DamageKind::kHeader) << "bit " << bit;
    FilesOf(disk_, kNew) = sound_;
    if (Percent() < 100) bit += random_() % 512;
  }
  EXPECT_EQ(Play(disk_, manifest_).size(), kBlocks);
}

TEST_F(DamageSweep, EveryBitOfAnIndexPage) {
  for (uint64_t bit = 0; bit < entries_.entry_bytes * 8; ++bit) {
    std::map<uint64_t, services::DamageKind> planted;
    for (uint64_t i = 0; i < kBlocks; ++i) {
      const uint64_t at = entries_.Offset(i) + bit / 8;
      const auto byte = index().bytes()[at] ^ static_cast<std::byte>(1 << (bit % 8));
      index().Overwrite(at, {&byte, 1});
      planted[i] = services::DamageKind::kIndex;
    }
    ExpectFound(planted);
  }
}

// A write that ended after some of its sectors, first or last ones, or in any order.
TEST_F(DamageSweep, TornBlocks) {
  Sweep(10'000, [this] {
    std::map<uint64_t, services::DamageKind> planted;
    for (uint64_t i = 0; i < kBlocks; ++i) {
      const uint64_t cut = random_() % kSectors;
      const uint64_t order = random_() % 3;
      auto payload = new_[i];
      for (uint64_t sector = 0; sector < kSectors; ++sector) {
        const bool written =
            order == 0 ? sector < cut : (order == 1 ? sector > cut : random_() % 2 == 0);
        if (written) continue;
        std::copy_n(old_[i].begin() + static_cast<ptrdiff_t>(sector * sim::kSectorBytes),
                    sim::kSectorBytes,
                    payload.begin() + static_cast<ptrdiff_t>(sector * sim::kSectorBytes));
      }
      Put(i, payload);
      planted[i] = services::DamageKind::kTorn;
    }
    ExpectFound(planted);
  });
}

// The entry and the payload of an earlier recording at the same place: both new writes were lost.
TEST_F(DamageSweep, StaleBlocks) {
  const auto old_index = FilesOf(disk_, kOld).index[0].bytes();
  Sweep(10'000, [&] {
    std::map<uint64_t, services::DamageKind> planted;
    for (uint64_t i = 0; i < kBlocks; ++i) {
      if (random_() % 2 == 0) continue;
      Put(i, old_[i]);
      index().Overwrite(entries_.Offset(i),
                        std::span(old_index).subspan(entries_.Offset(i), entries_.entry_bytes));
      planted[i] = services::DamageKind::kStale;
    }
    ExpectFound(planted);
  });
}

TEST_F(DamageSweep, MisdirectedBlocks) {
  Sweep(10'000, [this] {
    std::map<uint64_t, services::DamageKind> planted;
    // To the second half from the first, which stays.
    for (uint64_t i = kBlocks / 2; i < kBlocks; ++i) {
      Put(i, new_[random_() % (kBlocks / 2)]);
      planted[i] = services::DamageKind::kMisdirected;
    }
    ExpectFound(planted);
  });
}

TEST_F(DamageSweep, SwappedBlocks) {
  Sweep(10'000, [this] {
    std::map<uint64_t, services::DamageKind> planted;
    std::vector<uint64_t> order(kBlocks);
    for (uint64_t i = 0; i < kBlocks; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    for (uint64_t i = 0; i + 1 < kBlocks; i += 2) {
      Put(order[i], new_[order[i + 1]]);
      Put(order[i + 1], new_[order[i]]);
      planted[order[i]] = planted[order[i + 1]] = services::DamageKind::kSwapped;
    }
    ExpectFound(planted);
  });
}

// Zeros where a page or more was written.
TEST_F(DamageSweep, ZeroedBlocks) {
  Sweep(10'000, [this] {
    std::map<uint64_t, services::DamageKind> planted;
    for (uint64_t i = 0; i < kBlocks; ++i) {
      const uint64_t first = random_() % 16;
      const uint64_t pages = 1 + random_() % (16 - first);
      data().Overwrite(i * kBlockBytes + first * 4096, std::vector<std::byte>(pages * 4096));
      planted[i] = services::DamageKind::kZeroed;
    }
    ExpectFound(planted);
  });
}

TEST_F(DamageSweep, TruncatedFiles) {
  Sweep(10'000, [this] {
    std::map<uint64_t, services::DamageKind> planted;
    const uint64_t bytes = random_() % (kBlocks * kBlockBytes);
    data().Cut(bytes);
    for (uint64_t i = bytes / kBlockBytes; i < kBlocks; ++i)
      planted[i] = services::DamageKind::kTruncated;
    ExpectFound(planted);
  });
}

}  // namespace
}  // namespace tapedeck::faults
