// A pipeline with a second output: what comes out of both, and that neither harms the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "dataplane/crc/crc32c.h"
#include "services/base/errors.h"
#include "tests/gpu_worker/device/split_device.h"
#include "tests/gpu_worker/ingest/inlet.h"
#include "tests/gpu_worker/pipeline_test.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::Block;
using dataplane::Flow;
using testing::HasSubstr;
using testing::SizeIs;

// The last of a stream is made up with zeros.
constexpr size_t kAverageBytes = 16 * sizeof(float);

struct Both {
  absl::StatusOr<std::vector<Pulled>> first;
  absl::StatusOr<std::vector<Pulled>> second;
};

// As two sessions do.
Both PullBoth(dataplane::Source& first, dataplane::Source& second) {
  Both out;
  std::thread other([&] { out.second = PullAll(second); });
  out.first = PullAll(first);
  other.join();
  return out;
}

std::vector<std::string> PayloadsOf(const std::vector<Pulled>& blocks) {
  std::vector<std::string> out;
  for (const Pulled& block : blocks) out.push_back(block.payload);
  return out;
}

class SecondOutputTest : public PipelineTest {
 protected:
  Both RecordBoth(const TestRecording& test) {
    auto recording = Record(choice_, test, clock_);
    if (!recording.ok()) return {recording.status(), recording.status()};
    origin_ = recording->second_output->origin;
    expected_blocks_ = recording->second_output->expected_blocks;
    return PullBoth(*recording->source, *recording->second_output->source);
  }

  // The second output is what a job of its own makes with the transforms of both, the first what it
  // is without the second.
  void ExpectAsAlone(const TestRecording& test) {
    const Both both = RecordBoth(test);
    ASSERT_TRUE(both.first.ok()) << both.first.status();
    ASSERT_TRUE(both.second.ok()) << both.second.status();
    EXPECT_GE(expected_blocks_, both.second->size());
    services::model::Origin made = origin_;
    EXPECT_EQ(made.beside, "the first");
    made.beside.clear();
    TestRecording alone = test;
    alone.second_output.reset();
    EXPECT_EQ(PayloadsOf(*both.first), PayloadsOf(*RecordAll(alone)));
    alone.datatype = test.second_output->datatype;
    alone.block_bytes = test.second_output->block_bytes;
    alone.blocks = test.blocks == 0 ? 0 : both.second->size();
    alone.transforms.insert(alone.transforms.end(), test.second_output->transforms.begin(),
                            test.second_output->transforms.end());
    const auto blocks = RecordAll(alone);
    ASSERT_TRUE(blocks.ok()) << blocks.status();
    EXPECT_EQ(made, origin_);
    ASSERT_THAT(*both.second, SizeIs(blocks->size()));
    for (size_t i = 0; i < blocks->size(); ++i) {
      const auto& [header, payload] = (*both.second)[i];
      EXPECT_EQ(header.sequence, i);
      EXPECT_EQ(header.sample_index, (*blocks)[i].header.sample_index);
      EXPECT_EQ(header.crc32c, dataplane::Crc32c(std::as_bytes(std::span(payload))));
      // The last one of a job of its own is whole, unless its source has ended, too.
      const bool cut = i + 1 == blocks->size() && payload.size() < (*blocks)[i].payload.size();
      EXPECT_TRUE(!cut || test.blocks != 0);
      const size_t same = payload.size() - (cut ? kAverageBytes : 0);
      EXPECT_EQ(payload.substr(0, same), (*blocks)[i].payload.substr(0, same)) << "block " << i;
      const bool partial = payload.size() < test.second_output->block_bytes;
      EXPECT_EQ(header.flags, partial ? dataplane::kBlockPartial : 0u);
    }
  }
};

// Of its blocks one takes eight of the first's, and a part of one, and several of one.
TEST_P(SecondOutputTest, SpectraAreThoseOfAJobOfTheirOwn) {
  if (!HasFft()) GTEST_SKIP() << "no FFT here";
  for (const uint32_t average : {64, 3, 1, 5}) {
    SCOPED_TRACE(average);
    ExpectAsAlone({.source = Synth(3),
                   .fft = 16,
                   .blocks = 17,
                   .second_output = TestSecondOutput{.transforms = {Power(16, average)}}});
  }
}

