#include "storage_node/stream_source.h"

#include <algorithm>
#include <utility>

#include "dataplane/status_macros.h"

namespace tapedeck::storage_node {

using dataplane::Flow;

StreamSource::StreamSource(std::unique_ptr<dataplane::Source> first, Next next)
    : next_(std::move(next)) {
  parts_.push_back({.reader = std::move(first)});
}

void StreamSource::SetWaker(dataplane::Waker waker) {
  waker_ = std::move(waker);
  for (Part& part : parts_) part.reader->SetWaker(waker_);
}

absl::StatusOr<Flow> StreamSource::PullFrom(Part& part, dataplane::Block* block) {
  TD_ASSIGN_OR_RETURN(const Flow flow, part.reader->Pull(block));
  if (flow != Flow::kMoved) return flow;
  part.blocks = std::max(part.blocks, block->header().sequence + 1);
  block->header().sequence += part.base;
  return flow;
}

absl::StatusOr<Flow> StreamSource::Pull(dataplane::Block* block) {
  // An ended reader gives what was rejected.
  Flow end = Flow::kEnd;
  for (size_t i = 0; i + 1 < parts_.size(); ++i) {
    TD_ASSIGN_OR_RETURN(const Flow flow, PullFrom(parts_[i], block));
    if (flow == Flow::kMoved) return flow;
    if (flow == Flow::kNotNow) end = flow;
  }
  while (true) {
    TD_ASSIGN_OR_RETURN(const Flow flow, PullFrom(parts_.back(), block));
    if (flow != Flow::kEnd) return flow;
    if (ended_) return end;
    TD_ASSIGN_OR_RETURN(auto reader, next_());
    ended_ = reader == nullptr;
    if (ended_) return end;
    reader->SetWaker(waker_);
    const Part& last = parts_.back();
    parts_.push_back({.base = last.base + last.blocks, .reader = std::move(reader)});
  }
}

void StreamSource::Acknowledge(uint64_t watermark) {
  while (parts_.size() > 1 && parts_[1].base <= watermark) parts_.pop_front();
  for (Part& part : parts_) part.reader->Acknowledge(watermark - std::min(watermark, part.base));
}

absl::Status StreamSource::Reject(const dataplane::BlockHeader& header) {
  const auto after =
      std::ranges::find_if(parts_, [&](const Part& part) { return part.base > header.sequence; });
  if (after == parts_.begin()) return absl::InternalError("a block was rejected that was accepted");
  const auto part = std::prev(after);
  dataplane::BlockHeader own = header;
  own.sequence -= part->base;
  return part->reader->Reject(own);
}

}  // namespace tapedeck::storage_node
