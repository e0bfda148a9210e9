// Playbacks whose blocks are checked on threads of their own.
#include <gtest/gtest.h>

#include "tests/bytes.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

constexpr uint64_t kBlocks = 60;

class CheckThreadsTest : public testing::Test {
 protected:
  CheckThreadsTest() {
    node_.Restart({.check_threads = 3});
    auto recorder = *node_.Record();
    name_ = recorder.admission.accept.recording;
    for (uint64_t i = 0; i < kBlocks; ++i) EXPECT_TRUE(recorder.Push(i).ok());
    EXPECT_TRUE(recorder.Finish().ok());
  }

  NodeFixture node_;
  std::string name_;
};

TEST_F(CheckThreadsTest, BlocksComeInOrderAndWhole) {
  auto player = *node_.Play(name_);
  for (uint64_t i = 0; i < kBlocks; ++i) {
    const auto block = node_.Pull(*player.source);
    ASSERT_TRUE(block.ok() && block->has_value()) << block.status();
    EXPECT_EQ((*block)->header().sequence, i);
    EXPECT_EQ((*block)->header().crc32c, dataplane::Crc32c((*block)->payload()));
    EXPECT_TRUE(SameBytes((*block)->payload(), Payload(i, kBlockBytes)));
  }
  EXPECT_FALSE((*node_.Pull(*player.source)).has_value());
}

TEST_F(CheckThreadsTest, WhatIsDamagedIsMissing) {
  FlipBit(node_.Directory(name_) + "/data", 7 * kBlockBytes + 3);
  auto player = *node_.Play(name_);
  for (uint64_t i = 0; i < kBlocks; ++i) {
    const auto block = node_.Pull(*player.source);
    ASSERT_TRUE(block.ok() && block->has_value()) << block.status();
    EXPECT_EQ((*block)->header().flags, i == 7 ? dataplane::kBlockMissing : 0u) << i;
  }
}

TEST_F(CheckThreadsTest, APlayerMayGoWhileItsBlocksAreChecked) {
  for (int i = 0; i < 200; ++i) {
    auto player = node_.Play(name_);
    ASSERT_TRUE(player.ok()) << player.status();
    if (i % 2 == 0) node_.Pull(*player->source).IgnoreError();
  }
  node_.Stop();  // what it has posted is there still
  node_.executor().RunReady();
}

}  // namespace
}  // namespace tapedeck::storage_node
