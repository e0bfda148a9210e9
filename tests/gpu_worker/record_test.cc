#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <span>

#include "dataplane/crc/crc32c.h"
#include "gpu_worker/pipeline/record_pipeline.h"
#include "gpu_worker/stages/synth/source.h"
#include "services/base/errors.h"
#include "tests/bytes.h"
#include "tests/gpu_worker/pipeline_test.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::Flow;
using testing::HasSubstr;
using testing::SizeIs;

constexpr int64_t kHourNs = 3600 * dataplane::kSecondNs;

// Pulls and drops to the end, and counts.
absl::Status Drain(pipeline::RecordPipeline& source, Signal& signal, size_t* blocks = nullptr) {
  while (true) {
    dataplane::Block block;
    const absl::StatusOr<Flow> flow = source.Pull(&block);
    if (!flow.ok()) return flow.status();
    if (*flow == Flow::kEnd) return absl::OkStatus();
    if (*flow == Flow::kMoved && blocks != nullptr) ++*blocks;
    if (*flow == Flow::kNotNow && !signal.Wait()) return absl::DeadlineExceededError("no waker");
  }
}

class RecordTest : public PipelineTest {
 protected:
  // By blocks made one by one and several at once.
  void ExpectTheSameAtOnce(TestRecording test) {
    test.slots = 32;
    const auto alone = RecordAll(test);
    ASSERT_TRUE(alone.ok()) << alone.status();
    test.run = 8;
    const auto at_once = RecordAll(test);
    ASSERT_TRUE(at_once.ok()) << at_once.status();
    ASSERT_EQ(at_once->size(), alone->size());
    for (size_t i = 0; i < alone->size(); ++i) {
      const auto& [header, payload] = (*at_once)[i];
      EXPECT_EQ(header.sequence, i);
      EXPECT_EQ(header.sample_index, (*alone)[i].header.sample_index);
      EXPECT_EQ(header.flags, (*alone)[i].header.flags) << i;
      EXPECT_EQ(header.crc32c, dataplane::Crc32c(std::as_bytes(std::span(payload)))) << i;
      EXPECT_EQ(payload, (*alone)[i].payload) << i;
    }
  }
};

TEST_P(RecordTest, BlocksMadeAtOnceAreTheSame) {
  ExpectTheSameAtOnce({.source = Synth(5), .blocks = 83});  // not whole runs
  if (HasFft()) ExpectTheSameAtOnce({.source = Synth(5), .fft = 512, .blocks = 83});
}

TEST_P(RecordTest, AFileReadAtOnceEndsWhereItEnds) {
  for (const size_t bytes : {kTestBlockBytes * 16, kTestBlockBytes * 11, kTestBlockBytes * 9 + 8}) {
    ExpectTheSameAtOnce({.source = FileSource(FileOf(Counting(bytes)))});
  }
}

TEST_P(RecordTest, HeadersAreComplete) {
  const int64_t before_ns = clock_.WallNs();
  const auto blocks = RecordAll({.source = Synth(5), .blocks = 30, .slots = 4});
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_THAT(*blocks, SizeIs(30));
  EXPECT_EQ(expected_blocks_, 30u);
  const size_t samples = kTestBlockBytes / 8;
  std::vector<stages::synth::Complex> made(samples);
  const stages::synth::Generator generator(stages::synth::WaveformOf({.seed = 5}));
  for (size_t i = 0; i < blocks->size(); ++i) {
    const auto& [header, payload] = (*blocks)[i];
    EXPECT_EQ(header.sequence, i);
    EXPECT_EQ(header.sample_index, i * samples);
    EXPECT_EQ(header.payload_bytes, kTestBlockBytes);
    EXPECT_EQ(header.flags, 0u);
    EXPECT_GE(header.capture_ns, i == 0 ? before_ns : (*blocks)[i - 1].header.capture_ns);
    EXPECT_LE(header.capture_ns, clock_.WallNs());
    EXPECT_EQ(header.crc32c, dataplane::Crc32c(std::as_bytes(std::span(payload))));
    generator.Make(i * samples, made);
    EXPECT_TRUE(SameBytes(std::as_bytes(std::span(payload)), std::as_bytes(std::span(made))))
        << "block " << i;
  }
}