TEST_P(SecondOutputTest, ACopyOrATransformInPlaceLeavesTheFirstAsItIs) {
  ExpectAsAlone(
      {.source = Synth(3), .blocks = 5, .second_output = TestSecondOutput{.datatype = "cf32_le"}});
  ExpectAsAlone({.source = Synth(3),
                 .blocks = 5,
                 .second_output = TestSecondOutput{.datatype = "ci16_le",
                                                   .transforms = {Convert("cf32_le", "ci16_le")},
                                                   .block_bytes = 8192}});
  if (!HasFft()) GTEST_SKIP() << "no FFT here";
  ExpectAsAlone(
      {.source = Synth(3),
       .blocks = 5,
       .second_output = TestSecondOutput{
           .datatype = "cf32_le", .transforms = {Fft(64)}, .block_bytes = 2 * kTestBlockBytes}});
}

TEST_P(SecondOutputTest, ALastPartialBlockIsFilledUp) {
  const std::string file = FileOf(Counting(3 * kTestBlockBytes + 1000));
  ExpectAsAlone({.source = FileSource(file),
                 .second_output = TestSecondOutput{.transforms = {Power(16, 64)}}});
  ExpectAsAlone(
      {.source = FileSource(file), .second_output = TestSecondOutput{.transforms = {Power(1, 1)}}});
}

