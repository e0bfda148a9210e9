// Blocks go in through a record session and come out of a playback session unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

#include "tests/bytes.h"
#include "tests/scratch_file.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

struct Case {
  std::string store;
  int members;
  dataplane::TransferOp op;
};

class RoundTrip : public testing::TestWithParam<Case> {
 protected:
  services::session::Open Open() const { return {.op = GetParam().op}; }

  NodeFixture node_{GetParam().store, GetParam().members};
};

TEST_P(RoundTrip, BlocksComeBackInOrderWithTheirHeaders) {
  constexpr uint64_t kBlocks = 300;
  auto recorder = node_.Record(Open());
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  // Shuffled within windows, as several rails deliver them.
  std::vector<uint64_t> order(kBlocks);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(3);
  for (uint64_t i = 0; i < kBlocks; i += 20) {
    std::shuffle(order.begin() + i, order.begin() + i + 20, random);
  }
  for (const uint64_t sequence : order) ASSERT_TRUE(recorder->Push(sequence).ok());
  ASSERT_TRUE(recorder->Push(kBlocks, 8'192, dataplane::kBlockPartial).ok());
  ASSERT_TRUE(recorder->Finish().ok());
  EXPECT_EQ(recorder->admission.sink->watermarks(),
            (dataplane::Watermarks{
                .received = kBlocks + 1, .written = kBlocks + 1, .durable = kBlocks + 1}));

  const std::string name = recorder->admission.accept.recording;
  const services::Recording recording = node_.Get(name);
  EXPECT_EQ(recording.state, services::RecordingState::kSealed);
  EXPECT_EQ(recording.blocks, kBlocks + 1);
  EXPECT_EQ(recording.bytes, kBlocks * kBlockBytes + 8'192);
  EXPECT_EQ(recording.durable_watermark, kBlocks + 1);
  EXPECT_EQ(recording.cause, "");
  EXPECT_THAT(node_.Verify(name), testing::IsEmpty());

  const auto headers = node_.PlayAll(name, 1, Open());
  ASSERT_EQ(headers.size(), kBlocks + 1);
  for (uint64_t i = 0; i <= kBlocks; ++i) {
    EXPECT_EQ(headers[i].sequence, i);
    EXPECT_EQ(headers[i].sample_index, i * 1000);
    EXPECT_EQ(headers[i].capture_ns, static_cast<int64_t>(i) * 5);
    EXPECT_EQ(headers[i].flags, i == kBlocks ? uint32_t{dataplane::kBlockPartial} : 0u);
  }
}

TEST_P(RoundTrip, SeveralSessionsAtOnce) {
  std::vector<Recorder> recorders;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    auto recorder = node_.Record(Open(), seed);
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    recorders.push_back(*std::move(recorder));
  }
  for (uint64_t i = 0; i < 50; ++i) {
    for (Recorder& recorder : recorders) ASSERT_TRUE(recorder.Push(i).ok());
  }
  for (Recorder& recorder : recorders) ASSERT_TRUE(recorder.Finish().ok());
  for (Recorder& recorder : recorders) {
    EXPECT_EQ(node_.PlayAll(recorder.admission.accept.recording, recorder.seed, Open()).size(),
              50u);
  }
}

TEST_P(RoundTrip, DuplicatesAndAnEmptyRecordingDoNoHarm) {
  auto recorder = node_.Record(Open());
  ASSERT_TRUE(recorder->Push(0).ok());
  ASSERT_TRUE(recorder->Push(0).ok());
  ASSERT_TRUE(recorder->Finish().ok());
  EXPECT_EQ(node_.PlayAll(recorder->admission.accept.recording, 1, Open()).size(), 1u);

  const std::string empty = node_.RecordAndSeal(0);
  EXPECT_EQ(node_.Get(empty).state, services::RecordingState::kSealed);
  EXPECT_THAT(node_.PlayAll(empty, 1, Open()), testing::IsEmpty());
  EXPECT_THAT(node_.Verify(empty), testing::IsEmpty());
}

TEST_P(RoundTrip, GapsComeBackAsMissingNeverAsZeros) {
  auto recorder = node_.Record(Open());
  for (uint64_t i = 0; i < 10; ++i) {
    const bool gap = i == 4 || i == 5;
    ASSERT_TRUE(
        recorder->Push(i, gap ? 0 : kBlockBytes, gap ? uint32_t{dataplane::kBlockMissing} : 0u)
            .ok());
  }
  ASSERT_TRUE(recorder->Finish().ok());
  const std::string name = recorder->admission.accept.recording;
  EXPECT_EQ(node_.Get(name).state, services::RecordingState::kSealed);
  EXPECT_EQ(node_.Get(name).missing_blocks, 2u);
  const auto headers = node_.PlayAll(name, 1, Open());
  ASSERT_EQ(headers.size(), 10u);
  for (const auto& header : headers) {
    const bool gap = header.sequence == 4 || header.sequence == 5;
    EXPECT_EQ(header.flags, gap ? uint32_t{dataplane::kBlockMissing} : 0u);
    EXPECT_EQ(header.payload_bytes, gap ? 0 : kBlockBytes);
  }
}

TEST_P(RoundTrip, RejectedBlockComesOnceMore) {
  const std::string name = node_.RecordAndSeal(5);
  auto admission = node_.Play(name, Open());
  ASSERT_TRUE(admission.ok());
  dataplane::Source& source = *admission->source;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE((*node_.Pull(source)).has_value());
  EXPECT_FALSE((*node_.Pull(source)).has_value());
  ASSERT_TRUE(source.Reject({.sequence = 2}).ok());
  const auto again = node_.Pull(source);
  ASSERT_TRUE(again.ok() && again->has_value());
  EXPECT_EQ((*again)->header().sequence, 2u);
  EXPECT_TRUE(SameBytes((*again)->payload(), Payload(2, kBlockBytes)));
  EXPECT_FALSE((*node_.Pull(source)).has_value());
  EXPECT_EQ(Reason(source.Reject({.sequence = 2})), "BLOCK_DAMAGED");
  EXPECT_EQ(Reason(source.Reject({.sequence = 5})), "PROTOCOL_VIOLATION");
}

TEST_P(RoundTrip, PlayedRecordingIsNotDeletedUntilThePlayerIsGone) {
  const std::string name = node_.RecordAndSeal(3);
  auto admission = node_.Play(name, Open());
  ASSERT_TRUE(admission.ok());
  EXPECT_EQ(Reason(node_.node().recordings().DeleteRecording(name)), "RECORDING_BUSY");
  admission->source = nullptr;
  EXPECT_TRUE(node_.node().recordings().DeleteRecording(name).ok());
  EXPECT_EQ(Reason(node_.Play(name).status()), "RECORDING_NOT_FOUND");
  EXPECT_EQ(node_.node().luns().GetLun("luns/l")->used_bytes, 0u);
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const auto op : {dataplane::TransferOp::kRead, dataplane::TransferOp::kWrite,
                        dataplane::TransferOp::kSend}) {
    for (const auto store : {"posix", "direct", "device"}) {
      for (const int members : {1, 2}) cases.push_back({store, members, op});
    }
    cases.push_back({"memory", 1, op});
  }
  return cases;
}

std::string CaseName(const testing::TestParamInfo<Case>& info) {
  const char* const ops[] = {"", "Read", "Write", "Send"};
  return info.param.store + std::to_string(info.param.members) +
         ops[static_cast<int>(info.param.op)];
}

INSTANTIATE_TEST_SUITE_P(Stores, RoundTrip, testing::ValuesIn(Cases()), CaseName);

// What other tools rely on: dd and numpy read the file in place.
TEST(PosixLayout, DataFileOfOneMemberIsExactlyThePayload) {
  NodeFixture node;
  auto recorder = node.Record();
  std::vector<std::byte> expected;
  for (uint64_t i = 0; i < 5; ++i) {
    const size_t bytes = i == 4 ? 1'000 : kBlockBytes;
    ASSERT_TRUE(recorder->Push(i, bytes, i == 4 ? uint32_t{dataplane::kBlockPartial} : 0u).ok());
    const auto payload = Payload(i, bytes);
    expected.insert(expected.end(), payload.begin(), payload.end());
  }
  ASSERT_TRUE(recorder->Finish().ok());
  const std::string data = ReadFile(node.Directory(recorder->admission.accept.recording) + "/data");
  EXPECT_TRUE(SameBytes(std::as_bytes(std::span<const char>(data)), expected));
}

// The claim of the memory store: the slot the network filled is the memory that is played.
TEST(MemoryStore, BlocksAreStoredAndPlayedWithoutACopy) {
  NodeFixture node("memory");
  auto recorder = node.Record();
  std::vector<const std::byte*> filled;
  for (uint64_t i = 0; i < 20; ++i) {
    dataplane::Block block = *recorder->admission.ring->Take();
    const auto payload = Payload(i, kBlockBytes);
    std::memcpy(block.memory().data(), payload.data(), kBlockBytes);
    block.header() = {
        .sequence = i, .payload_bytes = kBlockBytes, .crc32c = dataplane::Crc32c(payload)};
    filled.push_back(block.memory().data());
    ASSERT_TRUE(recorder->admission.sink->Push(&block).ok());
    node.executor().RunReady();
  }
  ASSERT_TRUE(recorder->Finish().ok());
  auto admission = node.Play(recorder->admission.accept.recording);
  for (uint64_t i = 0; i < 20; ++i) {
    auto block = node.Pull(*admission->source);
    ASSERT_TRUE(block.ok() && block->has_value());
    EXPECT_EQ((*block)->memory().data(), filled[i]);
  }
}

// Many may begin in the same second, and chance may give the same ID.
TEST(RecordingNames, NoTwoRecordingsHaveTheSameName) {
  NodeFixture node;
  node.Restart({.random = [calls = uint64_t{0}]() mutable { return calls++ / 16; }});
  std::set<std::string> names;
  for (int i = 0; i < 8; ++i) names.insert(node.RecordAndSeal(1));
  EXPECT_EQ(names.size(), 8u);
}

}  // namespace
}  // namespace tapedeck::storage_node
