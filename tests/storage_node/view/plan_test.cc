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
            const Plan plan = PlanTransforms(extent, span, rows, length);
            ExpectSound(plan, extent, rows);
            EXPECT_LE(plan.parts.size(), plan.rows * kMostParts);
            ExpectSound(PlanStretches(extent, span, rows), extent, rows);
          }
        }
      }
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
