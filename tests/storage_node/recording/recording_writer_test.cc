// Commit, watermarks and errors of the writer, over a store whose every operation the test answers.
#include "storage_node/recording/recording_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <set>

#include "dataplane/crc32c.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "services/errors.h"
#include "storage_node/format/limits.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::storage_node {
namespace {

using dataplane::Block;

constexpr uint64_t kWriterBlockBytes = 64 << 10;
const uint64_t kEntryBytes = format::EntryFormat::Of(kWriterBlockBytes, 0).entry_bytes;

// What the files were asked to do, in order, and answers still owed. The test owns it.
struct Disk {
  std::vector<std::string> log;
  std::list<std::pair<std::string, dataplane::Task>> owed;
  std::list<absl::Status> failures;  // of the next block writes
  absl::Status flush_failure;
  absl::Status index_failure;
  std::set<std::string> held;  // operations whose answers the test gives itself
};

class ScriptedFiles final : public store::RecordingFiles {
 public:
  ScriptedFiles(Disk& disk, dataplane::Executor& executor) : disk_(disk), executor_(executor) {}

  void WriteBlock(format::Place place, Block block, store::BlockDone done) override {
    disk_.log.push_back("data " + std::to_string(place.offset / kWriterBlockBytes));
    absl::Status status;
    if (!disk_.failures.empty()) {
      status = disk_.failures.front();
      disk_.failures.pop_front();
    }
    if (status.ok()) block.Reset();
    executor_.Post([status, block = std::move(block), done = std::move(done)]() mutable {
      done(status, std::move(block));
    });
  }
  bool ReadBlock(format::Place, uint32_t, dataplane::SlotPool&, store::BlockRead) override {
    return false;
  }
  void Flush(store::Done done) override { Answer("flush", std::move(done), disk_.flush_failure); }
  void Trim(std::vector<uint64_t>, uint64_t, store::Done done) override {
    Answer("trim", std::move(done));
  }
  uint32_t index_copies() const override { return 1; }
  void WriteIndex(uint32_t, uint64_t offset, store::Bytes bytes, store::Done done) override {
    const bool entries = offset >= format::kEntriesOffset;
    Answer(entries ? "index " + std::to_string(bytes.size() / kEntryBytes)
                   : (offset == 0 ? "header" : "watermark"),
           std::move(done), entries ? disk_.index_failure : absl::OkStatus());
  }
  void ReadIndex(uint32_t, uint64_t, size_t, store::BytesRead) override {}
  void WriteManifest(std::string text, store::Done done) override {
    Answer(text.find("RECORDING") != std::string::npos ? "manifest" : "sealed", std::move(done));
  }
  void ReadManifest(uint32_t, store::TextRead) override {}

 private:
  void Answer(const std::string& what, store::Done done, absl::Status status = absl::OkStatus()) {
    disk_.log.push_back(what);
    dataplane::Task answer = [status = std::move(status), done = std::move(done)]() mutable {
      done(status);
    };
    if (disk_.held.contains(what)) {
      disk_.owed.emplace_back(what, std::move(answer));
    } else {
      executor_.Post(std::move(answer));
    }
  }

  Disk& disk_;
  dataplane::Executor& executor_;
};

class WriterTest : public testing::Test {
 protected:
  void SetUp() override {
    pool_ = *dataplane::MemoryPool::Create(*dataplane::host::Create(16 * kWriterBlockBytes),
                                           kWriterBlockBytes);
    MakeWriter();
    executor_.RunReady();
    disk_.log.clear();
  }

  void MakeWriter(uint64_t capacity_bytes = 0) {
    writer_ = std::make_unique<recording::RecordingWriter>(
        recording::WriterOptions{
            .name = "luns/l/channels/c/recordings/r",
            .manifest = {.id = "r", .members = 1, .block_bytes = kWriterBlockBytes},
            .ring_slots = 16,
            .capacity = std::make_shared<recording::Capacity>(capacity_bytes),
            .live = std::make_shared<recording::LiveRecording>(),
            .on_sealed =
                [this](const format::Manifest& m, const std::function<void()>& done) {
                  sealed_ = m;
                  done();
                },
            .verifier = verifier_},
        std::make_unique<ScriptedFiles>(disk_, executor_), executor_);
  }

