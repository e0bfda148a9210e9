#include "tests/sim/luns/stream_life.h"

#include <gtest/gtest.h>

#include <iterator>
#include <utility>

namespace tapedeck::sim {

using namespace storage_node;  // NOLINT: the names under test
namespace {

constexpr size_t kStreamsAtOnce = 2;

}  // namespace

StreamLife::StreamLife(FaultDisk& disk, store::Store& store, const Room& room, Ledger* ledger,
                       uint64_t seed, Fired* fired)
    : disk_(disk),
      fired_(*fired),
      lun_(disk, store, room, ledger, seed),
      faults_(lun_.Random(), fired),
      keeping_(lun_, fired) {
  lun_.SetLook([this] {
    for (const auto& stream : streams_) stream->WriteDown();
  });
  lun_.SetFault([this](const std::string& operation, uint32_t member) {
    return faults_.Next(operation, member, lun_.deleting());
  });
  disk_.completion = [this](bool, size_t bytes) { return faults_.Completion(bytes); };
  // A slow disk: several segments wait to be closed.
  if (OneIn(2)) {
    disk_.stall_ns = [this] {
      return static_cast<int64_t>(lun_.Random() % dataplane::kMillisecondNs);
    };
  }
}

std::vector<Moment> StreamLife::Run(uint64_t streams) {
  streams_left_ = streams;
  EXPECT_TRUE(lun_.executor().RunUntil([this] {
    Turn();
    return (streams_left_ == 0 && streams_.empty() && keeping_.idle()) ||
           testing::Test::HasFailure();
  })) << "a stream hangs";
  return lun_.TakeMoments();
}

void StreamLife::Turn() {
  for (const auto& stream : streams_) stream->Turn();
  EndStreams();
  if (streams_left_ > 0 && streams_.size() < kStreamsAtOnce && OneIn(16)) Begin();
  if (!streams_.empty() && OneIn(400)) {
    keeping_.Fire(
        **std::next(streams_.begin(), static_cast<ptrdiff_t>(lun_.Random() % streams_.size())));
  }
  keeping_.Turn();
  if (OneIn(400)) keeping_.ReleaseOne();
}

StreamPlan StreamLife::MakePlan() {
  constexpr uint64_t kTurns[] = {4, 8, 24};
  StreamPlan plan{.blocks = 1 + lun_.Random() % 48,
                  .segment_blocks = 2 + lun_.Random() % 4,
                  .block_bytes = lun_.BlockBytes(),
                  .window = 1 + lun_.Random() % 32,
                  .turns_per_wake = kTurns[lun_.Random() % std::size(kTurns)],
                  .trigger_blocks = 1 + lun_.Random() % 12};
  if (OneIn(3)) plan.lost_at = lun_.Random() % plan.blocks;
  return plan;
}

void StreamLife::Begin() {
  --streams_left_;
  auto stream = SegmentedStream::Create(lun_, keeping_.triggers(), MakePlan(), &fired_);
  if (stream.ok()) {
    ++fired_["stream"];
    streams_.push_back(*std::move(stream));
    return;
  }
  ++fired_["stream refused"];
  EXPECT_TRUE(absl::IsResourceExhausted(stream.status()) || !faults_.none()) << stream.status();
  keeping_.ReleaseOne();
}

void StreamLife::EndStreams() {
  for (auto stream = streams_.begin(); stream != streams_.end();) {
    if (!(*stream)->done()) {
      ++stream;
      continue;
    }
    (*stream)->CheckEnd(faults_.none());
    keeping_.OnEnd(**stream);
    stream = streams_.erase(stream);
  }
}

}  // namespace tapedeck::sim
