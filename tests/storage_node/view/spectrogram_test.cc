// What pictures show of samples that are known, on every kind of store.
#include <gmock/gmock.h>

#include <thread>

#include "tests/storage_node/view/view_fixture.h"

namespace tapedeck::storage_node::view {
namespace {

using services::SampleSpan;

constexpr uint64_t kBlocks = 24;
constexpr uint64_t kGap = 8;  // and the three after it

class ViewTest : public testing::TestWithParam<StoreCase> {
 protected:
  // A tone 5/64 of the rate above the middle, 6.02 dB below full scale, with a gap; the last block
  // has a quarter.
  void SetUp() override {
    auto recorder = node_.Record();
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < kBlocks; ++i) {
      auto payload = Tone(i, 5.0 / 64, 0.5f, i + 1 == kBlocks ? kBlockSamples / 4 : kBlockSamples);
      if (i >= kGap && i < kGap + 4) payload.clear();
      payloads_.insert(payloads_.end(), payload.begin(), payload.end());
      if (payload.empty()) payloads_.resize(payloads_.size() + kBlockBytes);
      Push(*recorder, i, payload);
    }
    ASSERT_TRUE(recorder->Finish().ok());
    name_ = recorder->admission.accept.recording;
  }

  services::ViewControl& view() { return node_.node().view(); }
  services::Spectrogram Spectrogram(const services::SpectrogramRequest& request) {
    auto made = view().ReadSpectrogram(request);
    EXPECT_TRUE(made.ok()) << made.status();
    return made.value_or(services::Spectrogram());
  }

