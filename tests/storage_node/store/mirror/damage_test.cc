// What one of two copies has damaged or lost is played from the other, and mended by a scrub.
// TAPEDECK_LONG: 10,000 blocks of each kind of damage instead of 200.
#include <cstdlib>

#include "services/model/recording/damage_kind.h"
#include "tests/storage_node/store/mirror/mirror_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::DamageKind;

const uint64_t kBlocks = std::getenv("TAPEDECK_LONG") != nullptr ? 10'000 : 200;

class MirrorDamage : public MirrorTest, public testing::WithParamInterface<std::string> {
 protected:
  MirrorDamage() : MirrorTest(GetParam(), uint64_t{4} << 30) {}

  std::string Data(int member) const { return deck_.Directory(name_, member) + "/data"; }

  // All plays, a verification finds nothing wrong, and a scrub mends so many.
  void ExpectMended(uint64_t damaged) {
    ExpectPlays(name_, kBlocks);
    for (const auto& found : deck_.Verify(name_)) {
      EXPECT_TRUE(!services::model::IsOfBlock(found.kind) || found.kind == DamageKind::kIndex)
          << found.detail;
    }
    const services::Scrub scrub = Scrub();
    EXPECT_EQ(scrub.state, services::ScrubState::kDone) << scrub.cause;
    EXPECT_GE(scrub.damaged, damaged);
    EXPECT_EQ(scrub.repaired, scrub.damaged);
    ExpectSameData(name_);
    EXPECT_EQ(Scrub().damaged, 0u) << "nothing is left to mend";
    EXPECT_EQ(deck_.Verify(name_).size(), 0u);
    ExpectPlays(name_, kBlocks);
  }

  const std::string name_ = deck_.RecordAndSeal(kBlocks);
};

TEST_P(MirrorDamage, BothMembersHaveAll) {
  ExpectSameData(name_);
  EXPECT_EQ(fs::file_size(Data(0)), kBlocks * kBlockBytes);
}

TEST_P(MirrorDamage, EveryBlockOfOneCopyIsDamaged) {
  for (uint64_t i = 0; i < kBlocks; ++i) FlipBit(Data(0), i * kBlockBytes + i % kBlockBytes);
  ExpectMended(kBlocks);
}

TEST_P(MirrorDamage, EachCopyHasLostWhatTheOtherHas) {
  for (uint64_t i = 0; i < kBlocks; ++i) {
    Overwrite(Data(static_cast<int>(i % 2)), i * kBlockBytes, std::string(4096, '\0'));
  }
  ExpectMended(kBlocks);
}

TEST_P(MirrorDamage, TheEndOfOneCopyIsGone) {
  fs::resize_file(Data(0), kBlocks / 2 * kBlockBytes + 5);
  ExpectMended(kBlocks / 2);
}

TEST_P(MirrorDamage, TheDataOfOneCopyIsGone) {
  fs::remove(Data(0));
  ExpectMended(kBlocks);
}

TEST_P(MirrorDamage, AllOfOneCopyIsGone) {
  for (const int member : {0, 1}) {
    fs::remove_all(deck_.Directory(name_, member));
    ExpectMended(kBlocks);
  }
}

TEST_P(MirrorDamage, PiecesOfBothMakeTheBlock) {
  FlipBit(Data(0), 7 * kBlockBytes + 1);
  FlipBit(Data(1), 7 * kBlockBytes + kBlockBytes - 1);
  const auto headers = deck_.PlayAll(name_, 1, {.playhead = {.damaged_blocks = true}});
  ASSERT_EQ(headers.size(), kBlocks);
  EXPECT_EQ(headers[7].flags & dataplane::kBlockMissing, 0u);
  const services::Scrub scrub = Scrub();
  EXPECT_EQ(scrub.damaged, 1u);
  EXPECT_EQ(scrub.repaired, 0u) << "neither copy of the block is whole";
}

INSTANTIATE_TEST_SUITE_P(Kinds, MirrorDamage, testing::Values("posix", "direct"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tapedeck::storage_node