TEST_P(RecordTest, TheRingBoundsWhatIsUnderWay) {
  auto recording = Record(choice_, {.source = Synth(), .duration_ns = kHourNs, .slots = 3}, clock_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  pipeline::RecordPipeline& source = *recording->source;
  Signal signal;
  source.SetWaker(signal.waker());
  std::vector<dataplane::Block> held(4);
  for (size_t i = 0; i < 3; ++i) {
    while (source.Pull(&held[i]).value() == Flow::kNotNow) ASSERT_TRUE(signal.Wait());
  }
  EXPECT_EQ(source.Pull(&held[3]).value(), Flow::kNotNow);
  held[0].Reset();
  while (source.Pull(&held[3]).value() == Flow::kNotNow) ASSERT_TRUE(signal.Wait());
  EXPECT_EQ(held[3].header().sequence, 3u);
  EXPECT_EQ(recording->expected_blocks, 0u);
}

TEST_P(RecordTest, StopEndsAnEndlessSource) {
  auto recording = Record(choice_, {.source = Synth(), .duration_ns = kHourNs, .slots = 2}, clock_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  pipeline::RecordPipeline& source = *recording->source;
  Signal signal;
  source.SetWaker(signal.waker());
  dataplane::Block block;
  while (source.Pull(&block).value() == Flow::kNotNow) ASSERT_TRUE(signal.Wait());
  source.Stop();
  block.Reset();
  EXPECT_TRUE(Drain(source, signal).ok());
}

// Every look at the clock takes 100 ms.
class SteppingClock final : public dataplane::Clock {
 public:
  int64_t NowNs() const override { return now_ns_ += 100 * dataplane::kMillisecondNs; }
  int64_t WallNs() const override { return now_ns_; }

 private:
  mutable std::atomic<int64_t> now_ns_ = 0;
};

TEST_P(RecordTest, DurationCountsFromTheFirstBlock) {
  const SteppingClock clock;
  auto recording = Record(choice_, {.source = Synth(), .duration_ns = dataplane::kSecondNs}, clock);
  ASSERT_TRUE(recording.ok()) << recording.status();
  const auto blocks = PullAll(*recording->source);
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  // Looks that find no slot take their time too.
  EXPECT_LE(blocks->size(), 10u);
  EXPECT_GE(blocks->size(), 4u);
}

TEST_P(RecordTest, AFilePassesThroughWithItsLastPartialBlock) {
  const std::string bytes = Counting(3 * kTestBlockBytes + 1001);
  const auto blocks =
      RecordAll({.datatype = "ci16_le", .source = FileSource(FileOf(bytes)), .slots = 2});
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_THAT(*blocks, SizeIs(4));
  EXPECT_EQ(expected_blocks_, 4u);
  EXPECT_EQ(Joined(*blocks), bytes);
  EXPECT_EQ((*blocks)[2].header.flags, 0u);
  EXPECT_EQ((*blocks)[3].header.flags, dataplane::kBlockPartial);
  EXPECT_EQ((*blocks)[3].header.payload_bytes, 1001u);
  EXPECT_EQ((*blocks)[3].header.sample_index, 3 * kTestBlockBytes / 4);
  for (const Pulled& block : *blocks) {
    EXPECT_EQ(block.header.capture_ns, dataplane::kTimeUnknown) << "nobody knows it";
  }
  EXPECT_EQ(origin_.source.name, "file");
  EXPECT_EQ(origin_.datatype, "ci16_le");
}

TEST_P(RecordTest, AFileOfWholeBlocksHasNoPartialOne) {
  const std::string bytes = Counting(2 * kTestBlockBytes);
  const auto blocks = RecordAll({.datatype = "cu8", .source = FileSource(FileOf(bytes))});
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_THAT(*blocks, SizeIs(2));
  EXPECT_EQ((*blocks)[1].header.flags, 0u);
  EXPECT_EQ(Joined(*blocks), bytes);
}

TEST_P(RecordTest, ALoopGoesOnWithoutASeam) {
  const std::string bytes = Counting(1000);
  const auto blocks = RecordAll(
      {.datatype = "cu8", .source = FileSource(FileOf(bytes), /*loop=*/true), .blocks = 3});
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_THAT(*blocks, SizeIs(3));
  const std::string all = Joined(*blocks);
  ASSERT_EQ(all.size(), 3 * kTestBlockBytes);
  EXPECT_EQ((*blocks)[0].header.capture_ns, dataplane::kTimeUnknown);
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], bytes[i % bytes.size()]) << i;
}

