#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/pace/assemblers.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::pace {

using dataplane::BlockHeader;

namespace {

absl::Status Beyond(const services::model::SampleRange& loop, absl::string_view what) {
  return services::ArgumentInvalid(
      "pacing.loop", absl::StrCat("pacing.loop: from sample ", loop.first, " to before ", loop.end,
                                  " is beyond the recording, ", what));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoopAssembler>> LoopAssembler::Create(const Plan& plan,
                                                                     const SinkTraits& sink) {
  const uint64_t bytes = (plan.range->end - plan.range->first) * sink.sample_bytes;
  TD_ASSIGN_OR_RETURN(auto memory,
                      dataplane::host::Create(bytes + sink.block_bytes, /*on_resident=*/nullptr));
  return std::unique_ptr<LoopAssembler>(new LoopAssembler(plan, sink, std::move(memory)));
}

LoopAssembler::LoopAssembler(const Plan& plan, const SinkTraits& sink,
                             std::unique_ptr<dataplane::Memory> memory)
    : range_(*plan.range),
      sink_(sink),
      block_samples_(sink.block_bytes / sink.sample_bytes),
      total_(plan.loop_count == 0 ? UINT64_MAX : plan.loop_count * length()),
      memory_(std::move(memory)) {}

absl::Status LoopAssembler::Begin(const BlockHeader& header) {
  begun_ = true;
  come_end_ = header.sample_index;
  if (header.sample_index <= range_.first) return absl::OkStatus();
  return Beyond(range_, absl::StrCat("which begins at sample ", header.sample_index));
}

absl::Status LoopAssembler::Add(Arrived arrived) {
  if (full_) {
    arrived.done();
    return absl::OkStatus();
  }
  const BlockHeader& header = arrived.header;
  if (!begun_) TD_RETURN_IF_ERROR(Begin(header));
  const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
  const uint64_t first = come_end_;
  come_end_ += missing ? block_samples_ : header.payload_bytes / sink_.sample_bytes;
  const bool wanted = come_end_ > range_.first;
  if (wanted && ((header.flags & kNotWhole) != 0 || header.sample_index != first)) {
    return services::BlockDamaged(
        {.blocks = 1}, absl::StrCat("samples of the loop are missing or damaged, at sample ",
                                    std::max(first, range_.first)));
  }
  if (wanted && first <= range_.first) {
    begin_ns_ = CaptureAfter(header.capture_ns, range_.first - first, sink_.sample_rate);
  }
  if (wanted) Keep(arrived, first, come_end_);
  if (come_end_ < range_.end) {
    arrived.done();
  } else {
    Close(std::move(arrived));
  }
  return absl::OkStatus();
}

void LoopAssembler::Keep(const Arrived& arrived, uint64_t first, uint64_t end) {
  if (!sink_.reads_payload) return;
  const uint64_t from = std::max(first, range_.first);
  const uint64_t to = std::min(end, range_.end);
  std::memcpy(memory_->window().bytes.data() + (from - range_.first) * sink_.sample_bytes,
              arrived.payload.data() + (from - first) * sink_.sample_bytes,
              (to - from) * sink_.sample_bytes);
}

void LoopAssembler::Close(Arrived last) {
  full_ = true;
  last_ = std::move(last);
  const size_t turn = length() * sink_.sample_bytes;
  const std::span<std::byte> bytes = memory_->window().bytes;
  // The beginning again, as often as a block needs it.
  for (size_t at = turn; at < bytes.size(); at += turn) {
    std::memcpy(bytes.data() + at, bytes.data() + at - turn, std::min(turn, bytes.size() - at));
  }
}

absl::Status LoopAssembler::End() {
  if (full_) return absl::OkStatus();
  return Beyond(range_, absl::StrCat("which ends before sample ", come_end_));
}

const Piece* LoopAssembler::Next() {
  if (!full_ || given_ == total_) return nullptr;
  if (std::exchange(made_, true)) return &piece_;
  const uint64_t samples = std::min(block_samples_, total_ - given_);
  const uint64_t offset = given_ % length();
  piece_ = {.header = {.sequence = sequence_,
                       .sample_index = range_.first + offset,
                       .capture_ns = CaptureAfter(begin_ns_, offset, sink_.sample_rate),
                       .payload_bytes = static_cast<uint32_t>(samples * sink_.sample_bytes),
                       .flags = samples < block_samples_ ? dataplane::kBlockPartial : 0u},
            .samples = samples,
            .ready_ns = last_->ready_ns,
            .turns = (given_ + samples) / length()};
  piece_.payload = std::span<const std::byte>(memory_->window().bytes)
                       .subspan(offset * sink_.sample_bytes, piece_.header.payload_bytes);
  return &piece_;
}

void LoopAssembler::Pop() {
  given_ += piece_.samples;
  ++sequence_;
  made_ = false;
  if (given_ == total_) last_->done();
}

}  // namespace tapedeck::gpu_worker::pace
