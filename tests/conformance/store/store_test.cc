// The contract of storage_node/store/store.h, for every kind in the list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "storage_node/store/list.h"
#include "tests/bytes.h"
#include "tests/storage_node/ceph_cluster.h"
#include "tests/storage_node/loop_device.h"
#include "tests/storage_node/manual_executor.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::storage_node::store {
namespace {

using dataplane::Block;

constexpr uint64_t kBlockBytes = 64 << 10;
const RecordingPath kPath{.channel = "c", .recording = "r"};
const Known kKnown{.channels = {"c"}, .recordings = {kPath}};

struct Case {
  StoreKind kind;
  int members;
  bool device = false;  // the members are block devices
  bool apart = false;   // payload lies in a pool of its own
  uint32_t copies = 1;  // each on one of the members
  bool on_ceph() const { return kind.member != nullptr && kind.member->is("rados:pool"); }
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const StoreKind& kind : StoreKinds()) {
    for (const int members : {1, 2, 3}) {
      const bool has_members = kind.member != nullptr;
      if (has_members || members == 1) cases.push_back({.kind = kind, .members = members});
      if (has_members && !kind.member->is(TempDir().path()) && members < 3 &&
          !cases.back().on_ceph()) {
        cases.push_back({.kind = kind, .members = members, .device = true});
      }
      if (kind.capabilities.keeps_copies && members == 2) {
        cases.push_back({.kind = kind, .members = members, .copies = 2});
      }
      if (cases.back().on_ceph() && members == 1) {
        cases.push_back({.kind = kind, .members = members, .apart = true});
      }
    }
  }
  return cases;
}

class StoreTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (GetParam().on_ceph() && !UseCephCluster()) GTEST_SKIP() << kNoCephCluster;
    lun_ = {.name = "luns/l",
            .uid = "00112233-4455-4677-8899-aabbccddeeff",
            .store = GetParam().kind.name,
            .capacity_bytes = 16 << 20,
            .copies = GetParam().copies};
    for (int m = 0; GetParam().kind.member != nullptr && m < GetParam().members; ++m) {
      lun_.members.push_back(MakeMember("m" + std::to_string(m)));
    }
    if (GetParam().device && lun_.members[0].empty()) GTEST_SKIP() << "no loop device to be had";
    auto store = GetParam().kind.create(lun_);
    if (absl::IsFailedPrecondition(store.status())) GTEST_SKIP() << store.status().message();
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  // A directory, a part of a pool, or else a device: a disk image or, where the machine lends us
  // one, a real one.
  std::string MakeMember(const std::string& name) {
    if (GetParam().on_ceph()) return MakeCephMember(name, GetParam().apart);
    const std::string made = dir_.Make(name);
    if (GetParam().kind.member->is(made)) return made;
    const std::string image = dir_.MakeImage(name + ".image", 256 << 20);
    if (!GetParam().device) return image;
    devices_.push_back(std::make_unique<LoopDevice>(image));
    return devices_.back()->path();
  }

  // That blocks go round.
  uint32_t members() const { return lun_.striped_members(); }

  template <typename Result, typename Start>
  Result Wait(Start start) {
    std::optional<Result> result;
    start([&](Result r) { result.emplace(std::move(r)); });
    EXPECT_FALSE(result.has_value()) << "called back inline";
    EXPECT_TRUE(executor_.RunUntil([&] { return result.has_value(); }));
    return *std::move(result);
  }

  std::unique_ptr<RecordingFiles> Create() {
    auto files = store_->Open(kPath, ToCreate(kBlockBytes), executor_);
    EXPECT_TRUE(files.ok()) << files.status();
    return *std::move(files);
  }

  std::shared_ptr<dataplane::SlotPool> Ring(bool playback, bool exposed, size_t slots = 4) {
    auto ring = store_->MakeRing({.slots = slots,
                                  .slot_bytes = kBlockBytes,
                                  .playback = playback,
                                  .exposed_to_peer = exposed});
    EXPECT_TRUE(ring.ok()) << ring.status();
    return *ring;
  }

  static Block Fill(Block block, uint8_t value, uint32_t bytes = kBlockBytes) {
    std::memset(block.memory().data(), value, bytes);
    block.header().payload_bytes = bytes;
    return block;
  }

  absl::Status Write(RecordingFiles& files, format::Place place, Block block) {
    std::optional<absl::Status> status;
    files.WriteBlock(place, std::move(block), [&](absl::Status s, Block) { status = s; });
    EXPECT_TRUE(executor_.RunUntil([&] { return status.has_value(); }));
    return *status;
  }

  absl::StatusOr<Block> Read(RecordingFiles& files, format::Place place, uint32_t bytes,
                             dataplane::SlotPool& ring) {
    return Wait<absl::StatusOr<Block>>(
        [&](auto done) { EXPECT_TRUE(files.ReadBlock(place, bytes, ring, std::move(done))); });
  }

  TempDir dir_;
  std::vector<std::unique_ptr<LoopDevice>> devices_;
  ManualExecutor executor_;
  services::Lun lun_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreTest, BlocksComeBackThroughEveryKindOfRing) {
  auto files = Create();
  for (const bool exposed_in : {false, true}) {
    auto in = Ring(false, exposed_in);
    for (uint64_t i = 0; i < 12; ++i) {
      const format::Place place = format::PlaceOf(i, kBlockBytes, members());
      auto block = in->Take();
      ASSERT_TRUE(block.has_value()) << i;
      ASSERT_TRUE(Write(*files, place, Fill(std::move(*block), 7 * i + exposed_in)).ok());
    }
    for (const bool exposed_out : {false, true}) {
      auto out = Ring(true, exposed_out);
      for (uint64_t i = 0; i < 12; ++i) {
        auto block = Read(*files, format::PlaceOf(i, kBlockBytes, members()), kBlockBytes, *out);
        ASSERT_TRUE(block.ok()) << block.status();
        EXPECT_EQ(block->header().payload_bytes, kBlockBytes);
        EXPECT_TRUE(AllAre(static_cast<std::byte>(7 * i + exposed_in), block->payload())) << i;
      }
    }
  }
}

