#include "storage_node/capture/stream_source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::storage_node::capture {

using dataplane::Flow;

StreamSource::StreamSource(std::unique_ptr<dataplane::Source> first, bool ahead, Next next)
    : ahead_(ahead), next_(std::move(next)) {
  parts_.push_back({.reader = std::move(first)});
}

void StreamSource::Ask() {
  asking_ = true;
  next_(lifetime_.Guard([this](absl::StatusOr<OpenReader> opened) { OnNext(std::move(opened)); }));
}

void StreamSource::OnNext(absl::StatusOr<OpenReader> opened) {
  asking_ = false;
  error_ = opened.status();
  if (opened.ok()) opened_ = *std::move(opened);
  if (waker_) waker_();
}

absl::StatusOr<Flow> StreamSource::GoOn() {
  // What an answer ahead of the end has not found may be there now.
  if (!asking_ && opened_ == nullptr && !std::exchange(asked_at_end_, true)) Ask();
  if (asking_) return Flow::kNotNow;
  TD_RETURN_IF_ERROR(error_);
  ended_ = opened_ == nullptr;
  if (ended_) return Flow::kEnd;
  asked_at_end_ = false;
  auto reader = std::exchange(opened_, nullptr)();
  reader->SetWaker(waker_);
  const Part& last = parts_.back();
  parts_.push_back({.base = last.base + last.blocks, .reader = std::move(reader)});
  return Flow::kMoved;
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
    if (flow == Flow::kMoved && ahead_ && parts_.back().blocks == 1 && !asking_ && !opened_) Ask();
    if (flow != Flow::kEnd) return flow;
    if (ended_) return end;
    TD_ASSIGN_OR_RETURN(const Flow next, GoOn());
    if (next == Flow::kNotNow) return next;
    if (next == Flow::kEnd) return end;
  }
}

void StreamSource::Acknowledge(uint64_t watermark) {
  while (parts_.size() > 1 && parts_[1].base <= watermark) parts_.pop_front();
  for (Part& part : parts_) part.reader->Acknowledge(watermark - std::min(watermark, part.base));
}

absl::Status StreamSource::Reject(const dataplane::BlockHeader& header) {
  const auto after =
      std::ranges::find_if(parts_, [&](const Part& part) { return part.base > header.sequence; });
  if (after == parts_.begin()) {
    return absl::InternalError("the receiving end rejected a block that it had accepted");
  }
  const auto part = std::prev(after);
  dataplane::BlockHeader own = header;
  own.sequence -= part->base;
  return part->reader->Reject(own);
}

absl::StatusOr<Flow> GoneBlocks::Pull(dataplane::Block* block) {
  if (next_ == blocks_) return Flow::kEnd;
  *block = dataplane::Block::Missing({.sequence = next_,
                                      .sample_index = first_sample_ + next_ * block_samples_,
                                      .capture_ns = dataplane::kTimeUnknown,
                                      .flags = dataplane::kBlockMissing});
  ++next_;
  return Flow::kMoved;
}

absl::Status GoneBlocks::Reject(const dataplane::BlockHeader& header) {
  return services::ProtocolViolation(
      {.message = "Resend"},
      absl::StrCat("the peer rejected block ", header.sequence, ", which has no payload"));
}

}  // namespace tapedeck::storage_node::capture