  NodeFixture node_{GetParam().store, GetParam().members, 64 << 20, 256 << 20};
  std::string name_;
  std::vector<std::byte> payloads_;  // zeros where the gap is
};

constexpr uint64_t kSamples = (kBlocks - 1) * kBlockSamples + kBlockSamples / 4;

TEST_P(ViewTest, ATimelineSaysWhatThereIs) {
  const auto timeline = view().GetTimeline(name_);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  EXPECT_EQ(timeline->state, services::RecordingState::kSealed);
  EXPECT_EQ(timeline->samples, kSamples);
  EXPECT_EQ(timeline->durable_samples, kSamples);
  EXPECT_EQ(timeline->block_samples, kBlockSamples);
  EXPECT_EQ(timeline->datatype, "cf32_le");
  EXPECT_EQ(timeline->sample_rate, 1e9);
  EXPECT_THAT(timeline->gaps,
              testing::ElementsAre(SampleSpan{kGap * kBlockSamples, 4 * kBlockSamples}));
  EXPECT_EQ(timeline->gaps_total, 1u);
  ASSERT_EQ(timeline->captures.size(), 2u);
  EXPECT_EQ(timeline->captures[0].time_ns, 1);
  EXPECT_EQ(timeline->captures[1].sample, (kGap + 4) * kBlockSamples);
  EXPECT_EQ(timeline->captures[1].stream_sample, (kGap + 4) * kBlockSamples);
  // By the start and the rate: a sample lasts 1 ns.
  EXPECT_EQ(timeline->start_time_ns, 1);
  EXPECT_EQ(timeline->captures[1].time_ns, static_cast<int64_t>(1 + (kGap + 4) * kBlockSamples));
}

TEST_P(ViewTest, AToneIsInItsColumnWithItsLevelAndAGapIsAGap) {
  const auto made = Spectrogram({.recording = name_,
                                 .span = {.first = 0, .count = (kBlocks - 1) * kBlockSamples},
                                 .columns = 64,
                                 .rows = kBlocks - 1});
  ASSERT_EQ(made.rows, kBlocks - 1);
  // All of them, which overlap by a half, with half of one in the next row.
  EXPECT_EQ(made.transforms_per_row, kBlockSamples / 32 + 1);
  EXPECT_EQ(made.samples_per_row, double{kBlockSamples});
  EXPECT_EQ(made.damaged_pieces, 0u);
  for (uint32_t row = 0; row < made.rows; ++row) {
    if (row >= kGap && row < kGap + 4) {
      EXPECT_TRUE(std::isnan(At(made, row, 0)) && std::isnan(At(made, row, 63))) << row;
      continue;
    }
    EXPECT_EQ(Loudest(made, row), 32u + 5) << row;
    EXPECT_NEAR(At(made, row, 37), -6.02, 0.1) << row;
    EXPECT_LT(At(made, row, 32), -90) << row;
    EXPECT_LT(At(made, row, 32 - 5), -90) << row;
  }
}

// Rows that show less than a transform takes still have whole ones.
TEST_P(ViewTest, ADeepZoomShowsTheSameTone) {
  const auto made = Spectrogram({.recording = name_,
                                 .span = {.first = kSamples - 100, .count = 100},
                                 .columns = 1024,
                                 .rows = 200});
  ASSERT_EQ(made.rows, 200u);
  EXPECT_EQ(made.samples_per_row, 0.5);
  for (const uint32_t row : {0u, 100u, 199u}) EXPECT_EQ(Loudest(made, row), 512u + 5 * 16);
  EXPECT_LE(made.bytes_read, 5u * 4096 + 4096);
}

TEST_P(ViewTest, SamplesAreThoseOfTheFile) {
  for (const SampleSpan span :
       {SampleSpan{0, 1}, SampleSpan{3, 1000}, SampleSpan{kPieceSamples - 1, 2},
        SampleSpan{kBlockSamples - 7, 65536}, SampleSpan{kSamples - 5, 5}}) {
    const auto raw = view().ReadSamples({.recording = name_, .span = span, .raw = true});
    ASSERT_TRUE(raw.ok()) << raw.status();
    const auto* from = reinterpret_cast<const char*>(payloads_.data()) + span.first * 8;
    EXPECT_EQ(raw->bytes, std::string(from, span.count * 8)) << span.first;
    EXPECT_EQ(raw->datatype, "cf32_le");
    // They are of that type already.
    const auto floats = view().ReadSamples({.recording = name_, .span = span});
    ASSERT_TRUE(floats.ok()) << floats.status();
    EXPECT_EQ(floats->bytes, raw->bytes);
    EXPECT_EQ(floats->missing, raw->missing);
  }
  const SampleSpan around{kGap * kBlockSamples - 10, 20};
  const auto made = view().ReadSamples({.recording = name_, .span = around});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(made->missing, testing::ElementsAre(SampleSpan{kGap * kBlockSamples, 10}));
}

TEST_P(ViewTest, AnEnvelopeHasTheBoundsAndTheGap) {
  const auto made = view().ReadEnvelope({.recording = name_,
                                         .span = {.first = 0, .count = kBlocks / 2 * kBlockSamples},
                                         .points = kBlocks / 2});
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(made->powers.size(), kBlocks / 2);
  for (size_t i = 0; i < made->powers.size(); ++i) {
    const bool gap = i >= kGap;
    EXPECT_EQ(std::isnan(made->powers[i]), gap) << i;
    if (gap) continue;
    EXPECT_NEAR(made->minima[i], -0.5, 0.01);
    EXPECT_NEAR(made->maxima[i], 0.5, 0.01);
    EXPECT_NEAR(made->powers[i], 0.25, 1e-4);
  }
}

TEST_P(ViewTest, WhatIsBeyondTheEndIsRefused) {
  const auto reason = [&](const SampleSpan& span) {
    const absl::Status status =
        view()
            .ReadSpectrogram({.recording = name_, .span = span, .columns = 64, .rows = 1})
            .status();
    EXPECT_EQ(status.ok() || absl::IsInvalidArgument(status), true) << status;
    return Reason(status);
  };
  EXPECT_EQ(reason({.first = kSamples, .count = 0}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.first = 1, .count = kSamples}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.first = 1, .count = UINT64_MAX}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.first = kSamples - 1, .count = 1}), "none");
  EXPECT_EQ(reason({.first = kSamples - 1, .count = 0}), "none");
  const std::string other = std::string(kChannel) + "/recordings/none";
  EXPECT_EQ(Reason(view().GetTimeline(other).status()), "RECORDING_NOT_FOUND");
}

TEST_P(ViewTest, ManyAtTheSameTimeSeeTheSame) {
  const services::SpectrogramRequest request{.recording = name_, .columns = 128, .rows = 40};
  const auto alone = Spectrogram(request);
  std::vector<services::Spectrogram> made(12);
  {
    std::vector<std::jthread> threads;
    for (auto& one : made) threads.emplace_back([&] { one = Spectrogram(request); });
  }
  for (const auto& one : made) {
    ASSERT_EQ(one.powers.size(), alone.powers.size());
    EXPECT_EQ(
        std::memcmp(one.powers.data(), alone.powers.data(), alone.powers.size() * sizeof(float)),
        0);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, ViewTest, testing::ValuesIn(kStores), NameOfCase);

}  // namespace
}  // namespace tapedeck::storage_node::view
