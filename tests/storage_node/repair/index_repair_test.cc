// A scrub rewrites a damaged index copy from the other, and nothing else does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <iterator>

#include "storage_node/format/index.h"
#include "storage_node/node/check.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::Scrub;
using services::ScrubState;

constexpr uint64_t kManyBlocks = 300;  // more than are compared at a time
constexpr uint64_t kFastRepair = uint64_t{1} << 40;
constexpr uint64_t kIndexImageBytes = 64 << 20;
const format::EntryFormat kIndexEntries = format::EntryFormat::Of(kBlockBytes, 0);

std::string ReadBytes(const std::string& path, uint64_t offset, uint64_t bytes) {
  std::string text(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

// Where one copy lies: a file, or part of a disk image.
struct IndexCopy {
  std::string path;
  uint64_t begin = 0;
  uint64_t bytes = 0;
  bool operator==(const IndexCopy&) const = default;

  uint64_t At(uint64_t offset) const { return begin + offset; }
};

// One sealed recording of two members, whose blocks, entries and watermark pages are all written.
class IndexRepair : public testing::TestWithParam<std::string> {
 protected:
  IndexRepair() {
    Record();
    for (const int member : {0, 1}) copies_.push_back(Find(member));
    sound_ = Read();
    EXPECT_EQ(sound_[0].substr(4096, 4), "TDWM");
    EXPECT_EQ(sound_[0].substr(8192, 4), "TDWM");
  }

  void Record() {
    auto recorder = *node_.Record();
    bool later = false;
    for (uint64_t i = 0; i < kManyBlocks; ++i) {
      ASSERT_TRUE(recorder.Push(i).ok()) << i;
      if (i != kManyBlocks / 2) continue;
      // Time for a watermark, so that both pages are used.
      node_.executor().PostAt(node_.executor().clock().NowNs() + 100'000'000,
                              [&] { later = true; });
      ASSERT_TRUE(node_.executor().RunUntil([&] { return later; }));
    }
    const auto& sink = *recorder.admission.sink;
    ASSERT_TRUE(
        node_.executor().RunUntil([&] { return sink.watermarks().durable == kManyBlocks; }));
    ASSERT_TRUE(recorder.Finish().ok());
    name_ = recorder.admission.accept.recording;
  }

  IndexCopy Find(int member) const {
    const std::string file = node_.Directory(name_, member) + "/index";
    if (GetParam() != "device") return {file, 0, std::filesystem::file_size(file)};
    const std::string image = node_.dir().path() + "/m" + std::to_string(member);
    const std::string all = ReadBytes(image, 0, kIndexImageBytes);
    uint64_t at = 0;
    while (at < all.size() && all.compare(at, 4, "TDIX") != 0) at += 4096;
    EXPECT_LT(at, all.size());
    return {image, at, kIndexEntries.Offset(kManyBlocks)};
  }

  // Both copies, as they are now.
  std::vector<std::string> Read() const {
    std::vector<std::string> read;
    for (int member : {0, 1}) {
      const IndexCopy copy = GetParam() == "device" ? copies_[member] : Find(member);
      read.push_back(ReadBytes(copy.path, copy.begin, copy.bytes));
    }
    return read;
  }

  // With the node stopped, so that no cache has what is on the disk.
  void Damage(const std::function<void()>& damage) {
    node_.Stop();
    damage();
    node_.Start();
    ASSERT_FALSE(Read() == sound_);
  }

  Scrub Start(const std::string& parent, uint64_t rate = kFastRepair) {
    const auto scrub = node_.node().scrubs().StartScrub(
        {.parent = parent, .rate_bytes_per_s = rate, .restart = true});
    EXPECT_TRUE(scrub.ok()) << scrub.status();
    return scrub.value_or(Scrub());
  }
  Scrub RunScrub() {
    Start("luns/l");
    Scrub scrub = node_.EndScrub("luns/l");
    EXPECT_EQ(scrub.state, ScrubState::kDone) << scrub.cause;
    return scrub;
  }

  void ExpectRepaired(uint64_t damaged) {
    const Scrub scrub = RunScrub();
    EXPECT_EQ(scrub.damaged, damaged);
    EXPECT_EQ(scrub.repaired, damaged);
    EXPECT_EQ(scrub.findings.size(), std::min<uint64_t>(damaged, 100));
    for (const services::ScrubFinding& finding : scrub.findings) {
      EXPECT_TRUE(finding.repaired) << finding.block.detail;
      EXPECT_EQ(finding.recording, name_);
      EXPECT_THAT(finding.block.detail, testing::HasSubstr("rewritten from copy"));
    }
    EXPECT_EQ(scrub.blocks, kManyBlocks);
    EXPECT_TRUE(Read() == sound_);
    EXPECT_EQ(RunScrub().damaged, 0u) << "the second scrub";
  }

  void ExpectPlays() {
    EXPECT_THAT(node_.Verify(name_), testing::IsEmpty());
    const auto headers = node_.PlayAll(name_);
    EXPECT_EQ(headers.size(), kManyBlocks);
    for (const auto& header : headers) EXPECT_EQ(header.flags, 0u);
  }

  NodeFixture node_{GetParam(), 2, 0, kIndexImageBytes};
  std::string name_;
  std::vector<IndexCopy> copies_;
  std::vector<std::string> sound_;
};

TEST_P(IndexRepair, EveryKindOfDamageToOneCopy) {
  const std::string zeros(4096, '\0');
  struct Planted {
    const char* what;
    uint64_t records;
    std::function<void(const IndexCopy&)> damage;
  };
  const auto flip = [](uint64_t offset) {
    return [offset](const IndexCopy& copy) { FlipBit(copy.path, copy.At(offset)); };
  };
  const auto zero = [&zeros](uint64_t first, uint64_t pages) {
    return [&zeros, first, pages](const IndexCopy& copy) {
      for (uint64_t page = first; page < first + pages; ++page) {
        const uint64_t bytes = std::min<uint64_t>(4096, copy.bytes - page * 4096);
        Overwrite(copy.path, copy.At(page * 4096), zeros.substr(0, bytes));
      }
    };
  };
  const Planted planted[] = {
      {"magic of the header", 1, flip(0)},
      {"header", 1, flip(30)},
      {"padding of the header", 1, flip(2000)},
      {"one watermark page", 1, flip(4096 + 24)},
      {"the other watermark page", 1, flip(8192 + 24)},
      {"first entry", 1, flip(kIndexEntries.Offset(0) + 20)},
      {"check value of an entry", 1, flip(kIndexEntries.Offset(8) - 1)},
      {"entry of the second part", 1, flip(kIndexEntries.Offset(260) + 52)},
      {"last entry", 1, flip(kIndexEntries.Offset(kManyBlocks - 1))},
      {"zeroed header", 1, zero(0, 1)},
      {"zeroed page of entries", 4096 / kIndexEntries.entry_bytes, zero(4, 1)},
      {"all of it", 3 + kManyBlocks, zero(0, (kIndexEntries.Offset(kManyBlocks) + 4095) / 4096)},
      {"misplaced entry", 1,
       [](const IndexCopy& copy) {
         CopyBytes(copy.path, copy.At(kIndexEntries.Offset(1)), copy.path,
                   copy.At(kIndexEntries.Offset(2)), kIndexEntries.entry_bytes);
       }},
  };
  for (const int copy : {0, 1}) {
    for (const Planted& p : planted) {
      SCOPED_TRACE(testing::Message() << p.what << ", copy " << copy);
      Damage([&] { p.damage(copies_[copy]); });
      ExpectRepaired(p.records);
      if (HasFailure()) return;
    }
  }
  ExpectPlays();
}

TEST_P(IndexRepair, EachCopyMendsTheOther) {
  Damage([&] {
    FlipBit(copies_[0].path, copies_[0].At(9));
    FlipBit(copies_[1].path, copies_[1].At(4096 + 9));
    for (uint64_t i = 0; i < kManyBlocks; ++i) {
      FlipBit(copies_[i % 2].path, copies_[i % 2].At(kIndexEntries.Offset(i) + 20));
    }
  });
  ExpectRepaired(2 + kManyBlocks);
  ExpectPlays();
}

TEST_P(IndexRepair, WhatBothCopiesLostIsReportedAndLeftAlone) {
  Damage([&] {
    for (const IndexCopy& copy : copies_) {
      FlipBit(copy.path, copy.At(9));
      FlipBit(copy.path, copy.At(4096 + 9));
      FlipBit(copy.path, copy.At(8192 + 9));
      FlipBit(copy.path, copy.At(kIndexEntries.Offset(4) + 40));
    }
  });
  const auto damaged = Read();
  const Scrub scrub = RunScrub();
  std::vector<std::string> kinds;
  for (const auto& finding : scrub.findings) {
    EXPECT_FALSE(finding.repaired);
    kinds.push_back(
        absl::StrCat(services::model::NameOf(finding.block.kind), " ", finding.block.sequence));
  }
  EXPECT_THAT(kinds, testing::ElementsAre("header 0", "header 0", "header 0", "index 4"));
  EXPECT_EQ(scrub.damaged, 4u);
  EXPECT_EQ(scrub.repaired, 0u);
  EXPECT_TRUE(Read() == damaged);
}

TEST_P(IndexRepair, SoundCopiesThatDifferAreReportedAndLeftAlone) {
  Damage([&] {
    const std::string entry = sound_[1].substr(kIndexEntries.Offset(5), kIndexEntries.entry_bytes);
    format::EntryFormat format = kIndexEntries;
    std::memcpy(&format.epoch, &entry[48], 4);
    std::vector<std::byte> bytes(entry.size());
    std::memcpy(bytes.data(), entry.data(), entry.size());
    auto other = format.Decode(bytes, 5, 1);
    ASSERT_TRUE(other.ok()) << other.status();
    ++other->sample_index;
    format.Encode(*other, 1, bytes);
    Overwrite(copies_[1].path, copies_[1].At(kIndexEntries.Offset(5)),
              std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  });
  const auto damaged = Read();
  const Scrub scrub = RunScrub();
  ASSERT_EQ(scrub.findings.size(), 1u);
  EXPECT_FALSE(scrub.findings[0].repaired);
  EXPECT_EQ(scrub.findings[0].block.kind, services::DamageKind::kIndex);
  EXPECT_EQ(scrub.findings[0].block.sequence, 5u);
  EXPECT_THAT(scrub.findings[0].block.detail, testing::HasSubstr("differ"));
  EXPECT_TRUE(Read() == damaged);
}

TEST_P(IndexRepair, VerificationAndCheckChangeNothing) {
  Damage([&] {
    FlipBit(copies_[0].path, copies_[0].At(kIndexEntries.Offset(7) + 20));
    FlipBit(copies_[1].path, copies_[1].At(8192 + 24));
  });
  const auto damaged = Read();
  node_.Verify(name_);
  EXPECT_TRUE(Read() == damaged);
  node_.Stop();
  EXPECT_TRUE(
      node::CheckStorage(node_.state_dir(), ManualClock(), [](const node::Finding&) {}).ok());
  EXPECT_TRUE(Read() == damaged);
}

TEST_P(IndexRepair, PlaysWhileItIsRepairedByTwoScrubs) {
  Damage([&] {
    for (uint64_t i = 0; i < kManyBlocks; ++i) {
      FlipBit(copies_[i % 2].path, copies_[i % 2].At(kIndexEntries.Offset(i) + 20));
    }
  });
  Start("luns/l");
  Start("luns/l/channels/c");
  for (const auto& header : node_.PlayAll(name_)) EXPECT_EQ(header.flags, 0u);
  const Scrub one = node_.EndScrub("luns/l"), other = node_.EndScrub("luns/l/channels/c");
  EXPECT_EQ(one.damaged, one.repaired);
  EXPECT_EQ(other.damaged, other.repaired);
  EXPECT_EQ(one.repaired + other.repaired, kManyBlocks) << "each once";
  EXPECT_TRUE(Read() == sound_);
}

TEST_P(IndexRepair, KeepsToTheRateAndGoesOnAfterARestart) {
  Damage([&] { FlipBit(copies_[1].path, copies_[1].At(kIndexEntries.Offset(290) + 20)); });
  Start("luns/l", 1);
  ASSERT_TRUE(node_.executor().RunUntil(
      [&] { return node_.node().scrubs().GetScrub("luns/l")->recording == name_; }));
  EXPECT_EQ(Reason(node_.node().recordings().DeleteRecording(name_)), "RECORDING_BUSY");
  const auto stopped = *node_.node().scrubs().StopScrub("luns/l");
  EXPECT_EQ(stopped.state, ScrubState::kStopped);
  EXPECT_EQ(stopped.damaged, 0u) << "it waits before the entries";
  node_.Stop();
  node_.Start();
  EXPECT_TRUE(
      node_.node().scrubs().StartScrub({.parent = "luns/l", .rate_bytes_per_s = kFastRepair}).ok());
  EXPECT_EQ(node_.EndScrub("luns/l").repaired, 1u);
  EXPECT_TRUE(Read() == sound_);
}

// A crash leaves entries that only one member has got.
TEST_P(IndexRepair, SalvagedRecordingGetsItsSecondCopyBack) {
  ASSERT_TRUE(node_.node().recordings().DeleteRecording(name_).ok());
  {
    auto recorder = *node_.Record();
    name_ = recorder.admission.accept.recording;
    for (uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(recorder.Push(i).ok());
    const auto& sink = *recorder.admission.sink;
    ASSERT_TRUE(node_.executor().RunUntil([&] { return sink.watermarks().durable == 20; }));
  }
  node_.Stop();
  const IndexCopy copy = Find(1);
  Overwrite(copy.path, copy.At(kIndexEntries.Offset(18)),
            std::string(2 * kIndexEntries.entry_bytes, '\0'));
  node_.Start();
  ASSERT_EQ(node_.Get(name_).blocks, 20u);
  const Scrub scrub = RunScrub();
  EXPECT_EQ(scrub.damaged, 2u);
  EXPECT_EQ(scrub.repaired, 2u);
  EXPECT_EQ(RunScrub().damaged, 0u);
}

std::string NameOf(const testing::TestParamInfo<std::string>& store) {
  if (store.param == "device") return "Device";
  return store.param == "posix" ? "Posix" : "Direct";
}

INSTANTIATE_TEST_SUITE_P(Stores, IndexRepair, testing::Values("posix", "direct", "device"), NameOf);

// Only directories have files to cut.
class TruncatedIndex : public IndexRepair {};

TEST_P(TruncatedIndex, IsAsLongAndAsGoodAsBefore) {
  for (const int copy : {0, 1}) {
    for (const uint64_t bytes :
         {uint64_t{0}, uint64_t{5000}, kIndexEntries.Offset(0), kIndexEntries.Offset(10) + 5,
          kIndexEntries.Offset(kManyBlocks) - 1}) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes of copy " << copy);
      Damage([&] { std::filesystem::resize_file(copies_[copy].path, bytes); });
      const uint64_t pages = std::min<uint64_t>(bytes / 4096, 3);
      const uint64_t entries = bytes < kIndexEntries.Offset(0)
                                   ? 0
                                   : (bytes - kIndexEntries.Offset(0)) / kIndexEntries.entry_bytes;
      ExpectRepaired(3 - pages + kManyBlocks - entries);
      if (HasFailure()) return;
    }
  }
  ExpectPlays();
}

INSTANTIATE_TEST_SUITE_P(Stores, TruncatedIndex, testing::Values("posix", "direct"), NameOf);

}  // namespace
}  // namespace tapedeck::storage_node
