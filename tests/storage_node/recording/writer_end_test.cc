// Errors of the writer, and how it ends with and without them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/base/errors.h"
#include "tests/storage_node/recording/writer_fixture.h"

namespace tapedeck::storage_node {
namespace {

TEST_F(WriterTest, OneWriteErrorIsRepeatedAndForgotten) {
  disk_.failures = {absl::InternalError("EIO")};
  ASSERT_TRUE(Push(0).ok());
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks().durable, 1u);
  EXPECT_TRUE(writer_->status().ok());
  EXPECT_EQ(pool_->free_slots(), 16u);
}

TEST_F(WriterTest, SecondWriteErrorEndsItAndIsNeverAcknowledged) {
  // Blocks 0, 1 and 2, then 1 again.
  disk_.failures = {absl::OkStatus(), absl::InternalError("EIO"), absl::OkStatus(),
                    absl::InternalError("EIO")};
  int wakes = 0;
  writer_->SetWaker([&] { ++wakes; });
  for (uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(Push(i).ok());
  executor_.RunReady();
  EXPECT_GT(wakes, 0);
  EXPECT_TRUE(absl::IsInternal(writer_->status()));
  EXPECT_TRUE(absl::IsInternal(Push(3)));
  EXPECT_EQ(writer_->watermarks().written, 1u);
  EXPECT_TRUE(absl::IsInternal(Finish(absl::OkStatus()))) << "never ends as if all were well";
  ASSERT_TRUE(sealed_.has_value());
  EXPECT_EQ(sealed_->state, services::RecordingState::kSalvaged);
  EXPECT_EQ(sealed_->blocks, 3u);
  EXPECT_THAT(sealed_->missing, testing::ElementsAre(format::SequenceRange{1, 1}));
  EXPECT_EQ(sealed_->durable_watermark, 1u);
  EXPECT_EQ(pool_->free_slots(), 16u);
}

TEST_F(WriterTest, AfterAFailedFlushNoFlushIsBelieved) {
  ASSERT_TRUE(Push(0).ok());
  executor_.RunReady();
  const std::string before = verifier_->value();
  disk_.flush_failure = absl::InternalError("fdatasync: EIO");
  ASSERT_TRUE(Push(1).ok());
  executor_.RunReady();
  EXPECT_TRUE(absl::IsInternal(writer_->status()));
  EXPECT_NE(verifier_->value(), before);
  disk_.flush_failure = absl::OkStatus();
  disk_.log.clear();
  executor_.RunReady();
  EXPECT_TRUE(absl::IsInternal(Finish(writer_->status())));
  EXPECT_THAT(disk_.log, testing::IsEmpty()) << "it is left to recovery, which reads the disk";
  EXPECT_FALSE(sealed_.has_value());
  EXPECT_EQ(writer_->watermarks().durable, 1u);
}

TEST_F(WriterTest, WhatItTookIsAskedWhenItIsSealed) {
  const services::StageTimes taken = {{"receive.rail", "r0", 7}};
  stages_->SetAsk([&] { return taken; });
  ASSERT_TRUE(Push(0).ok());
  ASSERT_TRUE(Finish(absl::OkStatus()).ok());
  stages_->SetAsk(nullptr);
  ASSERT_TRUE(sealed_.has_value());
  EXPECT_EQ(sealed_->stage_times, taken) << "though nobody told it before";
}

TEST_F(WriterTest, SealIsTheLastThingWritten) {
  ASSERT_TRUE(Push(0).ok());
  ASSERT_TRUE(Finish(absl::OkStatus()).ok());
  EXPECT_THAT(disk_.log, testing::ElementsAre("data 0", "index 1", "flush", "trim", "header",
                                              "watermark", "flush", "sealed"));
  EXPECT_EQ(sealed_->state, services::RecordingState::kSealed);
}

// Over two rails a later block may come first; the recording still ends at an exact block.
TEST_F(WriterTest, FullLunKeepsEveryBlockBelowTheOneThatDidNotFit) {
  const recording::Footprint footprint({}, kWriterBlockBytes, 1);
  MakeWriter(footprint.OfBlocks(4) + footprint.OfManifest({}));
  ASSERT_TRUE(Push(0).ok());
  ASSERT_TRUE(Push(3).ok());
  EXPECT_TRUE(Push(4).ok()) << "blocks 1 and 2 are still to come";
  EXPECT_TRUE(Push(2).ok());
  EXPECT_TRUE(writer_->status().ok());
  EXPECT_TRUE(Push(1).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(writer_->status()));
  EXPECT_TRUE(absl::IsResourceExhausted(Finish(absl::OkStatus())));
  EXPECT_EQ(sealed_->blocks, 4u);
  EXPECT_EQ(sealed_->bytes, 4 * kWriterBlockBytes);
  EXPECT_EQ(sealed_->durable_watermark, 4u);
  EXPECT_THAT(sealed_->missing, testing::IsEmpty());
}

TEST_F(WriterTest, FullLunDoesNotWaitForEver) {
  const recording::Footprint footprint({}, kWriterBlockBytes, 1);
  MakeWriter(footprint.OfBlocks(4) + footprint.OfManifest({}));
  for (const uint64_t sequence : {0, 2, 3, 4}) ASSERT_TRUE(Push(sequence).ok());
  const int64_t begin_ns = executor_.clock().NowNs();
  ASSERT_TRUE(executor_.RunUntil([&] { return !writer_->status().ok(); }));
  EXPECT_GE(executor_.clock().NowNs() - begin_ns, recording::kLateBlocksNs);
  EXPECT_TRUE(Finish(writer_->status()).ok());
  ASSERT_TRUE(sealed_.has_value());
  EXPECT_EQ(sealed_->blocks, 4u);
  EXPECT_THAT(sealed_->missing, testing::ElementsAre(format::SequenceRange{1, 1}));
  EXPECT_EQ(sealed_->state, services::RecordingState::kSalvaged);
  EXPECT_THAT(sealed_->cause, testing::HasSubstr("RESOURCE_EXHAUSTED"));
}

// Whatever the disk answers last, the end of the recording must not wait for more than that.
// Each takes a place in the manifest, which is read whole.
TEST_F(WriterTest, GapsWithoutEndEndTheRecordingWhichCanBeRead) {
  absl::Status status;
  uint64_t sequence = 0;
  for (; status.ok() && sequence < 4 * format::kMaxGaps; ++sequence) {
    Block block = *pool_->Take();
    const bool missing = sequence % 2 == 1;
    block.header() = {.sequence = sequence,
                      .payload_bytes = missing ? 0 : static_cast<uint32_t>(kWriterBlockBytes),
                      .flags = missing ? uint32_t{dataplane::kBlockMissing} : 0};
    status = writer_->Push(&block).status();
    executor_.RunReady();
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("separate places"));
  Finish(status).IgnoreError();
  ASSERT_TRUE(sealed_.has_value());
  EXPECT_EQ(sealed_->missing.size(), format::kMaxGaps + 1);
  sealed_->identity.channel = "c";
  sealed_->datatype = "cu8";
  EXPECT_EQ(format::DecodeManifest(format::EncodeManifest(*sealed_))->missing, sealed_->missing);
}

TEST_F(WriterTest, FinishEndsWhenTheHeaderPageIsTheLastAnswer) {
  disk_.held = {"header"};
  MakeWriter();
  ASSERT_EQ(*writer_->Finish(absl::OkStatus()), dataplane::Flow::kNotNow);
  AnswerOwed();
  EXPECT_EQ(*writer_->Finish(absl::OkStatus()), dataplane::Flow::kEnd);
}

TEST_F(WriterTest, FinishEndsWhenTheManifestIsTheLastAnswer) {
  disk_.held = {"manifest"};
  MakeWriter();
  ASSERT_TRUE(Push(0).ok());
  ASSERT_EQ(*writer_->Finish(absl::OkStatus()), dataplane::Flow::kNotNow);
  AnswerOwed();
  EXPECT_EQ(*writer_->Finish(absl::OkStatus()), dataplane::Flow::kEnd);
}

TEST_F(WriterTest, FinishEndsWhenAWatermarkPageIsTheLastAnswer) {
  bool later = false;
  executor_.PostAfter(60 * dataplane::kMillisecondNs, [&] { later = true; });
  executor_.RunUntil([&] { return later; });
  disk_.held = {"watermark"};
  ASSERT_TRUE(Push(0).ok());
  executor_.RunReady();
  ASSERT_EQ(disk_.log.back(), "watermark");
  ASSERT_EQ(*writer_->Finish(absl::OkStatus()), dataplane::Flow::kNotNow);
  AnswerOwed();
  EXPECT_EQ(*writer_->Finish(absl::OkStatus()), dataplane::Flow::kEnd);
}

TEST_F(WriterTest, FinishEndsWhenAFlushIsTheLastAnswer) {
  disk_.held = {"flush"};
  ASSERT_TRUE(Push(0).ok());
  executor_.RunReady();
  ASSERT_EQ(*writer_->Finish(absl::OkStatus()), dataplane::Flow::kNotNow);
  AnswerOwed();
  EXPECT_EQ(*writer_->Finish(absl::OkStatus()), dataplane::Flow::kEnd);
}

TEST_F(WriterTest, IndexThatCannotBeWrittenEndsItToo) {
  disk_.index_failure = absl::InternalError("pwrite index: EIO");
  ASSERT_TRUE(Push(0).ok());
  executor_.RunReady();
  EXPECT_THAT(disk_.log, testing::ElementsAre("data 0", "index 1", "index 1")) << "repeated once";
  EXPECT_EQ(writer_->watermarks(), (dataplane::Watermarks{.received = 1}));
  EXPECT_TRUE(absl::IsInternal(Finish(absl::OkStatus())));
  ASSERT_TRUE(sealed_.has_value());
  EXPECT_EQ(sealed_->blocks, 0u);
}

TEST_F(WriterTest, EndWithHolesIsNotSealedAsWhole) {
  for (const uint64_t i : {0, 1, 4}) ASSERT_TRUE(Push(i).ok());
  ASSERT_TRUE(Finish(absl::OkStatus()).ok());
  EXPECT_EQ(sealed_->state, services::RecordingState::kSalvaged);
  EXPECT_THAT(sealed_->missing, testing::ElementsAre(format::SequenceRange{2, 2}));
}

TEST_F(WriterTest, BlocksTheChannelDoesNotAllowAreRefused) {
  const auto push = [&](dataplane::BlockHeader header) {
    Block block = *pool_->Take();
    block.header() = header;
    const auto reason = services::ReasonOf(writer_->Push(&block).status());
    return reason.has_value() ? reason->reason : "none";
  };
  EXPECT_EQ(push({.payload_bytes = kWriterBlockBytes + 1}), "PROTOCOL_VIOLATION");
  EXPECT_EQ(push({.payload_bytes = 0}), "PROTOCOL_VIOLATION");
  EXPECT_EQ(push({.payload_bytes = 8, .flags = dataplane::kBlockMissing}), "PROTOCOL_VIOLATION");
  EXPECT_EQ(push({.payload_bytes = 8, .flags = dataplane::kBlockDamaged}), "PROTOCOL_VIOLATION");
  EXPECT_EQ(push({.sequence = uint64_t{1} << 60, .payload_bytes = 8}), "PROTOCOL_VIOLATION");
  EXPECT_EQ(push({.payload_bytes = 8}), "none");
}

}  // namespace
}  // namespace tapedeck::storage_node
