#include "gpu_worker/stages/ingest/placement.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tapedeck::gpu_worker::stages::ingest {

Placement::Outcome Placement::Place(int64_t position, std::span<const std::byte> samples) {
  if (position < 0) return Outcome::kLate;
  const uint64_t begin = static_cast<uint64_t>(position) * parts_.sample_bytes;
  const uint64_t last_block = (begin + samples.size() - 1) / parts_.block_bytes;
  if (last_block < first_) return Outcome::kLate;
  if (last_block - first_ > kMostAhead) return Outcome::kFarAhead;
  OpenUpTo(last_block);
  Outcome outcome = Outcome::kTaken;
  for (uint64_t block = begin / parts_.block_bytes; block <= last_block; ++block) {
    const uint64_t block_begin = block * parts_.block_bytes;
    const size_t from = std::max(begin, block_begin) - block_begin;
    const size_t to = std::min(begin + samples.size() - block_begin, parts_.block_bytes);
    const size_t skipped = block_begin + from - begin;
    const Outcome part = block < first_
                             ? Outcome::kLate
                             : Put(block, {from, to}, samples.subspan(skipped, to - from));
    if (part != Outcome::kTaken) outcome = part;
  }
  while (open_.front().there.Covers(parts_.block_bytes)) CloseFirst(parts_.block_bytes);
  return outcome;
}

Placement::Outcome Placement::Put(uint64_t block, const Range& range,
                                  std::span<const std::byte> bytes) {
  Open& open = open_[block - first_];
  if (open.slot.empty()) {
    auto slot = parts_.take();
    if (!slot.has_value()) return Outcome::kUnwanted;
    open.slot = *std::move(slot);
  }
  switch (open.there.Add(range)) {
    case Ranges::Added::kOverlaps:
      return Outcome::kRepeated;
    case Ranges::Added::kTooMany:
      return Outcome::kScattered;
    case Ranges::Added::kAdded:
      break;
  }
  std::ranges::copy(bytes, open.slot.memory().begin() + static_cast<ptrdiff_t>(range.begin));
  const uint64_t end = (block * parts_.block_bytes + range.end) / parts_.sample_bytes;
  newest_ = std::max(newest_, static_cast<int64_t>(end));
  taken_ += bytes.size() / parts_.sample_bytes;
  return Outcome::kTaken;
}

void Placement::OpenUpTo(uint64_t block) {
  while (block >= first_ + kOpen) {
    const bool none_came = std::ranges::all_of(open_, [](const Open& o) { return o.slot.empty(); });
    if (!none_came) {
      CloseFirst(parts_.block_bytes);
      continue;
    }
    const uint64_t missing = block - kOpen + 1 - first_;
    first_ += missing;
    parts_.give({.missing_blocks = missing});
  }
}

void Placement::CloseFirst(size_t bytes) {
  Open open = std::move(open_.front());
  open_.pop_front();
  open_.emplace_back();
  ++first_;
  if (open.slot.empty()) return parts_.give({.missing_blocks = 1});
  Placed placed{.slot = std::move(open.slot), .bytes = bytes, .gaps = open.there.Gaps(bytes)};
  for (const Range& gap : placed.gaps) {
    std::memset(placed.slot.memory().data() + gap.begin, 0, gap.size());
  }
  parts_.give(std::move(placed));
}

bool Placement::IsPossibleEnd(int64_t end) const {
  if (end < newest_) return false;
  const uint64_t block = static_cast<uint64_t>(end) * parts_.sample_bytes / parts_.block_bytes;
  return block - first_ <= kMostAhead;
}

bool Placement::IsWhole(int64_t end) const {
  if (!IsPossibleEnd(end)) return false;
  const uint64_t bytes = static_cast<uint64_t>(end) * parts_.sample_bytes;
  const uint64_t blocks = bytes / parts_.block_bytes;
  if (blocks >= first_ + kOpen) return false;
  for (uint64_t block = first_; block < blocks; ++block) {
    if (!open_[block - first_].there.Covers(parts_.block_bytes)) return false;
  }
  return open_[blocks - first_].there.Covers(bytes % parts_.block_bytes);
}

void Placement::End(std::optional<int64_t> end) {
  const int64_t samples = end.has_value() && IsPossibleEnd(*end) ? *end : newest_;
  const uint64_t bytes = static_cast<uint64_t>(samples) * parts_.sample_bytes;
  const uint64_t blocks = bytes / parts_.block_bytes;
  if (blocks < first_) return;
  OpenUpTo(blocks);
  while (first_ < blocks) CloseFirst(parts_.block_bytes);
  if (const size_t rest = bytes % parts_.block_bytes; rest > 0) CloseLast(rest);
}

// A last block of which nothing came is there all the same: only so is it known how long it is.
void Placement::CloseLast(size_t bytes) {
  Open& open = open_.front();
  if (open.slot.empty()) {
    auto slot = parts_.take();
    if (!slot.has_value()) return;
    open.slot = *std::move(slot);
  }
  CloseFirst(bytes);
}

Ranges::Added Ranges::Add(const Range& more) {
  // The first that begins behind it: mostly there is none.
  auto next = ranges_.end();
  if (!ranges_.empty() && ranges_.back().begin >= more.begin) {
    next = std::ranges::lower_bound(ranges_, more.begin, {}, &Range::begin);
  }
  if (next != ranges_.end() && next->begin < more.end) return Added::kOverlaps;
  const bool has_previous = next != ranges_.begin();
  if (has_previous && std::prev(next)->end > more.begin) return Added::kOverlaps;
  const bool joins_next = next != ranges_.end() && next->begin == more.end;
  if (has_previous && std::prev(next)->end == more.begin) {
    std::prev(next)->end = joins_next ? next->end : more.end;
    if (joins_next) ranges_.erase(next);
  } else if (joins_next) {
    next->begin = more.begin;
  } else {
    if (ranges_.size() >= kMost) return Added::kTooMany;
    ranges_.insert(next, more);
  }
  return Added::kAdded;
}

std::vector<Range> Ranges::Gaps(size_t end) const {
  std::vector<Range> gaps;
  size_t at = 0;
  for (const Range& range : ranges_) {
    if (range.begin >= end) break;
    if (range.begin > at) gaps.push_back({at, range.begin});
    at = range.end;
  }
  if (at < end) gaps.push_back({at, end});
  return gaps;
}

}  // namespace tapedeck::gpu_worker::stages::ingest