TEST_P(StoreTest, LentSlotsLieInTheRingsWindow) {
  auto ring = Ring(false, false);
  for (int i = 0; i < 4; ++i) {
    auto block = ring->Take();
    ASSERT_TRUE(block.has_value());
    EXPECT_EQ(block->memory().data(),
              ring->window().bytes.data() + block->slot() * ring->slot_bytes());
    EXPECT_EQ(block->memory().size(), kBlockBytes);
  }
}

TEST_P(StoreTest, RingLendsItsSlotsAndWakesWhenOneIsFreeAgain) {
  auto ring = Ring(false, false, 3);
  auto files = Create();
  int wakes = 0;
  ring->SetWaker([&] { ++wakes; });
  std::vector<Block> lent;
  while (auto block = ring->Take()) lent.push_back(std::move(*block));
  EXPECT_EQ(lent.size(), 3u);
  ASSERT_TRUE(Write(*files, {}, Fill(std::move(lent.back()), 1)).ok());
  EXPECT_EQ(wakes, 1);
  EXPECT_TRUE(ring->Take().has_value());
  ring->SetWaker(nullptr);
}

TEST_P(StoreTest, ExposedRingsShareNoMemoryWithRecordings) {
  auto files = Create();
  auto in = Ring(false, false);
  auto block = in->Take();
  ASSERT_TRUE(Write(*files, {}, Fill(std::move(*block), 1)).ok());
  auto inside = Ring(true, false);
  auto stored = Read(*files, {}, kBlockBytes, *inside);
  ASSERT_TRUE(stored.ok());
  const auto window = Ring(true, true)->window().bytes;
  EXPECT_TRUE(stored->memory().data() < window.data() ||
              stored->memory().data() >= window.data() + window.size());
}

TEST_P(StoreTest, EmptyReadGivesABlockWithoutPayload) {
  auto files = Create();
  for (const bool exposed : {false, true}) {
    auto ring = Ring(true, exposed);
    auto block = Read(*files, {.member = 0, .offset = 5 * kBlockBytes}, 0, *ring);
    ASSERT_TRUE(block.ok()) << block.status();
    EXPECT_FALSE(block->empty());
    EXPECT_EQ(block->payload().size(), 0u);
  }
}

TEST_P(StoreTest, FullRingRefusesAReadAndTriesLater) {
  auto files = Create();
  auto in = Ring(false, false);
  ASSERT_TRUE(Write(*files, {}, Fill(*in->Take(), 1)).ok());
  auto out = Ring(true, true, 1);
  auto held = Read(*files, {}, kBlockBytes, *out);
  ASSERT_TRUE(held.ok());
  EXPECT_FALSE(files->ReadBlock({}, kBlockBytes, *out, [](absl::StatusOr<Block>) { FAIL(); }));
  held->Reset();
  EXPECT_TRUE(Read(*files, {}, kBlockBytes, *out).ok());
}

