// A rados LUN on a real cluster: where its objects lie, what a cut and a deletion leave, and who
// may write.
#include "storage_node/store/rados/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "dataplane/now.h"
#include "storage_node/store/rados/holding.h"
#include "storage_node/store/rados/recording_list.h"
#include "tests/storage_node/store/rados/rados_fixture.h"

namespace tapedeck::storage_node::store::rados {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RadosStoreTest : public RadosFixture {};

TEST_F(RadosStoreTest, BlocksLieInObjectsOfComputedNames) {
  auto files = CreateFiles(*store_);
  for (uint64_t n = 0; n < 5; ++n) ASSERT_TRUE(Write(*files, n, n + 1).ok());
  EXPECT_THAT(Objects(), ElementsAre("c/r.d.0000000000000000", "c/r.d.0000000000000001",
                                     "c/r.d.0000000000000002", "c/r.m", "tapedeck.lun",
                                     "tapedeck.recordings"));
  uint64_t bytes = 0;
  EXPECT_EQ(beside_->SizeOf("c/r.d.0000000000000001", &bytes, Cluster::Part::kPayload), 0);
  EXPECT_EQ(bytes, 2 * kLargeBlock);
  files = nullptr;
  ASSERT_TRUE(store_->DeleteRecording(kTestPath).ok());
  EXPECT_THAT(Objects(), ElementsAre("tapedeck.lun", "tapedeck.recordings"));
  store_ = nullptr;
  ASSERT_TRUE(Remove(lun_, 0).ok());
  EXPECT_THAT(Objects(), IsEmpty());
}

TEST_F(RadosStoreTest, WhatWasCutIsGoneAndTheRestReads) {
  auto files = CreateFiles(*store_);
  for (uint64_t n = 0; n < 5; ++n) ASSERT_TRUE(Write(*files, n, n + 1).ok());
  ASSERT_TRUE(Wait<absl::Status>([&](auto done) {
                files->Trim({3 * kLargeBlock}, 0, std::move(done));
              }).ok());
  EXPECT_THAT(Objects(), Not(Contains("c/r.d.0000000000000002")));
  for (uint64_t n = 0; n < 3; ++n) {
    const auto block = Read(*files, n);
    ASSERT_TRUE(block.ok()) << block.status();
    EXPECT_THAT(block->payload().first(4096), Each(static_cast<std::byte>(n + 1)));
  }
  for (uint64_t n : {3, 4}) {
    EXPECT_TRUE(absl::IsOutOfRange(Read(*files, n).status())) << n;
  }
  ASSERT_TRUE(Write(*files, 3, 9).ok()) << "it goes on where it was cut";
  EXPECT_TRUE(Read(*files, 3).ok());
}

// The process ends without a word: its objects are found by the head alone.
TEST_F(RadosStoreTest, NothingStaysOfADeletedRecordingThatWasNeverClosed) {
  auto files = CreateFiles(*store_);
  for (uint64_t n = 0; n < 5; ++n) ASSERT_TRUE(Write(*files, n, n + 1).ok());
  ASSERT_TRUE(WriteManifest(*files, "text").ok());
  files = nullptr;
  store_ = nullptr;
  auto again = Open(lun_, 0);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(*(*again)->ListRecordings({}), ElementsAre(kTestPath));
  ASSERT_TRUE((*again)->DeleteRecording(kTestPath).ok());
  EXPECT_THAT(Objects(), ElementsAre("tapedeck.lun", "tapedeck.recordings"));
}

TEST_F(RadosStoreTest, ADeletionThatWasCutShortIsEndedByTheNextStart) {
  auto files = CreateFiles(*store_);
  for (uint64_t n = 0; n < 3; ++n) ASSERT_TRUE(Write(*files, n, n + 1).ok());
  files = nullptr;
  store_ = nullptr;
  ASSERT_TRUE(WriteRow(*beside_, kTestPath, RowState::kDeleting).ok());
  auto again = Open(lun_, 0);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(*(*again)->ListRecordings({}), IsEmpty());
  EXPECT_THAT(*(*again)->extras().recovery->BegunDeletions({}), ElementsAre(kTestPath));
  ASSERT_TRUE((*again)->DeleteRecording(kTestPath).ok());
  EXPECT_THAT(Objects(), ElementsAre("tapedeck.lun", "tapedeck.recordings"));
}

TEST_F(RadosStoreTest, WhatIsAnothersIsNeitherOpenedNorDeleted) {
  CreateFiles(*store_);
  librados::bufferlist another = BufferOf("another");
  ASSERT_EQ(beside_->objects().setxattr("c/r.m", kLunUid, another), 0);
  store_ = nullptr;
  auto again = Open(lun_, 0);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(absl::IsFailedPrecondition((*again)->Open(kTestPath, {}, executor_).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition((*again)->DeleteRecording(kTestPath)));
  EXPECT_THAT(Objects(), Contains("c/r.m"));
}

TEST_F(RadosStoreTest, ASecondNodeIsRefusedAndToldWhoHasIt) {
  const auto second = Open(lun_, 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(absl::StrCat("in use by the storage node with pid ", getpid())));
  EXPECT_TRUE(absl::IsFailedPrecondition(Create(lun_, 0).status()));
  EXPECT_TRUE(DescribedBy(lun_.members[0]).ok());
  store_ = nullptr;
  EXPECT_TRUE(Open(lun_, 0).ok());
}

TEST_F(RadosStoreTest, WhoeverHadTheLunBeforeWritesNothingMore) {
  auto files = CreateFiles(*store_);
  ASSERT_TRUE(Write(*files, 0, 1).ok());
  std::optional<absl::Status> lost;
  files->OnLost([&](absl::Status why) { lost = why; });
  BreakLock();
  auto taken = Open(lun_, 0);
  ASSERT_TRUE(taken.ok()) << taken.status();
  const absl::Status late = Write(*files, 0, 2);
  EXPECT_TRUE(absl::IsInternal(late)) << late;
  EXPECT_THAT(std::string(late.message()), HasSubstr("another storage node"));
  EXPECT_TRUE(absl::IsInternal(WriteManifest(*files, "late")));
  EXPECT_TRUE(absl::IsInternal(store_->DeleteRecording(kTestPath)));
  auto theirs = (*taken)->Open(kTestPath, {}, executor_);
  ASSERT_TRUE(theirs.ok()) << theirs.status();
  const auto block = Read(**theirs, 0);
  ASSERT_TRUE(block.ok()) << block.status();
  EXPECT_THAT(block->payload().first(4096), Each(std::byte{1}));
  // The lease is renewed every 5 s: then it shows.
  const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(15);
  while (store_->Look().ok() && dataplane::SteadyTime() < deadline)
    absl::SleepFor(absl::Milliseconds(100));
  EXPECT_TRUE(absl::IsInternal(store_->Look()));
  EXPECT_TRUE(executor_.RunUntil([&] { return lost.has_value(); }));
  EXPECT_TRUE(
      absl::IsInternal(Wait<absl::Status>([&](auto done) { files->Flush(std::move(done)); })));
  files = nullptr;
  store_ = nullptr;
  EXPECT_TRUE((*taken)->Look().ok()) << "what the first one gave up was not its own any more";
}

// Beside the fence: an epoch that only grows guards heads and the LUN's object.
TEST_F(RadosStoreTest, AnEarlierHolderDoesNotOverwriteALaterOne) {
  store_ = nullptr;
  auto first = Cluster::Connect(lun_.members[0]), second = Cluster::Connect(lun_.members[0]);
  ASSERT_TRUE(first.ok() && second.ok());
  auto before = Holding::Take(**first);
  ASSERT_TRUE(before.ok()) << before.status();
  librados::ObjectWriteOperation create;
  create.create(true);
  create.setxattr(kEpoch, BufferOf("0"));
  ASSERT_EQ(beside_->Operate("guarded", create), 0);
  const auto write = [&](const Holding& holding) {
    librados::ObjectWriteOperation op;
    holding.Guard(op);
    op.write_full(BufferOf("text"));
    return beside_->Operate("guarded", op);
  };
  EXPECT_EQ(write(**before), 0);
  BreakLock();
  auto after = Holding::Take(**second);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(write(**before), 0) << "nobody has written it since";
  EXPECT_EQ(write(**after), 0);
  EXPECT_EQ(write(**before), -ECANCELED);
  EXPECT_EQ(write(**after), 0);
}

TEST_F(RadosStoreTest, APoolThatIsNotThereIsNamed) {
  services::Lun lun = lun_;
  lun.members = {"rados:nosuch/n"};
  const auto store = Create(lun, 0);
  EXPECT_TRUE(absl::IsNotFound(store.status())) << store.status();
  EXPECT_THAT(std::string(store.status().message()), HasSubstr("no pool nosuch"));
  lun.members = {absl::StrCat(lun_.members[0], "-empty")};
  EXPECT_TRUE(absl::IsNotFound(Open(lun, 0).status()));
}

class ErasureCodedStoreTest : public RadosFixture {
 protected:
  ErasureCodedStoreTest() : RadosFixture(true) {}
};

TEST_F(ErasureCodedStoreTest, PayloadLiesInAPoolOfItsOwn) {
  auto files = CreateFiles(*store_);
  for (uint64_t n = 0; n < 5; ++n) ASSERT_TRUE(Write(*files, n, n + 1).ok());
  EXPECT_THAT(Objects(), ElementsAre("c/r.m", "tapedeck.lun", "tapedeck.recordings"));
  EXPECT_THAT(
      ObjectsIn(beside_->payload()),
      ElementsAre("c/r.d.0000000000000000", "c/r.d.0000000000000001", "c/r.d.0000000000000002"));
  ASSERT_TRUE(Wait<absl::Status>([&](auto done) {
                files->Trim({3 * kLargeBlock}, 0, std::move(done));
              }).ok());
  ASSERT_TRUE(Write(*files, 3, 9).ok()) << "it goes on where it was cut";
  for (const auto& [n, value] : {std::pair(0, 1), std::pair(2, 3), std::pair(3, 9)}) {
    const auto block = Read(*files, n);
    ASSERT_TRUE(block.ok()) << block.status();
    EXPECT_THAT(block->payload().first(4096), Each(static_cast<std::byte>(value)));
  }
  files = nullptr;
  ASSERT_TRUE(store_->DeleteRecording(kTestPath).ok());
  EXPECT_THAT(ObjectsIn(beside_->payload()), IsEmpty());
}

TEST_F(ErasureCodedStoreTest, IsNotOpenedWithoutItsPool) {
  store_ = nullptr;
  services::Lun lun = lun_;
  absl::StrReplaceAll({{"+bulk", ""}}, &lun.members[0]);
  const auto store = Open(lun, 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(store.status())) << store.status();
  EXPECT_THAT(std::string(store.status().message()), HasSubstr("payload lies in pool bulk"));
  EXPECT_TRUE(absl::IsFailedPrecondition(DescribedBy(lun.members[0]).status()));
  EXPECT_TRUE(Open(lun_, 0).ok());
}

TEST_F(RadosStoreTest, AnErasureCodedPoolHoldsPayloadAlone) {
  services::Lun lun = lun_;
  absl::StrReplaceAll({{"rados:tape", "rados:bulk"}}, &lun.members[0]);
  const auto store = Create(lun, 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(store.status())) << store.status();
  EXPECT_THAT(std::string(store.status().message()), HasSubstr("rados:POOL+DATA_POOL/NAMESPACE"));
}

}  // namespace
}  // namespace tapedeck::storage_node::store::rados