  // Gives the answers that are owed, with all else done before.
  void AnswerOwed() {
    executor_.RunReady();
    disk_.held.clear();
    ASSERT_FALSE(disk_.owed.empty());
    for (auto& [what, answer] : disk_.owed) answer();
    disk_.owed.clear();
    executor_.RunReady();
  }

  absl::Status Push(uint64_t sequence) {
    Block block = *pool_->Take();
    block.header() = {.sequence = sequence, .payload_bytes = kWriterBlockBytes};
    return writer_->Push(&block).status();
  }

  absl::Status Finish(const absl::Status& cause) {
    absl::StatusOr<dataplane::Flow> flow = dataplane::Flow::kNotNow;
    executor_.RunUntil([&] {
      flow = writer_->Finish(cause);
      return !flow.ok() || *flow == dataplane::Flow::kEnd;
    });
    return flow.status();
  }

  ManualExecutor executor_;
  Disk disk_;
  std::shared_ptr<dataplane::MemoryPool> pool_;
  const std::shared_ptr<recording::WriteVerifier> verifier_ =
      std::make_shared<recording::WriteVerifier>([n = uint64_t{0}]() mutable { return ++n; });
  std::optional<format::Manifest> sealed_;
  std::unique_ptr<recording::RecordingWriter> writer_;
};

TEST_F(WriterTest, DataThenIndexThenFlushThenWatermark) {
  ASSERT_TRUE(Push(0).ok());
  EXPECT_EQ(writer_->watermarks(), (dataplane::Watermarks{.received = 1}));
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks(),
            (dataplane::Watermarks{.received = 1, .written = 1, .durable = 1}));
  EXPECT_THAT(disk_.log, testing::ElementsAre("data 0", "index 1", "flush"));
  bool later = false;
  executor_.PostAfter(60 * dataplane::kMillisecondNs, [&] { later = true; });
  executor_.RunUntil([&] { return later; });
  ASSERT_TRUE(Push(1).ok());
  executor_.RunReady();
  EXPECT_EQ(disk_.log.back(), "watermark");
}

TEST_F(WriterTest, DurableNeverPassesWhatTheFlushCovered) {
  disk_.held = {"flush"};
  ASSERT_TRUE(Push(0).ok());
  executor_.RunReady();
  ASSERT_TRUE(Push(1).ok());
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks(),
            (dataplane::Watermarks{.received = 2, .written = 2, .durable = 0}));
  ASSERT_EQ(disk_.owed.size(), 1u) << "one flush at a time";
  disk_.held.clear();
  disk_.owed.front().second();
  EXPECT_EQ(writer_->watermarks().durable, 1u);
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks().durable, 2u);
}

TEST_F(WriterTest, SlowFlushesAreSharedButNeverWaitLongerThanThePeriod) {
  disk_.held = {"flush"};
  ASSERT_TRUE(Push(0).ok());
  executor_.RunReady();
  // The flush takes a second: from now on the longest wait applies.
  bool later = false;
  executor_.PostAfter(dataplane::kSecondNs, [&] { later = true; });
  executor_.RunUntil([&] { return later; });
  disk_.owed.front().second();
  disk_.owed.clear();
  disk_.held.clear();
  executor_.RunReady();
  const int64_t written_ns = executor_.clock().NowNs();
  ASSERT_TRUE(Push(1).ok());
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks().durable, 1u) << "waits for company";
  executor_.RunUntil([&] { return writer_->watermarks().durable == 2; });
  EXPECT_EQ(executor_.clock().NowNs() - written_ns, recording::kFlushPeriodNs);
}

TEST_F(WriterTest, HalfTheRingUnflushedDoesNotWait) {
  disk_.held = {"flush"};
  ASSERT_TRUE(Push(0).ok());
  executor_.RunReady();
  bool later = false;
  executor_.PostAfter(dataplane::kSecondNs, [&] { later = true; });
  executor_.RunUntil([&] { return later; });
  disk_.owed.front().second();
  disk_.held.clear();
  executor_.RunReady();
  for (uint64_t i = 1; i <= 7; ++i) ASSERT_TRUE(Push(i).ok());
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks().durable, 1u);
  ASSERT_TRUE(Push(8).ok());
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks().durable, 9u);
}

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
