// From a LUN of any kind to one of any that keeps what it has.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/storage_node/moving/mover_fixture.h"

namespace tapedeck::storage_node {
namespace {

class KindsTest : public MoverTest,
                  public testing::WithParamInterface<std::pair<std::string, std::string>> {
 protected:
  KindsTest() : MoverTest(GetParam().first, GetParam().second) {}
};

TEST_P(KindsTest, EveryBlockAndNoteArrives) {
  const std::string name = node_.RecordAndSeal(21, 9);
  ASSERT_TRUE(
      node_.node().recorder().AnnotateRecording(name, {.sample_start = 5, .label = "burst"}).ok());
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  After();
  const std::string moved = MovedTo(name);
  ASSERT_NE(moved, "");
  EXPECT_EQ(node_.PlayAll(moved, 9).size(), 21u);
  EXPECT_TRUE(node_.Verify(moved).empty());
  EXPECT_EQ(node_.Get(moved).annotations.size(), 1u);
  const auto from = node_.node().luns().GetLun("luns/l");
  EXPECT_EQ(from->used_bytes, 0u) << "its room is free again";
}

std::string KindsName(const testing::TestParamInfo<KindsTest::ParamType>& info) {
  return info.param.first + "_" + info.param.second;
}

INSTANTIATE_TEST_SUITE_P(Kinds, KindsTest,
                         testing::Values(std::pair("memory", "posix"), std::pair("posix", "direct"),
                                         std::pair("direct", "device"),
                                         std::pair("device", "mirror")),
                         KindsName);

}  // namespace
}  // namespace tapedeck::storage_node
