// Which samples a sink gets, to the sample.
#include "gpu_worker/pace/block_assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "services/base/errors.h"
#include "tests/gpu_worker/pace/blocks.h"

namespace tapedeck::gpu_worker::pace {
namespace {

using dataplane::kBlockDamaged;
using dataplane::kBlockMissing;
using dataplane::kBlockPartial;
using dataplane::kTimeUnknown;
using services::model::SampleRange;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<BlockAssembler> Make(const Plan& plan, const SinkTraits& sink = kSink) {
  return MakeAssembler(plan, sink).value();
}

Plan Range(uint64_t first, uint64_t end) { return {.range = SampleRange{first, end}}; }

Plan Loop(uint64_t first, uint64_t end, uint64_t turns) {
  return {.range = SampleRange{first, end}, .loop = true, .loop_count = turns};
}

// All that it gives now: the first sample and how many, of each piece.
std::vector<std::pair<uint64_t, uint64_t>> Given(BlockAssembler& assembler) {
  std::vector<std::pair<uint64_t, uint64_t>> pieces;
  for (const Piece* piece = assembler.Next(); piece != nullptr; piece = assembler.Next()) {
    EXPECT_EQ(assembler.Next(), piece) << "the same one until Pop";
    EXPECT_EQ(piece->header.sequence, pieces.size());
    EXPECT_EQ(piece->header.payload_bytes, piece->payload.size());
    EXPECT_EQ(SamplesOf(piece->payload), Samples(piece->header.sample_index, piece->samples));
    const bool partial = (piece->header.flags & kBlockPartial) != 0;
    EXPECT_EQ(partial, piece->samples < kBlockSamples);
    pieces.emplace_back(piece->header.sample_index, piece->samples);
    assembler.Pop();
  }
  return pieces;
}

std::string FieldOf(const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  if (!reason.has_value() || reason->reason != "ARGUMENT_INVALID") return status.ToString();
  return reason->metadata.at("field");
}

TEST(RangeAssembler, BeginsAndEndsWithinBlocks) {
  Blocks blocks;
  const auto assembler = Make(Range(3, 27));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(assembler->sated());
    ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
  }
  EXPECT_TRUE(assembler->sated());
  EXPECT_THAT(Given(*assembler),
              ElementsAre(std::pair(3, 10), std::pair(13, 10), std::pair(23, 4)));
  EXPECT_EQ(blocks.done, 3);
  ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
  EXPECT_EQ(blocks.done, 4) << "not wanted";
  EXPECT_TRUE(assembler->End().ok());
}

// Each piece has the time of its own first sample, not that of the block which has it.
TEST(RangeAssembler, EachPieceHasTheTimeOfItsFirstSample) {
  SinkTraits sink = kSink;
  sink.sample_rate = 1e6;
  const auto times = [&](const Plan& plan, int64_t begin_ns, double rate) {
    sink.sample_rate = rate;
    Blocks blocks;
    const auto assembler = Make(plan, sink);
    for (int i = 0; i < 3; ++i) {
      Arrived block = blocks.Next();
      block.header.capture_ns = begin_ns == kTimeUnknown ? begin_ns : begin_ns + i * 10'000;
      EXPECT_TRUE(assembler->Add(std::move(block)).ok());
    }
    std::vector<int64_t> told;
    for (const Piece* piece = assembler->Next(); piece != nullptr && told.size() < 3;
         piece = assembler->Next()) {
      told.push_back(piece->header.capture_ns);
      assembler->Pop();
    }
    return told;
  };
  EXPECT_THAT(times(Range(3, 27), 500'000, 1e6), ElementsAre(503'000, 513'000, 523'000));
  EXPECT_THAT(times(Range(10, 20), 500'000, 1e6), ElementsAre(510'000));
  EXPECT_THAT(times(Range(3, 4), kTimeUnknown, 1e6), ElementsAre(kTimeUnknown));
  EXPECT_THAT(times(Range(3, 4), 500'000, 0), ElementsAre(kTimeUnknown));
  EXPECT_THAT(times(Loop(3, 17, 2), 500'000, 1e6), ElementsAre(503'000, 513'000, 509'000));
}

TEST(RangeAssembler, CountsWhatIsMissingOfTheRangeAlone) {
  Blocks blocks;
  const auto assembler = Make(Range(13, 27));
  for (const uint32_t flags :
       std::array<uint32_t, 4>{kBlockMissing, 0, kBlockMissing, kBlockMissing}) {
    ASSERT_TRUE(assembler->Add(blocks.Next(kBlockSamples, flags)).ok());
  }
  EXPECT_EQ(assembler->lost(), 1u) << "blocks 0 and 3 were not asked for";
}

TEST(RangeAssembler, GivesWholeBlocksWhereTheyAre) {
  Blocks blocks;
  const auto assembler = Make(Range(10, 30));
  const std::byte* second = nullptr;
  for (int i = 0; i < 3; ++i) {
    Arrived block = blocks.Next();
    if (i == 1) second = block.payload.data();
    ASSERT_TRUE(assembler->Add(std::move(block)).ok());
  }
  EXPECT_EQ(blocks.done, 1);
  EXPECT_EQ(assembler->Next()->payload.data(), second);
  EXPECT_THAT(Given(*assembler), ElementsAre(std::pair(10, 10), std::pair(20, 10)));
}

TEST(RangeAssembler, WaitsForAWholeBlockAndEndsWithTheRecording) {
  Blocks blocks;
  const auto assembler = Make(Range(3, UINT64_MAX));
  ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
  EXPECT_EQ(assembler->Next(), nullptr);
  ASSERT_TRUE(assembler->Add(blocks.Next(/*samples=*/6)).ok());
  EXPECT_THAT(Given(*assembler), ElementsAre(std::pair(3, 10)));
  EXPECT_EQ(assembler->Next(), nullptr);
  ASSERT_TRUE(assembler->End().ok());
  ASSERT_NE(assembler->Next(), nullptr);
  EXPECT_EQ(SamplesOf(assembler->Next()->payload), Samples(13, 3));
  EXPECT_EQ(assembler->Next()->header.flags, kBlockPartial);
  assembler->Pop();
  EXPECT_EQ(blocks.done, 2);
}

TEST(RangeAssembler, ARangeWithinOneBlock) {
  Blocks blocks(100);
  const auto assembler = Make(Range(103, 105));
  ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
  EXPECT_THAT(Given(*assembler), ElementsAre(std::pair(103, 2)));
}

TEST(RangeAssembler, BeginsWithTheRecordingWhereThatBeginsLater) {
  Blocks blocks(50);
  const auto assembler = Make(Range(0, 55));
  ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
  EXPECT_THAT(Given(*assembler), ElementsAre(std::pair(50, 5)));
}

TEST(RangeAssembler, ASampleBeforeTheRecordingIsRefused) {
  Blocks blocks(50);
  const absl::Status status = Make(Range(49, 55))->Add(blocks.Next());
  EXPECT_EQ(FieldOf(status), "playhead");
  EXPECT_THAT(std::string(status.message()), HasSubstr("begins at sample 50"));
}

TEST(RangeAssembler, WhatIsBeyondTheRecordingIsNamed) {
  for (const auto& [first, end, field] :
       {std::tuple(uint64_t{20}, UINT64_MAX, "playhead"), {0, 21, "pacing.end_sample"}}) {
    Blocks blocks;
    const auto assembler = Make(Range(first, end));
    ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
    ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
    const absl::Status status = assembler->End();
    EXPECT_EQ(FieldOf(status), field);
    EXPECT_THAT(std::string(status.message()), HasSubstr("ends before sample 20"));
  }
  EXPECT_EQ(FieldOf(Make(Range(0, 5))->End()), "playhead") << "nothing came";
  Blocks later(20);
  EXPECT_EQ(FieldOf(Make(Range(0, 20))->Add(later.Next())), "pacing.end_sample");
}

TEST(RangeAssembler, AMissingBlockTakesThoseThatOverlapIt) {
  for (const bool damaged : {false, true}) {
    Blocks blocks;
    SinkTraits sink = kSink;
    sink.damaged_blocks = damaged;
    const auto assembler = Make(Range(5, 40), sink);
    for (const uint32_t flags : {0u, uint32_t{kBlockMissing}, 0u, 0u}) {
      Arrived block = blocks.Next(kBlockSamples, flags);
      if (flags != 0) block.header.sample_index = 0;  // as where the index cannot be read
      ASSERT_TRUE(assembler->Add(std::move(block)).ok());
    }
    for (const uint64_t first : {5, 15}) {
      const Piece* piece = assembler->Next();
      EXPECT_EQ(piece->header.sample_index, first);
      EXPECT_EQ(piece->samples, 10u);
      EXPECT_EQ(piece->header.flags, damaged ? kBlockDamaged : kBlockMissing);
      EXPECT_EQ(piece->payload.size(), damaged ? 20u : 0u);
      if (damaged && first == 5) {
        EXPECT_THAT(SamplesOf(piece->payload), ElementsAre(5, 6, 7, 8, 9, 0, 0, 0, 0, 0));
      }
      assembler->Pop();
    }
    EXPECT_EQ(SamplesOf(assembler->Next()->payload), Samples(25));
  }
}

TEST(RangeAssembler, AHoleThatNobodyTellsOfIsAnError) {
  Blocks blocks;
  const auto assembler = Make(Range(0, 100));
  ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
  blocks.Next();
  EXPECT_TRUE(absl::IsDataLoss(assembler->Add(blocks.Next())));
  Arrived absurd = blocks.Next();
  absurd.header.sample_index = UINT64_MAX - 3;
  EXPECT_TRUE(absl::IsDataLoss(Make(Range(0, 100))->Add(std::move(absurd))));
}

TEST(WholeAssembler, GivesWhatComesAsItIs) {
  Blocks blocks(7);
  const auto assembler = Make({});
  ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
  Arrived missing = blocks.Next(kBlockSamples, kBlockMissing);
  ASSERT_TRUE(assembler->Add(std::move(missing)).ok());
  const Piece* piece = assembler->Next();
  EXPECT_EQ(piece->header.sample_index, 7u);
  assembler->Pop();
  piece = assembler->Next();
  EXPECT_EQ(piece->samples, kBlockSamples);
  EXPECT_TRUE(piece->payload.empty());
  assembler->Pop();
  EXPECT_EQ(assembler->Next(), nullptr);
  EXPECT_FALSE(assembler->sated());
  EXPECT_EQ(blocks.done, 2);
}

// What a loop gives, one sample after the other.
std::vector<uint16_t> AllOf(BlockAssembler& assembler, uint64_t* turns) {
  std::vector<uint16_t> all;
  for (const Piece* piece = assembler.Next(); piece != nullptr; piece = assembler.Next()) {
    const auto samples = SamplesOf(piece->payload);
    all.insert(all.end(), samples.begin(), samples.end());
    *turns = piece->turns;
    assembler.Pop();
  }
  return all;
}

TEST(LoopAssembler, AThousandTurnsWithoutASeam) {
  constexpr uint64_t kFirst = 7;
  constexpr uint64_t kLength = 12'345;
  constexpr uint64_t kTurns = 1000;
  Blocks blocks;
  const auto assembler = Make(Loop(kFirst, kFirst + kLength, kTurns));
  while (!assembler->sated()) {
    EXPECT_EQ(assembler->Next(), nullptr);
    ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
  }
  uint64_t turns = 0;
  const std::vector<uint16_t> all = AllOf(*assembler, &turns);
  ASSERT_EQ(all.size(), kLength * kTurns);
  const auto turn = Samples(kFirst, kLength);
  for (uint64_t i = 0; i < kTurns; ++i) {
    ASSERT_TRUE(std::equal(turn.begin(), turn.end(), all.begin() + static_cast<long>(i * kLength)))
        << "turn " << i;
  }
  EXPECT_EQ(turns, kTurns);
}

TEST(LoopAssembler, ALoopThatIsShorterThanABlock) {
  Blocks blocks;
  const auto assembler = Make(Loop(4, 7, 5));
  ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
  EXPECT_EQ(blocks.done, 0) << "the storage node is to wait";
  const Piece* piece = assembler->Next();
  EXPECT_THAT(SamplesOf(piece->payload), ElementsAre(4, 5, 6, 4, 5, 6, 4, 5, 6, 4));
  EXPECT_EQ(piece->turns, 3u);
  assembler->Pop();
  piece = assembler->Next();
  EXPECT_THAT(SamplesOf(piece->payload), ElementsAre(5, 6, 4, 5, 6));
  EXPECT_EQ(piece->header.flags, kBlockPartial);
  assembler->Pop();
  EXPECT_EQ(assembler->Next(), nullptr);
  EXPECT_EQ(blocks.done, 1);
}

TEST(LoopAssembler, GoesOnUntilNobodyAsks) {
  Blocks blocks;
  const auto assembler = Make(Loop(0, 10, /*turns=*/0));
  ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
  ASSERT_TRUE(assembler->Add(blocks.Next()).ok()) << "more than it needs";
  EXPECT_TRUE(assembler->End().ok());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_NE(assembler->Next(), nullptr);
    ASSERT_EQ(SamplesOf(assembler->Next()->payload), Samples(0));
    assembler->Pop();
  }
}

TEST(LoopAssembler, WhatIsNotThereIsNamed) {
  Blocks later(20);
  EXPECT_EQ(FieldOf(Make(Loop(4, 30, 1))->Add(later.Next())), "pacing.loop");
  Blocks blocks;
  const auto assembler = Make(Loop(4, 11, 1));
  ASSERT_TRUE(assembler->Add(blocks.Next()).ok());
  EXPECT_EQ(FieldOf(assembler->End()), "pacing.loop");
  EXPECT_TRUE(absl::IsDataLoss(assembler->Add(blocks.Next(kBlockSamples, kBlockMissing))));
}

}  // namespace
}  // namespace tapedeck::gpu_worker::pace