TEST_P(StoreTest, IndexCopiesAreSeparateAndEndWhereTheyEnd) {
  auto files = Create();
  EXPECT_EQ(files->index_copies(), std::max(std::min(members(), 2u), GetParam().copies));
  for (uint32_t copy = 0; copy < files->index_copies(); ++copy) {
    const Bytes bytes(100, static_cast<std::byte>(copy + 1));
    ASSERT_TRUE(Wait<absl::Status>([&](auto done) {
                  files->WriteIndex(copy, 300, bytes, std::move(done));
                }).ok());
  }
  std::vector<uint64_t> ends(members(), 0);
  ASSERT_TRUE(Wait<absl::Status>([&](auto done) { files->Trim(ends, 400, std::move(done)); }).ok());
  for (uint32_t copy = 0; copy < files->index_copies(); ++copy) {
    const auto read = [&](uint64_t offset) {
      return *Wait<absl::StatusOr<Bytes>>(
          [&](auto done) { files->ReadIndex(copy, offset, 1000, std::move(done)); });
    };
    EXPECT_EQ(read(300), Bytes(100, static_cast<std::byte>(copy + 1)));
    EXPECT_EQ(read(0).size(), 400u);
    EXPECT_TRUE(read(400).empty());
  }
}

TEST_P(StoreTest, ManifestIsReplacedAndSurvivesReopening) {
  auto files = Create();
  for (const std::string text : {"first", "second"}) {
    ASSERT_TRUE(
        Wait<absl::Status>([&](auto done) { files->WriteManifest(text, std::move(done)); }).ok());
  }
  ASSERT_TRUE(Wait<absl::Status>([&](auto done) { files->Flush(std::move(done)); }).ok());
  files = nullptr;
  auto again = store_->Open(kPath, {}, executor_);
  ASSERT_TRUE(again.ok()) << again.status();
  for (uint32_t copy = 0; copy < (*again)->index_copies(); ++copy) {
    const auto text = Wait<absl::StatusOr<std::string>>(
        [&](auto done) { (*again)->ReadManifest(copy, std::move(done)); });
    EXPECT_EQ(text.value_or("none"), "second");
  }
}

TEST_P(StoreTest, NoCallbackRunsOnceTheFilesAreGone) {
  auto files = Create();
  auto ring = Ring(false, false);
  files->WriteBlock({}, Fill(*ring->Take(), 1), [](absl::Status, Block) { FAIL(); });
  files->Flush([](absl::Status) { FAIL(); });
  files = nullptr;
  store_ = nullptr;  // waits for I/O that is under way
  executor_.RunReady();
}

TEST_P(StoreTest, RecordingsAreListedOnceAndDeletedWhole) {
  EXPECT_THAT(*store_->ListRecordings(kKnown), testing::IsEmpty());
  auto files = Create();
  EXPECT_TRUE(
      absl::IsAlreadyExists(store_->Open(kPath, ToCreate(kBlockBytes), executor_).status()));
  EXPECT_TRUE(
      absl::IsNotFound(store_->Open({.channel = "c", .recording = "x"}, {}, executor_).status()));
  EXPECT_THAT(*store_->ListRecordings(kKnown), testing::ElementsAre(kPath));
  files = nullptr;
  EXPECT_TRUE(store_->DeleteRecording(kPath).ok());
  EXPECT_TRUE(store_->DeleteRecording(kPath).ok()) << "deleting again is no error";
  EXPECT_THAT(*store_->ListRecordings(kKnown), testing::IsEmpty());
  EXPECT_TRUE(absl::IsNotFound(store_->Open(kPath, {}, executor_).status()));
}

TEST_P(StoreTest, PlayedBlockOutlivesItsDeletedRecording) {
  auto files = Create();
  auto in = Ring(false, false);
  ASSERT_TRUE(Write(*files, {}, Fill(*in->Take(), 9)).ok());
  auto out = Ring(true, false);
  auto block = Read(*files, {}, kBlockBytes, *out);
  ASSERT_TRUE(block.ok());
  files = nullptr;
  ASSERT_TRUE(store_->DeleteRecording(kPath).ok());
  EXPECT_TRUE(AllAre(std::byte{9}, block->payload()));
}

INSTANTIATE_TEST_SUITE_P(Kinds, StoreTest, testing::ValuesIn(Cases()), [](const auto& info) {
  return info.param.kind.name + std::to_string(info.param.members) +
         (info.param.device ? "loop" : "") + (info.param.apart ? "apart" : "") +
         (info.param.copies > 1 ? "mirrored" : "");
});

}  // namespace
}  // namespace tapedeck::storage_node::store
