// The rings of sessions on rails that can register only so much.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dataplane/ladder/limited_rail.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using dataplane::RemoteAccess;
using dataplane::TransferOp;
using dataplane::ladder::LimitedRails;
using testing::HasSubstr;
using testing::IsEmpty;

class RingTest : public testing::Test {
 protected:
  RingTest() { fixture_.Restart({.rails = rails_.transports()}); }

  LimitedRails rails_{2};
  NodeFixture fixture_;
};

TEST_F(RingTest, IsRegisteredWithTheRightsOfTheOp) {
  const auto access = [&](TransferOp op) {
    return fixture_.Record({.op = op})->admission.registration.access;
  };
  EXPECT_EQ(access(TransferOp::kRead), RemoteAccess::kNone);
  EXPECT_EQ(access(TransferOp::kWrite), RemoteAccess::kWrite);
  const auto recorder = fixture_.Record();
  EXPECT_EQ(recorder->admission.registration.domains.size(), 2u);
  EXPECT_EQ(recorder->admission.ring->slots(), 256u);
}

TEST_F(RingTest, HasFewerSlotsWhereLockedMemoryIsShort) {
  rails_.locked.limit = 2 * (20 * kBlockBytes + dataplane::ladder::kSpareBytes);
  auto recorder = fixture_.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  EXPECT_EQ(recorder->admission.ring->slots(), 16u);
  for (uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  ASSERT_TRUE(recorder->Finish().ok());
  const std::string recording = recorder->admission.accept.recording;
  recorder->admission = {};
  const auto playback = fixture_.Play(recording);
  ASSERT_TRUE(playback.ok()) << playback.status();
  EXPECT_EQ(playback->ring->slots(), 16u);
}

TEST_F(RingTest, ThatDoesNotFitAtAllLeavesNoRecording) {
  rails_.locked.limit = kBlockBytes;
  const absl::Status status = fixture_.Record().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the smallest, 8 slots on 2 rail(s)"));
  EXPECT_TRUE(status.GetPayload("reason").has_value());
  EXPECT_THAT(*fixture_.node().recordings().ListRecordings("luns/l/channels/c"), IsEmpty());
}

}  // namespace
}  // namespace tapedeck::storage_node
