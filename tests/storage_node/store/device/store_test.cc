// Recordings of a device store: what a crash leaves of them, and what is used again.
#include "storage_node/store/device/store.h"

#include "tests/storage_node/damage.h"
#include "tests/storage_node/store/device/device_fixture.h"

namespace tapedeck::storage_node::store::device {
namespace {

TEST_F(DeviceStoreTest, SlotUpdateTornAtAnySectorIsOldOrNew) {
  CreateStore();
  const std::string older(9000, 'o'), newer(9500, 'n');
  {
    auto files = Make(kPath);
    ASSERT_TRUE(SetManifest(*files, "first").ok());
    ASSERT_TRUE(SetManifest(*files, older).ok());
  }
  store_ = nullptr;
  // Slot 0: generation 1 lies in copy 1, 2 in copy 0, 3 in copy 1 again.
  const uint64_t copy = kHeadBytes + kSlotBytes;
  const std::string before = GetBytes(copy, kSlotBytes);
  Reopen();
  ASSERT_TRUE(SetManifest(*Again(kPath), newer).ok());
  store_ = nullptr;
  const std::string after = GetBytes(copy, kSlotBytes);
  ASSERT_NE(before, after);
  bool both[2] = {};
  for (size_t torn = 0; torn <= 10'240; torn += 512) {
    PutBytes(copy, after.substr(0, torn) + before.substr(torn));
    Reopen();
    const std::string manifest = GetManifest(*Again(kPath));
    EXPECT_TRUE(manifest == older || manifest == newer) << torn;
    both[manifest == newer] = true;
  }
  EXPECT_TRUE(both[0] && both[1]);
}

TEST_F(DeviceStoreTest, SlotTornWhenFirstWrittenIsNoRecording) {
  CreateStore();
  ASSERT_TRUE(SetManifest(*Make(kPath), "first").ok());
  store_ = nullptr;
  FlipBit(image(), kHeadBytes + kSlotBytes + 70);
  Reopen();
  EXPECT_THAT(*store_->ListRecordings({}), testing::IsEmpty());
  EXPECT_TRUE(SetManifest(*Make(kOther), "other").ok());
}

TEST_F(DeviceStoreTest, SlotDamagedInBothCopiesStopsNewRecordings) {
  CreateStore();
  ASSERT_TRUE(SetManifest(*Make(kOther), "kept").ok());
  {
    auto files = Make(kPath);
    for (const char* text : {"one", "two"}) ASSERT_TRUE(SetManifest(*files, text).ok());
  }
  store_ = nullptr;
  for (const uint64_t copy : {2, 3}) FlipBit(image(), kHeadBytes + copy * kSlotBytes + 70);
  Reopen();
  EXPECT_THAT(*store_->ListRecordings({}), testing::ElementsAre(kOther));
  EXPECT_EQ(GetManifest(*Again(kOther)), "kept");
  EXPECT_THAT(std::string(store_->Open(kPath, ToCreate(kBlock), executor_).status().message()),
              testing::HasSubstr("slot 1 is damaged"));
}

TEST_F(DeviceStoreTest, SlotOfZerosInBothCopiesStopsNewRecordings) {
  CreateStore();
  ASSERT_TRUE(SetManifest(*Make(kPath), "lost").ok());
  store_ = nullptr;
  PutBytes(kHeadBytes, std::string(2 * kSlotBytes, '\0'));
  Reopen();
  EXPECT_THAT(*store_->ListRecordings({}), testing::IsEmpty());
  EXPECT_THAT(std::string(store_->Open(kOther, ToCreate(kBlock), executor_).status().message()),
              testing::HasSubstr("slot 0 is damaged"));
}

TEST_F(DeviceStoreTest, EitherCopyOfASlotHasAllUnits) {
  CreateStore();
  const Bytes entry(64, std::byte{7});
  {
    auto files = Make(kPath);
    ASSERT_TRUE(PutIndex(*files, 0, entry).ok());
    ASSERT_TRUE(Write(*files, 0, 10).ok());
  }
  ring_ = nullptr;
  store_ = nullptr;
  for (const uint64_t copy : {0, 1}) {
    const std::string slot = GetBytes(kHeadBytes + copy * kSlotBytes, kSlotBytes);
    PutBytes(kHeadBytes + copy * kSlotBytes, std::string(kSlotBytes, '\0'));
    Reopen();
    {
      auto files = Again(kPath);
      EXPECT_EQ(GetIndex(*files, 0, 64), entry);
      EXPECT_TRUE(Read(*files, 0).ok());
    }
    ring_ = nullptr;
    store_ = nullptr;
    PutBytes(kHeadBytes + copy * kSlotBytes, slot);
  }
}

TEST_F(DeviceStoreTest, ReopenedRecordingIsTheSame) {
  CreateStore();
  const Bytes entry(64, std::byte{7});
  {
    auto files = Make(kPath);
    ASSERT_TRUE(SetManifest(*files, "text").ok());
    for (uint64_t i = 0; i < 9; ++i) ASSERT_TRUE(Write(*files, i * kBlock, 10 + i).ok());
    ASSERT_TRUE(PutIndex(*files, 12'288, entry).ok());
    ASSERT_TRUE(PutIndex(*files, 12'352, entry).ok()) << "the same page once more";
    ASSERT_TRUE(Trim(*files, 9 * kBlock - 5, 12'416).ok());
  }
  ring_ = nullptr;
  Reopen();
  EXPECT_THAT(*store_->ListRecordings({}), testing::ElementsAre(kPath));
  auto files = Again(kPath);
  EXPECT_EQ(GetManifest(*files), "text");
  for (uint64_t i = 0; i < 8; ++i) {
    const auto block = Read(*files, i * kBlock);
    ASSERT_TRUE(block.ok()) << block.status();
    EXPECT_TRUE(AllAre(block->payload(), 10 + i));
  }
  EXPECT_TRUE(Read(*files, 8 * kBlock, kBlock - 5).ok());
  const absl::Status beyond = Read(*files, 8 * kBlock).status();
  EXPECT_THAT(std::string(beyond.message()), testing::HasSubstr("ends at byte"));
  Bytes index = GetIndex(*files, 0, 100'000);
  ASSERT_EQ(index.size(), 12'416u);
  EXPECT_EQ(Bytes(index.begin(), index.begin() + 12'288), Bytes(12'288)) << "never written";
  EXPECT_EQ(Bytes(index.begin() + 12'352, index.end()), entry);
}

TEST_F(DeviceStoreTest, CutIndexDoesNotComeBack) {
  CreateStore();
  auto files = Make(kPath);
  ASSERT_TRUE(PutIndex(*files, 0, Bytes(20'000, std::byte{9})).ok());
  ASSERT_TRUE(Trim(*files, 0, 5'000).ok());
  ASSERT_TRUE(PutIndex(*files, 30'000, Bytes(10, std::byte{8})).ok());
  const Bytes index = GetIndex(*files, 0, 30'010);
  ASSERT_EQ(index.size(), 30'010u);
  EXPECT_EQ(Bytes(index.begin(), index.begin() + 5'000), Bytes(5'000, std::byte{9}));
  EXPECT_EQ(Bytes(index.begin() + 5'000, index.begin() + 30'000), Bytes(25'000));
}

TEST_F(DeviceStoreTest, DeletedUnitsAreUsedAgainWithoutTheOldIndex) {
  CreateStore();
  for (int round = 0; round < 6; ++round) {
    auto files = Make(kPath);
    EXPECT_THAT(GetIndex(*files, 0, 100), testing::IsEmpty());
    ASSERT_TRUE(PutIndex(*files, 4096, Bytes(64, std::byte{1})).ok());
    EXPECT_EQ(GetIndex(*files, 4160, 200'000), Bytes(200'000)) << "round " << round;
    // Every page of the index and all the room, so that whatever comes next meets old bytes.
    ASSERT_TRUE(PutIndex(*files, 0, Bytes(kUnitBytes, std::byte{0xab})).ok());
    uint64_t blocks = 0;
    while (Write(*files, blocks * kBlock, 0xcd).ok()) ++blocks;
    EXPECT_EQ(blocks, 11 * kUnitBytes / kBlock) << "round " << round;
    files = nullptr;
    ASSERT_TRUE(store_->DeleteRecording(kPath).ok());
    if (round % 2 == 1) {
      ring_ = nullptr;
      Reopen();
    }
    EXPECT_THAT(*store_->ListRecordings({}), testing::IsEmpty());
  }
}

TEST_F(DeviceStoreTest, FullDeviceSaysSoAndWhatIsThereStays) {
  CreateStore();
  EXPECT_EQ(store_->extras().size_bytes, 12 * kUnitBytes);
  auto first = Make(kPath), second = Make(kOther);
  ASSERT_TRUE(PutIndex(*first, 0, Bytes(64)).ok());
  ASSERT_TRUE(PutIndex(*second, 0, Bytes(64)).ok());
  // In turn, so that the units of both lie between each other; blocks that cross them.
  uint64_t blocks = 0;
  absl::Status status;
  while (status.ok()) {
    status = Write(blocks % 2 == 0 ? *first : *second, blocks / 2 * 3 * kBlock, blocks, 3 * kBlock);
    if (status.ok()) ++blocks;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(services::ReasonOf(status)->reason, "LUN_FULL");
  EXPECT_THAT(
      std::string(status.message()),
      testing::AllOf(testing::HasSubstr(image()), testing::HasSubstr("4194304 bytes, 0 of")));
  EXPECT_GE(blocks, 12u);
  for (uint64_t i = 0; i < blocks; ++i) {
    const auto block = Read(i % 2 == 0 ? *first : *second, i / 2 * 3 * kBlock, 3 * kBlock);
    ASSERT_TRUE(block.ok()) << block.status();
    EXPECT_TRUE(AllAre(block->payload(), i));
  }
  second = nullptr;
  ASSERT_TRUE(store_->DeleteRecording(kOther).ok());
  EXPECT_TRUE(Write(*first, blocks / 2 * 3 * kBlock, 1, 3 * kBlock).ok()) << "there is room again";
}

TEST_F(DeviceStoreTest, ManifestThatDoesNotFitIsRefusedAndTheOldOneStays) {
  CreateStore();
  auto files = Make(kPath);
  ASSERT_TRUE(SetManifest(*files, "small").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(SetManifest(*files, std::string(70'000, 'x'))));
  EXPECT_EQ(GetManifest(*files), "small");
}

// A session may die with writes under way; its units must not be another's before they have ended.
TEST_F(DeviceStoreTest, LateWritesReachNoOtherRecording) {
  CreateStore();
  for (int round = 0; round < 30; ++round) {
    auto files = Make(kPath);
    for (uint64_t i = 0; i < 6; ++i) {
      files->WriteBlock({.offset = i * 3 * kBlock}, Filled(0xee, 3 * kBlock),
                        [](absl::Status, dataplane::Block) {});
    }
    files = nullptr;
    ASSERT_TRUE(store_->DeleteRecording(kPath).ok());
    auto next = Make(kOther);
    for (uint64_t i = 0; i < 6; ++i) ASSERT_TRUE(Write(*next, i * 3 * kBlock, i, 3 * kBlock).ok());
    for (uint64_t i = 0; i < 6; ++i) {
      const auto block = Read(*next, i * 3 * kBlock, 3 * kBlock);
      ASSERT_TRUE(block.ok());
      ASSERT_TRUE(AllAre(block->payload(), i)) << round;
    }
    next = nullptr;
    ASSERT_TRUE(store_->DeleteRecording(kOther).ok());
  }
}

}  // namespace
}  // namespace tapedeck::storage_node::store::device
