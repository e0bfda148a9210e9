#include "dataplane/transfer/checked_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane {

void CheckedSource::SetWaker(Waker waker) {
  {
    absl::MutexLock lock(&results_->mutex);
    results_->waker = waker;
  }
  inner_.SetWaker(std::move(waker));
}

absl::StatusOr<Flow> CheckedSource::Pull(Block* block) {
  while (true) {
    Computed result;
    while (TakeResult(&result)) {
      TD_ASSIGN_OR_RETURN(const bool good, IsGood(result));
      if (!good) continue;
      *block = std::move(result.block);
      return Flow::kMoved;
    }
    if (under_way_ >= PayloadCrc::kMaxUnderWay) return Flow::kNotNow;
    Block next;
    TD_ASSIGN_OR_RETURN(const Flow flow, inner_.Pull(&next));
    // A block under way may yet be rejected and come again.
    if (flow == Flow::kEnd && under_way_ > 0) return Flow::kNotNow;
    if (flow != Flow::kMoved) return flow;
    if ((next.header().flags & kBlockMissing) != 0) {
      *block = std::move(next);
      return Flow::kMoved;
    }
    Start(std::move(next));
  }
}

void CheckedSource::Start(Block block) {
  ++under_way_;
  {
    absl::MutexLock lock(&results_->mutex);
    results_->looked_for = true;
  }
  const std::span<const std::byte> payload = block.payload();
  const auto held = std::make_shared<Block>(std::move(block));  // std::function must be copyable
  crc_.Compute(payload, [results = results_, held](absl::StatusOr<uint32_t> crc) {
    absl::MutexLock lock(&results->mutex);
    results->queue.push_back({std::move(*held), std::move(crc)});
    if (results->waker && !results->looked_for) results->waker();
  });
}

bool CheckedSource::TakeResult(Computed* result) {
  absl::MutexLock lock(&results_->mutex);
  results_->looked_for = false;
  if (results_->queue.empty()) return false;
  *result = std::move(results_->queue.front());
  results_->queue.pop_front();
  --under_way_;
  return true;
}

absl::StatusOr<bool> CheckedSource::IsGood(Computed& result) {
  TD_RETURN_IF_ERROR(result.crc.status());
  const BlockHeader header = result.block.header();
  if (*result.crc == header.crc32c) {
    trail_.Stamp(flight::Kind::kChecked, {.sequence = header.sequence});
    rejects_.erase(header.sequence);
    return true;
  }
  result.block.Reset();
  ++counters_.crc_errors;
  const int rejects = ++rejects_[header.sequence];
  const std::string what = absl::StrFormat("block %d: CRC32C is %08x, its header says %08x",
                                           header.sequence, *result.crc, header.crc32c);
  if (rejects >= kMaxRejects) {
    return absl::DataLossError(absl::StrCat(what, ", ", rejects, " times in a row"));
  }
  Log(LogLevel::kWarning, "dataplane", what, {{"action", "requested the block again"}});
  TD_RETURN_IF_ERROR(inner_.Reject(header));
  return false;
}

}  // namespace tapedeck::dataplane