// An average of 32 MiB, four of which are a block: it is made of two pieces. The last average is
// made up with zeros.
TEST_P(SecondOutputTest, ABlockMayTakeMoreThanAWorkerHolds) {
  auto recording = Record(
      choice_,
      {.source = Synth(3),
       .blocks = 130,
       .block_bytes = 1 << 20,
       .second_output = TestSecondOutput{.transforms = {Power(4096, 1024)}, .block_bytes = 65536}},
      clock_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  const auto playback = Play(choice_, {.datatype = "rf32_le",
                                       .sink = Verify(),
                                       .origin = recording->second_output->origin,
                                       .blocks = 2,
                                       .block_bytes = 65536});
  ASSERT_TRUE(playback.ok()) << playback.status();
  EXPECT_THAT(playback->notes, testing::IsEmpty());
  std::thread first([&] { EXPECT_EQ(PullAll(*recording->source)->size(), 130u); });
  const absl::Status status = Pump(*recording->second_output->source, *playback->sink);
  first.join();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(playback->sink->watermarks().received, 2u);
}

TEST_P(SecondOutputTest, OfSpectraAnyOfWhosePartsAreMissingNothingIsMadeUp) {
  Inlet inlet;
  auto work = pipeline::DeviceWork::Create(device(), {.block_bytes = kTestBlockBytes});
  ASSERT_TRUE(work.ok()) << work.status();
  auto tapped = pipeline::DeviceWork::Create(
      device(), {.block_bytes = kTestBlockBytes / 2, .queue = &(*work)->queue()});
  ASSERT_TRUE(tapped.ok()) << tapped.status();
  const auto ring = [&](size_t bytes) {
    return pipeline::MakeRing(device(), dataplane::ladder::Rung::kBounce, 1, 3, bytes).value();
  };
  const auto outlet = std::make_shared<pipeline::Outlet>();
  pipeline::SecondOutputSource second(outlet);
  auto second_output = std::make_unique<pipeline::SecondOutput>(
      pipeline::SecondOutputPlan{.work = *std::move(tapped),
                                 .ring = ring(2 * kTestBlockBytes),
                                 .outlet = outlet,
                                 .main_bytes = kTestBlockBytes,
                                 .bytes_before = kTestBlockBytes / 2,
                                 .piece_bytes = kTestBlockBytes / 2,
                                 .block_bytes = 2 * kTestBlockBytes,
                                 .sample_bytes = 8});
  const auto first =
      pipeline::RecordPipeline::Create({.source = std::make_unique<InletSource>(inlet),
                                        .second_output = std::move(second_output),
                                        .work = *std::move(work),
                                        .ring = ring(kTestBlockBytes),
                                        .clock = &clock_,
                                        .block_bytes = kTestBlockBytes,
                                        .sample_bytes = 8})
          .value();
  for (const size_t bytes :
       {kTestBlockBytes, uint64_t{0}, kTestBlockBytes, kTestBlockBytes, kTestBlockBytes}) {
    inlet.Put({.bytes = bytes});
  }
  inlet.Put({.flow = Flow::kEnd});
  const Both both = PullBoth(*first, second);
  ASSERT_TRUE(both.second.ok()) << both.second.status();
  ASSERT_THAT(*both.first, SizeIs(5));
  ASSERT_THAT(*both.second, SizeIs(3));
  EXPECT_EQ((*both.second)[0].header.flags, dataplane::kBlockMissing);
  EXPECT_EQ((*both.second)[0].header.payload_bytes, 0u);
  EXPECT_EQ((*both.second)[1].header.flags, 0u);
  EXPECT_EQ((*both.second)[1].header.sample_index, 2 * kTestBlockBytes / 8);
  EXPECT_EQ((*both.second)[1].payload,
            std::string(kTestBlockBytes, '\3') + std::string(kTestBlockBytes, '\4'));
  EXPECT_EQ((*both.second)[2].header.flags, dataplane::kBlockPartial);
  EXPECT_EQ((*both.second)[2].payload, std::string(kTestBlockBytes, '\5'));
}

class FullSecondOutputTest : public SecondOutputTest {
 protected:
  static TestRecording Endless() {
    return {.source = Synth(),
            .duration_ns = 3600 * dataplane::kSecondNs,
            .slots = 4,
            .second_output = TestSecondOutput{.transforms = {Power(1, 8)}, .slots = 2}};
  }
};

// One block of the second for each of the first; it has slots for two.
TEST_P(FullSecondOutputTest, TheFirstWaitsForRoomUntilTheSecondIsGone) {
  auto recording = Record(choice_, Endless(), clock_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  pipeline::RecordPipeline& first = *recording->source;
  pipeline::SecondOutputSource& second = *recording->second_output->source;
  Signal of_first;
  Signal of_second;
  first.SetWaker(of_first.waker());
  second.SetWaker(of_second.waker());
  const auto pull = [](dataplane::Source& source, Signal& signal) {
    Block block;
    while (source.Pull(&block).value() == Flow::kNotNow) EXPECT_TRUE(signal.Wait());
    return block.header().sequence;
  };
  EXPECT_EQ(pull(first, of_first), 0u);
  EXPECT_EQ(pull(first, of_first), 1u);
  Block none;
  EXPECT_EQ(first.Pull(&none).value(), Flow::kNotNow);
  EXPECT_EQ(pull(second, of_second), 0u);
  EXPECT_EQ(pull(first, of_first), 2u);
  EXPECT_EQ(first.Pull(&none).value(), Flow::kNotNow);
  recording->second_output->source.reset();
  for (uint64_t i = 3; i < 30; ++i) EXPECT_EQ(pull(first, of_first), i);
}

TEST_P(FullSecondOutputTest, EitherMayGoFirstInFullSwing) {
  for (int i = 0; i < 10; ++i) {
    auto recording = Record(choice_, Endless(), clock_);
    ASSERT_TRUE(recording.ok()) << recording.status();
    Signal signal;
    recording->source->SetWaker(signal.waker());
    Block block;
    while (recording->source->Pull(&block).value() == Flow::kNotNow) ASSERT_TRUE(signal.Wait());
    if (i % 2 == 0) recording->second_output->source.reset();
    recording->source.reset();
    if (i % 2 == 0) continue;
    // What there is of the second is given, and its end.
    const auto rest = PullAll(*recording->second_output->source);
    ASSERT_TRUE(rest.ok()) << rest.status();
    EXPECT_FALSE(rest->empty());
  }
}

TEST_P(SecondOutputTest, AnErrorOfTheSourceEndsBothBehindWhatWasMade) {
  const std::string path = FileOf(Counting(6 * kTestBlockBytes));
  auto recording = Record(choice_,
                          {.datatype = "cu8",
                           .source = FileSource(path),
                           .slots = 2,
                           .second_output = TestSecondOutput{.datatype = "cu8"}},
                          clock_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  std::filesystem::resize_file(path, kTestBlockBytes);
  const Both both = PullBoth(*recording->source, *recording->second_output->source);
  EXPECT_EQ(services::ReasonOf(both.first.status())->reason, "FILE_INVALID");
  EXPECT_EQ(both.second.status(), both.first.status());
}

TEST_P(SecondOutputTest, WhatDoesNotFitIsRefusedByName) {
  const struct {
    TestSecondOutput second_output;
    const char* reason;
    const char* text;
  } rows[] = {
      {{.datatype = "cf32_le", .transforms = {{"detect", {{"threshold", 0.0}}}}},
       "ARGUMENT_INVALID",
       "detect triggers a channel that is recorded into; a second output triggers nothing"},
      {{.transforms = {Power(16, 2), Power(16, 2)}}, "ARGUMENT_INVALID", "power gives rf32_le"},
      {{.transforms = {Convert("cu8", "rf32_le")}}, "ARGUMENT_INVALID", "takes cu8"},
      {{.datatype = "cf32_le", .transforms = {Power(16, 2)}},
       "ARGUMENT_INVALID",
       "power gives rf32_le, the second channel takes cf32_le"},
      {{.datatype = "rf32_le"},
       "ARGUMENT_INVALID",
       "the channel gives cf32_le, the second channel takes rf32_le"},
      {{.transforms = {Power(16, 65536)}}, "ARGUMENT_INVALID", "average less"},
      {{.transforms = {Power(48, 2)}}, "ARGUMENT_INVALID", "whole averages"},
      {{.datatype = "cf33"}, "DATATYPE_INVALID", "cf33"},
      {{.datatype = "cf32_le", .block_bytes = 5000}, "BLOCK_SIZE_INVALID", "4096"},
  };
  for (const auto& row : rows) {
    const absl::Status status =
        Record(choice_, {.source = Synth(), .blocks = 1, .second_output = row.second_output},
               clock_)
            .status();
    ASSERT_TRUE(services::ReasonOf(status).has_value()) << status << row.text;
    EXPECT_EQ(services::ReasonOf(status)->reason, row.reason) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.text));
  }
}

// One ring on a device out of the CPU's reach, the other in host memory.
TEST(SplitSecondOutputTest, RingsMayLieApart) {
  using dataplane::ladder::Rung;
  const pipeline::DeviceChoice choice = ChooseSplitDevice();
  const dataplane::SystemClock clock;
  for (const Rung rung : {Rung::kBounce, Rung::kPeerMemory}) {
    const Rung other = rung == Rung::kBounce ? Rung::kPeerMemory : Rung::kBounce;
    auto recording =
        Record(choice,
               {.source = Synth(3),
                .blocks = 9,
                .rung = rung,
                .second_output = TestSecondOutput{.transforms = {Power(16, 5)}, .rung = other}},
               clock);
    ASSERT_TRUE(recording.ok()) << recording.status();
    const Both both = PullBoth(*recording->source, *recording->second_output->source);
    ASSERT_TRUE(both.second.ok()) << both.second.status();
    ASSERT_THAT(*both.first, SizeIs(9));
    for (const auto* blocks : {&*both.first, &*both.second}) {
      for (const auto& [header, payload] : *blocks) {
        ASSERT_EQ(header.crc32c, dataplane::Crc32c(std::as_bytes(std::span(payload))));
      }
    }
    auto alone = Record(choice,
                        {.datatype = "rf32_le",
                         .source = Synth(3),
                         .transforms = {Power(16, 5)},
                         .blocks = both.second->size() - 1,
                         .block_bytes = 4096},
                        clock);
    ASSERT_TRUE(alone.ok()) << alone.status();
    auto made = PayloadsOf(*both.second);
    made.pop_back();  // it is short
    EXPECT_EQ(made, PayloadsOf(*PullAll(*alone->source)));
  }
}

TAPEDECK_ON_EVERY_DEVICE(SecondOutputTest);
TAPEDECK_ON_EVERY_DEVICE(FullSecondOutputTest);

}  // namespace
}  // namespace tapedeck::gpu_worker
