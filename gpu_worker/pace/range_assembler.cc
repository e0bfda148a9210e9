#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/pace/assemblers.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::pace {

using dataplane::BlockHeader;
using services::model::SampleRange;

namespace {

absl::Status Beyond(absl::string_view field, uint64_t sample, absl::string_view what) {
  return services::ArgumentInvalid(
      field, absl::StrCat(field, ": ", sample, " is beyond the recording, which ", what));
}

}  // namespace

RangeAssembler::RangeAssembler(const SampleRange& range, const SinkTraits& sink)
    : range_(range), sink_(sink), block_samples_(sink.block_bytes / sink.sample_bytes) {}

absl::Status RangeAssembler::Begin(const BlockHeader& header) {
  if (header.sample_index > INT64_MAX) {
    return services::BlockDamaged({.blocks = 1},
                                  absl::StrCat("block ", header.sequence, " begins at sample ",
                                               header.sample_index, ", beyond any recording"));
  }
  if (header.sample_index >= range_.end) {
    return Beyond("pacing.end_sample", range_.end,
                  absl::StrCat("begins at sample ", header.sample_index));
  }
  if (range_.first != 0 && header.sample_index > range_.first) {
    return services::ArgumentInvalid(
        "playhead", absl::StrCat("playhead: ", range_.first, " is before the recording, which ",
                                 "begins at sample ", header.sample_index));
  }
  begun_ = true;
  held_end_ = header.sample_index;
  next_ = std::max(range_.first, held_end_);
  return absl::OkStatus();
}

absl::Status RangeAssembler::Add(Arrived arrived) {
  const BlockHeader& header = arrived.header;
  if (!begun_) TD_RETURN_IF_ERROR(Begin(header));
  const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
  // The index of a block that is missing may be so, too: its place is where the last one ended.
  if (!missing && header.sample_index != held_end_) {
    return services::BlockDamaged(
        {.blocks = 1},
        absl::StrCat("block ", header.sequence, " begins at sample ", header.sample_index,
                     ", and the one before it ends at ", held_end_));
  }
  PendingBlock held{.first = held_end_};
  held_end_ += missing ? block_samples_ : header.payload_bytes / sink_.sample_bytes;
  held.end = held_end_;
  held.arrived = std::move(arrived);
  if (held.end <= next_ || held.first >= range_.end) {
    held.arrived.done();
  } else {
    CountLost(held.arrived.header);
    held_.push_back(std::move(held));
  }
  return absl::OkStatus();
}

absl::Status RangeAssembler::End() {
  ended_ = true;
  if (held_end_ <= range_.first) {
    return Beyond("playhead", range_.first, absl::StrCat("ends before sample ", held_end_));
  }
  if (range_.end != UINT64_MAX && held_end_ < range_.end) {
    return Beyond("pacing.end_sample", range_.end, absl::StrCat("ends before sample ", held_end_));
  }
  return absl::OkStatus();
}

const Piece* RangeAssembler::Next() {
  if (piece_.has_value()) return &*piece_;
  const uint64_t wanted = std::min(block_samples_, range_.end - std::min(next_, range_.end));
  const uint64_t there = held_end_ - std::min(next_, held_end_);
  if (there < wanted && !ended_) return nullptr;
  const uint64_t samples = std::min(wanted, there);
  if (samples == 0) return nullptr;
  piece_ = Make(samples);
  return &*piece_;
}

Piece RangeAssembler::Make(uint64_t samples) {
  const PendingBlock& front = held_.front();
  Piece piece{
      .header = front.arrived.header, .samples = samples, .ready_ns = front.arrived.ready_ns};
  piece.header.sequence = sequence_;
  piece.header.sample_index = next_;
  piece.header.capture_ns =
      CaptureAfter(piece.header.capture_ns, next_ - front.first, sink_.sample_rate);
  piece.header.payload_bytes = static_cast<uint32_t>(samples * sink_.sample_bytes);
  piece.header.crc32c = 0;
  piece.header.flags &= kNotWhole;
  if (next_ + samples > front.end) {
    PutTogether(piece);
  } else if (!front.missing()) {
    piece.payload = front.arrived.payload.subspan((next_ - front.first) * sink_.sample_bytes,
                                                  piece.header.payload_bytes);
  }
  if ((piece.header.flags & dataplane::kBlockMissing) != 0) piece.header.payload_bytes = 0;
  if (samples < block_samples_) piece.header.flags |= dataplane::kBlockPartial;
  return piece;
}

void RangeAssembler::PutTogether(Piece& piece) {
  buffer_.resize(sink_.block_bytes);
  bool missing = false;
  const uint64_t end = next_ + piece.samples;
  for (const PendingBlock& held : held_) {
    if (held.first >= end) break;
    piece.ready_ns = std::max(piece.ready_ns, held.arrived.ready_ns);
    piece.header.flags |= held.arrived.header.flags & dataplane::kBlockDamaged;
    missing |= held.missing();
    if (!sink_.reads_payload) continue;
    const uint64_t first = std::max(held.first, next_);
    const size_t bytes = (std::min(held.end, end) - first) * sink_.sample_bytes;
    std::byte* const to = buffer_.data() + (first - next_) * sink_.sample_bytes;
    if (held.missing()) {
      std::memset(to, 0, bytes);
    } else {
      std::memcpy(to, held.arrived.payload.data() + (first - held.first) * sink_.sample_bytes,
                  bytes);
    }
  }
  piece.header.flags &= ~dataplane::kBlockMissing;
  if (missing && !sink_.damaged_blocks) {
    piece.header.flags = dataplane::kBlockMissing;
    return;
  }
  if (missing) piece.header.flags |= dataplane::kBlockDamaged;
  piece.payload = std::span(buffer_).first(piece.header.payload_bytes);
}

void RangeAssembler::Pop() {
  next_ += piece_->samples;
  ++sequence_;
  piece_.reset();
  const auto is_over = [this](const PendingBlock& held) {
    return held.end <= next_ || next_ == range_.end;
  };
  for (; !held_.empty() && is_over(held_.front()); held_.pop_front()) held_.front().arrived.done();
}

}  // namespace tapedeck::gpu_worker::pace
