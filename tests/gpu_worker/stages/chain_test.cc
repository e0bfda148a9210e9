#include "gpu_worker/pipeline/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/base/errors.h"

namespace tapedeck::gpu_worker::pipeline {
namespace {

using testing::ElementsAre;

stages::ChosenTransform Made(const std::string& name, const stages::Description& description) {
  return {.name = name, .description = description, .create = {}};
}

const stages::ChosenTransform kSpectrum =
    Made("spectrum", {.takes = "cf32_le", .gives = "cf32_le"});
const stages::ChosenTransform kMean =
    Made("mean", {.takes = "cf32_le", .gives = "rf32_le", .samples_for_one = 6, .in_place = false});
const stages::ChosenTransform kPack =
    Made("pack", {.takes = "rf32_le", .gives = "ri8", .in_place = false});
const stages::ChosenTransform kAnything = Made("anything", {});

constexpr uint64_t kBlock = 4096;

TEST(ChainTest, ARecordingsBlocksAreFilledExactly) {
  const ChainEnd source{.name = "radio", .datatype = "cf32_le"};
  const ChainEnd channel{.name = "the channel", .datatype = "ri8"};
  const auto chain =
      RecordChain(source, std::vector{kSpectrum, kMean, kAnything, kPack}, channel, kBlock);
  ASSERT_TRUE(chain.ok()) << chain.status();
  EXPECT_THAT(chain->block_bytes,
              ElementsAre(48 * kBlock, 48 * kBlock, 4 * kBlock, 4 * kBlock, kBlock));
  EXPECT_EQ(chain->takes, "cf32_le");
  EXPECT_EQ(chain->gives, "ri8");
  EXPECT_EQ(chain->samples_for_one, 6u);
}

TEST(ChainTest, WithoutTransformsNothingChanges) {
  const auto chain =
      RecordChain({.name = "file"}, {}, {.name = "the channel", .datatype = "ci16_le"}, kBlock);
  ASSERT_TRUE(chain.ok()) << chain.status();
  EXPECT_THAT(chain->block_bytes, ElementsAre(kBlock));
  EXPECT_EQ(chain->takes, "ci16_le");
  EXPECT_EQ(chain->gives, "ci16_le");
}

TEST(ChainTest, APlaybacksBlocksShrinkAndGrow) {
  const ChainEnd recording{.name = "the recording", .datatype = "cf32_le"};
  const auto chain = PlaybackChain(recording, std::vector{kMean, kPack}, 3 * kBlock);
  ASSERT_TRUE(chain.ok()) << chain.status();
  EXPECT_THAT(chain->block_bytes, ElementsAre(3 * kBlock, kBlock / 4, kBlock / 16));
  EXPECT_EQ(chain->gives, "ri8");
  EXPECT_EQ(PlaybackChain(recording, std::vector{kMean}, kBlock).status().message(),
            "mean: a block of 4096 bytes does not hold whole samples of 48 bytes");
}

void ExpectRefused(const absl::Status& status, const std::string& text) {
  ASSERT_TRUE(services::ReasonOf(status).has_value()) << text;
  EXPECT_EQ(services::ReasonOf(status)->reason, "ARGUMENT_INVALID");
  EXPECT_EQ(services::ReasonOf(status)->metadata.at("field"), "transforms");
  EXPECT_EQ(status.message(), text);
}

TEST(ChainTest, WhatDoesNotFitIsNamed) {
  const ChainEnd radio{.name = "radio", .datatype = "ci16_le"};
  const ChainEnd channel{.name = "the channel", .datatype = "cf32_le"};
  ExpectRefused(CheckOrder(std::vector{kMean, kAnything, kSpectrum}),
                "anything gives rf32_le, spectrum takes cf32_le");
  EXPECT_TRUE(CheckOrder(std::vector{kSpectrum, kMean, kPack}).ok());
  ExpectRefused(RecordChain(radio, std::vector{kSpectrum}, channel, kBlock).status(),
                "radio gives ci16_le, spectrum takes cf32_le");
  ExpectRefused(RecordChain({.name = "file"}, std::vector{kMean}, channel, kBlock).status(),
                "mean gives rf32_le, the channel takes cf32_le");
  ExpectRefused(RecordChain(radio, {}, channel, kBlock).status(),
                "radio gives ci16_le, the channel takes cf32_le");
  ExpectRefused(PlaybackChain(radio, std::vector{kPack}, kBlock).status(),
                "radio gives ci16_le, pack takes rf32_le");
}

TEST(ChainTest, ABlockThatIsTooLargeIsRefused) {
  const ChainEnd channel{.name = "the channel", .datatype = "rf32_le"};
  const uint64_t most = uint64_t{64} << 20;
  EXPECT_TRUE(RecordChain({}, std::vector{kMean}, channel, most / 12 / 4 * 4).ok());
  ExpectRefused(RecordChain({}, std::vector{kMean}, channel, most / 12 / 4 * 4 + 4).status(),
                "mean: a block would become 67108896 bytes, above the worker's limit of "
                "67108864; average less, or give the channel smaller blocks");
}

}  // namespace
}  // namespace tapedeck::gpu_worker::pipeline
