// All that one member of two has of a recording is gone: what the other has still plays, the rest
// is named, and nothing that is left goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/model/recording/damage_kind.h"
#include "tests/storage_node/repair/copies_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::RecordingState;
using testing::HasSubstr;

class LostPart : public CopiesTest {
 protected:
  std::string Part(int member) const { return node_.Directory(name_, member); }
  void MoveAway(int member) const { fs::rename(Part(member), node_.dir().path() + "/away"); }
  void PutBack(int member) const { fs::rename(node_.dir().path() + "/away", Part(member)); }

  void Pass(int64_t ns) {
    dataplane::Executor& executor = node_.executor();
    bool passed = false;
    executor.PostAt(executor.clock().NowNs() + ns, [&] { passed = true; });
    EXPECT_TRUE(node_.executor().RunUntil([&] { return passed; }));
  }

  // Every second block is a gap, from that of the member on.
  void ExpectPlaysWithout(int member) {
    const auto headers = node_.PlayAll(name_);
    EXPECT_EQ(headers.size(), kBlocks);
    for (const auto& header : headers) {
      const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
      EXPECT_EQ(missing, header.sequence % 2 == static_cast<uint64_t>(member)) << header.sequence;
    }
  }
  void ExpectNamed(int member) {
    uint64_t unread = 0;
    for (const services::DamagedBlock& found : node_.Verify(name_)) {
      if (!services::model::IsOfBlock(found.kind)) continue;  // of that copy of index and manifest
      EXPECT_EQ(found.kind, services::DamageKind::kTruncated);
      EXPECT_EQ(found.sequence % 2, static_cast<uint64_t>(member));
      EXPECT_THAT(found.detail, HasSubstr("/m" + std::to_string(member)));
      ++unread;
    }
    EXPECT_EQ(unread, kBlocks / 2);
  }
};

TEST_P(LostPart, TheOthersBlocksPlayAndAllDoWhenItIsBack) {
  for (const int member : {0, 1}) {
    SCOPED_TRACE(testing::Message() << "member " << member);
    Stopped([&] { MoveAway(member); });
    EXPECT_EQ(node_.Get(name_).state, RecordingState::kSealed);
    ExpectPlaysWithout(member);
    ExpectNamed(member);
    EXPECT_EQ(RunScrub().repaired, 0u);
    EXPECT_FALSE(fs::exists(Part(member)));
    Stopped([&] { PutBack(member); });
    ExpectPlays();
    EXPECT_THAT(node_.Verify(name_), testing::IsEmpty());
  }
}

TEST_P(LostPart, IsKeptByACatalogThatIsRebuilt) {
  for (const int member : {0, 1}) {
    SCOPED_TRACE(testing::Message() << "member " << member);
    Stopped([&] {
      ForgetCatalog();
      MoveAway(member);
    });
    ASSERT_TRUE(fs::exists(Path("data", 1 - member))) << "what was left has been deleted";
    EXPECT_EQ(node_.Get(name_).blocks, kBlocks);
    ExpectPlaysWithout(member);
    Stopped([&] { PutBack(member); });
  }
}

TEST_P(LostPart, OfARecordingThatWasCutOff) {
  std::string name;
  {
    auto recorder = node_.Record();
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    name = recorder->admission.accept.recording;
    const auto& sink = *recorder->admission.sink;
    for (uint64_t i = 0; i < 6; ++i) {
      Pass(30 * dataplane::kMillisecondNs);  // a watermark page is due
      ASSERT_TRUE(recorder->Push(i).ok());
      ASSERT_TRUE(node_.executor().RunUntil([&] { return sink.watermarks().durable == i + 1; }));
    }
  }
  Stopped([&] { fs::remove_all(node_.Directory(name, 1)); });
  const services::Recording found = node_.Get(name);
  EXPECT_EQ(found.state, RecordingState::kSalvaged);
  EXPECT_EQ(found.blocks, 6u);
  for (const auto& header : node_.PlayAll(name)) {
    EXPECT_EQ((header.flags & dataplane::kBlockMissing) != 0, header.sequence % 2 == 1);
  }
}

TEST_P(LostPart, IsDeletedWithTheRest) {
  Stopped([&] { MoveAway(0); });
  EXPECT_TRUE(node_.node().recordings().DeleteRecording(name_).ok());
  EXPECT_FALSE(fs::exists(Part(1)));
  EXPECT_EQ(node_.node().recordings().ListRecordings("luns/l/channels/c")->size(), 0u);
}

// As a crash leaves it: the first step has been taken on every member, the second on one.
TEST_P(LostPart, IsWhatADeletionLeavesWhichIsGoneOnWith) {
  Stopped([&] {
    ForgetCatalog();
    for (const int member : {0, 1}) {
      fs::rename(Path("manifest.json", member), Path("manifest.json.deleted", member));
    }
    fs::remove_all(Part(1));
  });
  EXPECT_FALSE(fs::exists(Part(0)));
  EXPECT_EQ(node_.node().recordings().ListRecordings("luns/l/channels/c")->size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Stores, LostPart, testing::Values("posix", "direct"), NameOfStore);

// Nobody can say what the payload is that member 2 has.
TEST(LostPartOfThree, WithoutAnIndexNothingGoes) {
  NodeFixture node("posix", 3);
  const std::string name = node.RecordAndSeal(6);
  const std::string left = node.Directory(name, 2);
  node.Stop();
  for (const int member : {0, 1}) fs::remove_all(node.Directory(name, member));
  for (const char* suffix : {"", "-wal", "-shm"}) {
    fs::remove(node.state_dir() + "/catalog.sqlite" + suffix);
  }
  node.Start();
  EXPECT_TRUE(fs::exists(left + "/data"));
  EXPECT_EQ(node.node().recordings().ListRecordings("luns/l/channels/c")->size(), 0u);
}

}  // namespace
}  // namespace tapedeck::storage_node
