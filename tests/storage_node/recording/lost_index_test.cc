// An index file that is gone: the recording is served from the other copy, and a scrub makes it
// again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage_node/format/index.h"
#include "storage_node/node/check.h"
#include "tests/storage_node/repair/copies_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::Scrub;

namespace fs = std::filesystem;

class LostIndex : public CopiesTest {
 protected:
  void Remove(int copy) {
    Stopped([&] { ASSERT_TRUE(fs::remove(Path("index", copy))); });
  }
};

TEST_P(LostIndex, IsMadeAgainFromTheOther) {
  const auto sound = Read("index");
  for (const int copy : {0, 1}) {
    SCOPED_TRACE(testing::Message() << "copy " << copy);
    Remove(copy);
    ExpectPlays();
    EXPECT_FALSE(fs::exists(Path("index", copy))) << "playing makes nothing";
    const Scrub scrub = RunScrub();
    EXPECT_GT(scrub.damaged, kBlocks) << "the pages before the entries too";
    EXPECT_EQ(scrub.repaired, scrub.damaged);
    ASSERT_FALSE(scrub.findings.empty());
    EXPECT_EQ(scrub.findings[0].block.kind, services::DamageKind::kHeader);
    EXPECT_EQ(scrub.findings[0].recording, name_);
    EXPECT_THAT(scrub.findings[0].block.detail,
                testing::AllOf(testing::HasSubstr("open " + Path("index", copy)),
                               testing::HasSubstr("no such file"),
                               testing::HasSubstr("rewritten from copy")));
    EXPECT_TRUE(Read("index") == sound);
    EXPECT_EQ(RunScrub().damaged, 0u) << "the second scrub";
    Remove(1 - copy);
    ExpectPlays();
    EXPECT_EQ(RunScrub().repaired, scrub.repaired);
    EXPECT_TRUE(Read("index") == sound);
    if (HasFailure()) return;
  }
  EXPECT_THAT(node_.Verify(name_), testing::IsEmpty());
}

TEST_P(LostIndex, OfARecordingThatTheCatalogDoesNotKnow) {
  const auto sound = Read("index");
  Stopped([&] {
    ForgetCatalog();
    fs::remove(Path("index", 1));
  });
  EXPECT_EQ(node_.Get(name_).blocks, kBlocks);
  ExpectPlays();
  RunScrub();
  EXPECT_TRUE(Read("index") == sound);
}

TEST_P(LostIndex, VerificationAndCheckNameItAndChangeNothing) {
  Remove(1);
  const auto found = node_.Verify(name_);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, services::DamageKind::kHeader);
  EXPECT_THAT(found[0].detail, testing::HasSubstr("no such file"));
  node_.Stop();
  std::vector<std::string> kinds;
  EXPECT_TRUE(
      node::CheckStorage(node_.state_dir(), ManualClock(), [&](const node::Finding& finding) {
        kinds.push_back(finding.kind);
      }).ok());
  EXPECT_THAT(kinds, testing::ElementsAre("header"));
  EXPECT_FALSE(fs::exists(Path("index", 1)));
}

// Nobody can say what the payload is, but nothing of it goes.
TEST_P(LostIndex, BothGoneAreReportedAndNothingIsMade) {
  const auto data = Read("data");
  Stopped([&] {
    ForgetCatalog();
    for (const int copy : {0, 1}) fs::remove(Path("index", copy));
  });
  EXPECT_EQ(node_.Get(name_).blocks, kBlocks);
  const Scrub scrub = RunScrub();
  EXPECT_EQ(scrub.repaired, 0u);
  EXPECT_EQ(scrub.damaged, 3 + kBlocks) << "both headers, the watermark, and each entry";
  for (const auto& header : node_.PlayAll(name_)) {
    EXPECT_NE(header.flags & dataplane::kBlockMissing, 0u);
  }
  for (const int copy : {0, 1}) EXPECT_FALSE(fs::exists(Path("index", copy)));
  EXPECT_TRUE(Read("data") == data);
}

TEST_P(LostIndex, ThatCannotBeMadeStaysReported) {
  const auto sound = Read("index");
  Stopped([&] {
    fs::remove(Path("index", 1));
    fs::create_symlink(Path("nowhere/index", 1), Path("index", 1));
  });
  const Scrub scrub = RunScrub();
  EXPECT_GT(scrub.damaged, kBlocks);
  EXPECT_EQ(scrub.repaired, 0u);
  EXPECT_THAT(scrub.findings.at(0).block.detail, testing::HasSubstr("rewriting it failed: open "));
  EXPECT_TRUE(TextOf(Path("index", 0)) == sound[0]);
  ExpectPlays();
  Stopped([&] { fs::remove(Path("index", 1)); });
  EXPECT_EQ(RunScrub().repaired, scrub.damaged);
  EXPECT_TRUE(Read("index") == sound);
}

TEST_P(LostIndex, WhileAScrubStoodStillIsMadeAsAWhole) {
  const auto sound = Read("index");
  const auto start = [this](uint64_t rate) {
    return node_.node().scrubs().StartScrub({.parent = "luns/l", .rate_bytes_per_s = rate}).ok();
  };
  // Up to the first report of blocks, which is waited for.
  ASSERT_TRUE(start(1 << 20));
  ASSERT_TRUE(node_.executor().RunUntil(
      [&] { return node_.node().scrubs().GetScrub("luns/l")->blocks > 0; }));
  ASSERT_LT(node_.node().scrubs().StopScrub("luns/l")->blocks, kBlocks);
  Remove(0);
  ASSERT_TRUE(start(kFast));
  const Scrub rest = node_.EndScrub("luns/l");
  EXPECT_LT(rest.blocks, kBlocks);
  EXPECT_EQ(rest.repaired, rest.damaged);
  EXPECT_TRUE(Read("index") == sound);
}

TEST_P(LostIndex, OfARecordingThatACrashCutShort) {
  for (const int copy : {0, 1}) {
    {
      auto recorder = *node_.Record();
      name_ = recorder.admission.accept.recording;
      for (uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(recorder.Push(i).ok());
      const auto& sink = *recorder.admission.sink;
      ASSERT_TRUE(node_.executor().RunUntil([&] { return sink.watermarks().durable == 20; }));
    }
    Remove(copy);
    ASSERT_EQ(node_.Get(name_).blocks, 20u);
    ExpectPlays(20);
    const Scrub scrub = RunScrub();
    EXPECT_GE(scrub.damaged, 20u);
    EXPECT_EQ(scrub.repaired, scrub.damaged);
    Remove(1 - copy);
    ExpectPlays(20);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, LostIndex, testing::Values("posix", "direct"), NameOfStore);

}  // namespace
}  // namespace tapedeck::storage_node
