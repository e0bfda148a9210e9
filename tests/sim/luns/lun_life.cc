#include "tests/sim/luns/lun_life.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "dataplane/crc/crc32c.h"

namespace tapedeck::sim {

using namespace storage_node;  // NOLINT: the names under test
namespace {

constexpr size_t kRecordingsAtOnce = 2;
constexpr uint64_t kLongestRecording = 14;

}  // namespace

LunLife::LunLife(FaultDisk& disk, store::Store& store, const Room& room, Ledger* ledger,
                 uint64_t seed)
    : lun_(disk, store, room, ledger, seed) {
  lun_.SetLook([this] { WriteDown(); });
}

std::vector<Moment> LunLife::Run(uint64_t takes) {
  takes_left_ = takes;
  EXPECT_TRUE(lun_.executor().RunUntil([this] {
    Turn();
    return takes_left_ == 0 && writing_.empty();
  }));
  return lun_.TakeMoments();
}

void LunLife::WriteDown() {
  for (const Writing& writing : writing_) {
    uint64_t& acknowledged = writing.take->acknowledged;
    acknowledged = std::max(acknowledged, writing.writer->watermarks().durable);
  }
}

void LunLife::Turn() {
  for (Writing& writing : writing_) Step(writing);
  writing_.remove_if(
      [](const Writing& writing) { return writing.take->state != Take::State::kOpen; });
  if (takes_left_ > 0 && writing_.size() < kRecordingsAtOnce && lun_.Random() % 16 == 0) Begin();
  if (lun_.Random() % 512 == 0) DeleteAny();
}

void LunLife::Begin() {
  const uint64_t blocks = 1 + lun_.Random() % kLongestRecording;
  Take take;
  take.manifest.block_bytes = lun_.BlockBytes();
  auto made = lun_.Make(take, blocks);
  if (absl::IsResourceExhausted(made.status())) return;
  ASSERT_TRUE(made.ok()) << made.status();
  --takes_left_;
  writing_.push_back({.take = made->take,
                      .blocks = blocks,
                      .ring = lun_.MakeRing(take.manifest.block_bytes),
                      .writer = std::move(made->recording.writer)});
}

void LunLife::Step(Writing& writing) {
  Take& take = *writing.take;
  EXPECT_TRUE(writing.writer->status().ok()) << writing.writer->status();
  const uint64_t sequence = take.came.size();
  if (sequence == writing.blocks) {
    (void)writing.writer->Finish(absl::OkStatus());
    return;
  }
  if (lun_.Random() % 4 != 0) return;
  auto block = writing.ring->Take();
  if (!block.has_value()) return;
  block->header() = {.sequence = sequence,
                     .payload_bytes = static_cast<uint32_t>(take.manifest.block_bytes)};
  FillBlock(take.stream, sequence, block->payload());
  block->header().crc32c = dataplane::Crc32c(block->payload());
  take.came.insert(sequence);
  const auto flow = writing.writer->Push(&*block);
  EXPECT_TRUE(flow.ok() && *flow == dataplane::Flow::kMoved) << "block " << sequence;
}

void LunLife::DeleteAny() {
  std::vector<Take*> closed;
  for (auto& [number, take] : lun_.ledger()) {
    if (take.state == Take::State::kClosed && !take.wanted) closed.push_back(&take);
  }
  if (closed.empty()) return;
  const absl::Status status = lun_.Delete(*closed[lun_.Random() % closed.size()]);
  ASSERT_TRUE(status.ok()) << status;
}

}  // namespace tapedeck::sim
