// What is read for pictures of any size: little enough, within the recording, of every row.
#include "storage_node/view/plan.h"

#include <gtest/gtest.h>

#include <set>

namespace tapedeck::storage_node::view {
namespace {

using services::SampleSpan;

Extent ExtentOf(uint64_t block_bytes, uint64_t sample_bytes, uint64_t samples) {
  const uint64_t block_samples = block_bytes / sample_bytes;
  return {.sample_bytes = sample_bytes,
          .block_samples = block_samples,
          .piece_samples = format::PieceBytesOf(block_bytes) / sample_bytes,
          .blocks = (samples + block_samples - 1) / block_samples,
          .samples = samples};
}

// Pieces that the parts lie in.
uint64_t BytesOf(const Plan& plan, const Extent& extent) {
  std::set<std::pair<uint64_t, uint64_t>> pieces;
  for (const Part& part : plan.parts) {
    for (uint64_t sample = part.span.first; sample < part.span.end(); sample += 1) {
      const uint64_t block = sample / extent.block_samples;
      const uint64_t piece = sample % extent.block_samples / extent.piece_samples;
      pieces.emplace(block, piece);
      const uint64_t next = block * extent.block_samples + (piece + 1) * extent.piece_samples;
      sample = std::min(next, (block + 1) * extent.block_samples) - 1;
    }
  }
  return pieces.size() * extent.piece_samples * extent.sample_bytes;
}

uint64_t SamplesOf(const Plan& plan) {
  uint64_t samples = 0;
  for (const Part& part : plan.parts) samples += part.span.count;
  return samples;
}

void ExpectSound(const Plan& plan, const Extent& extent, uint32_t rows) {
  EXPECT_LE(plan.rows, rows);
  EXPECT_GE(plan.rows, 1u);
  EXPECT_LE(BytesOf(plan, extent), uint64_t{60} << 20);
  std::vector<uint32_t> of_row(plan.rows);
  for (const Part& part : plan.parts) {
    ASSERT_LT(part.row, plan.rows);
    EXPECT_LE(part.span.end(), extent.samples);
    EXPECT_GT(part.span.count, 0u);
    ++of_row[part.row];
  }
  for (uint32_t row = 0; row < plan.rows; ++row) EXPECT_GE(of_row[row], 1u) << row;
}

TEST(PlanTest, EveryPictureOfEveryRecordingIsWithinItsBounds) {
  for (const uint64_t block_bytes : {64 << 10, 68 << 10, 1 << 20, 8 << 20}) {
    for (const uint64_t sample_bytes : {1, 8, 16}) {
      for (const uint64_t samples : {uint64_t{1}, uint64_t{5000}, uint64_t{100'000'000},
                                     (uint64_t{1} << 40) / sample_bytes + 77}) {
        const Extent extent = ExtentOf(block_bytes, sample_bytes, samples);
        for (const uint32_t rows : {1u, 7u, 512u, 2048u}) {
          SCOPED_TRACE(testing::Message()
                       << block_bytes << " " << sample_bytes << " " << samples << " " << rows);
          for (const SampleSpan span : {SampleSpan{0, samples}, SampleSpan{samples / 2, 1},
                                        SampleSpan{samples / 3, samples - samples / 3}}) {
            const uint64_t length = std::min<uint64_t>(samples, 4096);
            const Plan plan = PlanTransforms(
                extent, span, rows, {.length = length, .hop = std::max<uint64_t>(length / 2, 1)});
            ExpectSound(plan, extent, rows);
            EXPECT_LE(SamplesOf(plan), 2 * kMostTransformed + 3 * length * plan.rows);
            EXPECT_LE(plan.covered, span.count);
            ExpectSound(PlanStretches(extent, span, rows), extent, rows);
          }
        }
      }
    }
  }
}

// Whatever the number of bins, parts hold whole spectra, and all of a short recording.
TEST(PlanTest, SpectraArePlannedWhole) {
  for (const uint64_t bins : {2, 1000, 6000, 8192, 65536}) {
    const uint64_t block_samples = 24'576'000;  // a multiple of each, but the greatest two
    for (const uint64_t spectra : {uint64_t{3}, uint64_t{100}, uint64_t{10'000'000}}) {
      for (const uint32_t rows : {1u, 64u, 2048u}) {
        SCOPED_TRACE(testing::Message() << bins << " " << spectra << " " << rows);
        Extent extent = ExtentOf(8 << 20, 8, spectra * bins);
        extent.block_samples = block_samples / bins * bins;
        const Plan plan = PlanTransforms(extent, {.first = 0, .count = spectra * bins}, rows,
                                         {.length = bins, .hop = bins, .grid = bins});
        ExpectSound(plan, extent, rows);
        for (const Part& part : plan.parts) {
          EXPECT_EQ(part.span.first % bins, 0u);
          EXPECT_EQ(part.span.count % bins, 0u);
        }
        const bool little = spectra * bins <= (1 << 20);
        EXPECT_TRUE(!little || SamplesOf(plan) >= spectra * bins);
        EXPECT_LE(plan.covered, spectra * bins);
        EXPECT_LE(SamplesOf(plan), 2 * kMostTransformed + bins * 64);
      }
    }
  }
}

// Of a few rows of a long recording as much is read as of many.
TEST(PlanTest, FewRowsHoldAsMuchAsMany) {
  const Extent extent = ExtentOf(1 << 20, 8, uint64_t{1} << 37);
  for (const uint32_t rows : {1u, 24u, 240u, 512u}) {
    const Plan plan = PlanTransforms(extent, {.first = 0, .count = extent.samples}, rows,
                                     {.length = 256, .hop = 128});
    EXPECT_GE(BytesOf(plan, extent), uint64_t{30} << 20) << rows;
    for (const Part& part : plan.parts) {
      const double row = static_cast<double>(extent.samples) / plan.rows;
      EXPECT_GE(static_cast<double>(part.span.first), part.row * row);
      EXPECT_LE(static_cast<double>(part.span.end()), (part.row + 1) * row);
    }
  }
}

// Small samples are more than may be transformed, though not more than may be read.
TEST(PlanTest, PartsLieInTheirRowsWhereTheTransformsAreBounded) {
  const Extent extent = ExtentOf(1 << 20, 1, 12'000'000);
  for (const uint32_t rows : {1u, 24u, 240u, 512u}) {
    const Plan plan = PlanTransforms(extent, {.first = 0, .count = extent.samples}, rows,
                                     {.length = 256, .hop = 128});
    EXPECT_LE(SamplesOf(plan), kMostTransformed + 256 * plan.parts.size());
    EXPECT_GE(SamplesOf(plan), kMostTransformed / 2);
    const double row = static_cast<double>(extent.samples) / plan.rows;
    const auto piece = static_cast<double>(extent.piece_samples);
    for (const Part& part : plan.parts) {
      EXPECT_GE(static_cast<double>(part.span.first), part.row * row - piece);
      EXPECT_LE(static_cast<double>(part.span.end()), (part.row + 1) * row + piece);
    }
  }
}

// Where it is little, all of it counts.
TEST(PlanTest, AllSamplesOfAShortSpanAreOfSomePoint) {
  const Extent extent = ExtentOf(1 << 20, 8, 1'000'000);
  const Plan plan = PlanStretches(extent, {.first = 3, .count = 999'990}, 1000);
  uint64_t next = 3;
  for (const Part& part : plan.parts) {
    EXPECT_EQ(part.span.first, next);
    next = part.span.end();
  }
  EXPECT_EQ(next, 999'993u);
}

}  // namespace
}  // namespace tapedeck::storage_node::view
