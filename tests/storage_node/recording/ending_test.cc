// What a recording has, and what its manifest says of its end.
#include "storage_node/recording/writing/ending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/base/errors.h"

namespace tapedeck::storage_node::recording {
namespace {

using services::RecordingState;
using testing::ElementsAre;
using testing::IsEmpty;
using Ranges = std::vector<format::SequenceRange>;

constexpr uint64_t kEndingBlockBytes = 64 << 10;
const absl::Status kLostSession = services::PeerLost("worker", "its stream ended");
const absl::Status kFullLun = absl::ResourceExhaustedError("full");

format::Manifest MakeManifest() {
  return {.members = 2, .block_bytes = kEndingBlockBytes, .resume_token = "secret"};
}

class EndingTest : public testing::Test {
 protected:
  void Write(std::initializer_list<uint64_t> sequences,
             uint32_t payload_bytes = kEndingBlockBytes) {
    for (const uint64_t sequence : sequences) {
      written_.Add({.sequence = sequence, .payload_bytes = payload_bytes});
    }
  }

  format::Manifest Concluded(const Ending& ending, uint64_t segment_blocks = 0) {
    format::Manifest manifest = MakeManifest();
    manifest.segment_blocks = segment_blocks;
    Conclude(ending, written_, &manifest);
    return manifest;
  }

  WrittenBlocks written_{MakeManifest(), WriterStart()};
};

TEST_F(EndingTest, BlocksLieInTurnOnTheMembersWhateverTheirOrder) {
  Write({2, 0});
  Write({1}, 100);
  EXPECT_EQ(written_.mark(), 3u);
  EXPECT_EQ(written_.bytes(), 2 * kEndingBlockBytes + 100);
  EXPECT_THAT(written_.data_bytes(), ElementsAre(2 * kEndingBlockBytes, 100));
}

TEST_F(EndingTest, WhatIsThereAlreadyIsWhereItBegins) {
  const WriterStart start{.next = 2,
                          .missing = {{.first = 1, .count = 1}},
                          .there = {{.first = 3, .count = 1}},
                          .bytes = 2 * kEndingBlockBytes,
                          .data_bytes = {kEndingBlockBytes, 2 * kEndingBlockBytes}};
  WrittenBlocks written(MakeManifest(), start);
  EXPECT_EQ(written.mark(), 2u);
  EXPECT_EQ(written.end(), 4u);
  written.Add({.sequence = 2, .payload_bytes = kEndingBlockBytes});
  EXPECT_EQ(written.mark(), 4u);
  EXPECT_EQ(written.bytes(), 3 * kEndingBlockBytes);
  EXPECT_THAT(written.data_bytes(), ElementsAre(2 * kEndingBlockBytes, 2 * kEndingBlockBytes));
  EXPECT_EQ(written.Missing(), (Ranges{{.first = 1, .count = 1}}));
}

TEST_F(EndingTest, AWholeStreamIsSealedAndDoesNotGoOn) {
  Write({0, 1});
  const format::Manifest manifest = Concluded({});
  EXPECT_EQ(manifest.state, RecordingState::kSealed);
  EXPECT_EQ(manifest.cause, "");
  EXPECT_EQ(manifest.blocks, 2u);
  EXPECT_EQ(manifest.resume_token, "");
  EXPECT_THAT(manifest.missing, IsEmpty());
}

TEST_F(EndingTest, HolesAndBlocksWithoutPayloadAreMissing) {
  Write({0, 5});
  Write({4}, 0);
  const format::Manifest manifest = Concluded({});
  EXPECT_EQ(manifest.state, RecordingState::kSalvaged);
  EXPECT_EQ(manifest.cause, "DATA_LOSS: the stream ended with blocks missing");
  EXPECT_EQ(manifest.blocks, 6u);
  EXPECT_EQ(manifest.bytes, 2 * kEndingBlockBytes);
  EXPECT_EQ(manifest.missing, (Ranges{{.first = 1, .count = 4}}));
}

TEST_F(EndingTest, AStreamOfBlocksWithoutPayloadIsWhole) {
  Write({0, 1}, 0);
  EXPECT_EQ(Concluded({}).state, RecordingState::kSealed);
  EXPECT_EQ(Concluded({}).missing, (Ranges{{.first = 0, .count = 2}}));
}

TEST_F(EndingTest, OnlyALostSessionMayGoOn) {
  Write({0});
  EXPECT_EQ(Concluded({.cause = kLostSession}).resume_token, "secret");
  EXPECT_EQ(Concluded({.error = kLostSession, .cause = kFullLun}).resume_token, "secret");
  EXPECT_EQ(Concluded({.cause = absl::CancelledError("by the user")}).resume_token, "");
  EXPECT_EQ(Concluded({.error = kFullLun, .cause = kLostSession}).resume_token, "");
}

TEST_F(EndingTest, ASegmentThatIsFullMayGoOn) {
  Write({0, 1});
  EXPECT_EQ(Concluded({}, 3).resume_token, "");
  EXPECT_EQ(Concluded({}, 2).resume_token, "secret");
  EXPECT_EQ(Concluded({.cause = absl::CancelledError("by the user")}, 2).resume_token, "");
}

TEST_F(EndingTest, TheWritersOwnErrorIsTheCause) {
  EXPECT_EQ(Concluded({.error = kFullLun, .cause = kLostSession}).cause,
            "RESOURCE_EXHAUSTED: full");
  EXPECT_THAT(Concluded({.cause = kLostSession}).cause, testing::StartsWith("UNAVAILABLE: "));
  EXPECT_EQ(Concluded({.cause = kLostSession}).state, RecordingState::kSalvaged);
}

}  // namespace
}  // namespace tapedeck::storage_node::recording