TEST_P(RecordTest, AFileThatShrinksEndsInAnErrorAfterWhatWasRead) {
  const std::string path = FileOf(Counting(6 * kTestBlockBytes));
  auto recording =
      Record(choice_, {.datatype = "cu8", .source = FileSource(path), .slots = 2}, clock_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  std::filesystem::resize_file(path, kTestBlockBytes);
  pipeline::RecordPipeline& source = *recording->source;
  Signal signal;
  source.SetWaker(signal.waker());
  size_t blocks = 0;
  const absl::Status status = Drain(source, signal, &blocks);
  EXPECT_EQ(blocks, 1u);
  ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
  EXPECT_EQ(services::ReasonOf(status)->reason, "FILE_INVALID");
}

TEST_P(RecordTest, DestroyingAPipelineInFullSwingIsClean) {
  for (int i = 0; i < 10; ++i) {
    auto recording =
        Record(choice_, {.source = Synth(), .duration_ns = kHourNs, .slots = 6}, clock_);
    ASSERT_TRUE(recording.ok()) << recording.status();
    Signal signal;
    recording->source->SetWaker(signal.waker());
    dataplane::Block block;
    while (recording->source->Pull(&block).value() == Flow::kNotNow) ASSERT_TRUE(signal.Wait());
    recording->source.reset();
    EXPECT_EQ(block.header().sequence, 0u);
  }
}

TEST_P(RecordTest, WrongRequestsSayWhatIsWrong) {
  const std::string file = FileOf(Counting(100'000));
  const std::string empty = ScratchPath("empty");
  WriteFile(empty, "");
  const std::string meta = ScratchPath("x.sigmf-meta");
  WriteFile(meta, R"({"global": {"core:datatype": "ri16_le"}})");
  const std::string orphan = ScratchPath("orphan.sigmf-meta");
  WriteFile(orphan, R"({"global": {"core:datatype": "ri16_le"}})");
  WriteFile(ScratchPath("x.sigmf-data"), "1234");
  const std::string stereo = ScratchPath("stereo.sigmf-meta");
  WriteFile(stereo, R"({"global": {"core:datatype": "cu8", "core:num_channels": 2}})");
  WriteFile(ScratchPath("stereo.sigmf-data"), "1234");
  const std::string archive = ScratchPath("x.sigmf");
  WriteFile(archive, "a tar");
  const struct {
    TestRecording test;
    const char* reason;
    const char* text;
  } rows[] = {
      {{.datatype = "cf33", .source = Synth(), .blocks = 1}, "DATATYPE_INVALID", "cf33"},
      {{.datatype = "cu8", .source = Synth(), .blocks = 1},
       "ARGUMENT_INVALID",
       "synth gives cf32_le, the channel takes cu8"},
      {{.datatype = "rf32_le", .source = Synth(), .fft = 16, .blocks = 1},
       "ARGUMENT_INVALID",
       "fft gives cf32_le, the channel takes rf32_le"},
      {{.source = Synth(), .transforms = {Power(16, 2)}, .blocks = 1},
       "ARGUMENT_INVALID",
       "power gives rf32_le, the channel takes cf32_le"},
      {{.datatype = "rf32_le", .source = Synth(), .transforms = {Power(16, 513)}, .blocks = 1},
       "ARGUMENT_INVALID",
       "average less"},
      {{.datatype = "rf32_le", .source = Synth(), .transforms = {Power(48, 2)}, .blocks = 1},
       "ARGUMENT_INVALID",
       "whole averages"},
      {{.source = {"synth", {{"noise", -1}}}, .blocks = 1}, "ARGUMENT_INVALID", "noise"},
      {{.source = Synth()}, "ARGUMENT_INVALID", "limit"},
      {{.source = FileSource("/a", /*loop=*/true)}, "ARGUMENT_INVALID", "limit"},
      {{.source = Synth(), .fft = 1000, .blocks = 1}, "ARGUMENT_INVALID", "fft"},
      {{.source = Synth(), .fft = 65536, .blocks = 1}, "ARGUMENT_INVALID", "whole transforms"},
      {{.source = Synth(), .blocks = 1, .block_bytes = 5000}, "BLOCK_SIZE_INVALID", "4096"},
      {{.source = FileSource("/nowhere/at all")}, "FILE_NOT_FOUND", "/nowhere/at all"},
      {{.source = FileSource("/")}, "FILE_INVALID", "regular"},
      {{.source = FileSource(empty)}, "FILE_INVALID", "no samples"},
      {{.datatype = "cu8", .source = FileSource(meta)}, "FILE_INVALID", "holds ri16_le"},
      {{.datatype = "cu8", .source = FileSource(stereo)}, "FILE_INVALID", "num_channels: 2"},
      {{.datatype = "cu8", .source = FileSource(archive)}, "FILE_INVALID", "is an archive"},
      {{.datatype = "ri16_le", .source = FileSource(orphan)}, "FILE_NOT_FOUND", "sigmf-data"},
  };
  for (const auto& row : rows) {
    const absl::Status status = Record(choice_, row.test, clock_).status();
    ASSERT_FALSE(status.ok()) << row.text;
    ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
    EXPECT_EQ(services::ReasonOf(status)->reason, row.reason) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.text));
  }
}

TAPEDECK_ON_EVERY_DEVICE(RecordTest);

}  // namespace
}  // namespace tapedeck::gpu_worker
