#include "services/session/parts/open_blocks.h"

#include <bit>
#include <utility>

namespace tapedeck::services::parts {

using dataplane::Block;

namespace {

constexpr PartSet BitOf(size_t part) { return PartSet{1} << part; }

}  // namespace

bool OpenBlocks::IsOwed(const Open& open) const {
  return static_cast<uint32_t>(std::popcount(HoldersOf(open))) < copies_;
}

OpenBlocks::Open* OpenBlocks::Find(uint64_t number) {
  const auto it = open_.find(number);
  return it == open_.end() ? nullptr : &it->second;
}

void OpenBlocks::Queue(uint64_t number, const Open& open) {
  const bool owed = IsOwed(open);
  for (size_t part = 0; part < queues_.size(); ++part) {
    if (owed && ((HoldersOf(open) | open.suspected) & BitOf(part)) == 0) {
      queues_[part].insert(number);
    } else {
      queues_[part].erase(number);
    }
  }
}

void OpenBlocks::Add(Block block) {
  const uint64_t number = block.header().sequence;
  Open& open = open_[number];
  open.block = std::make_shared<dataplane::SharedBlock>(std::move(block));
  Queue(number, open);
}

std::optional<uint64_t> OpenBlocks::NextFor(size_t part) const {
  const std::set<uint64_t>& queue = queues_[part];
  return queue.empty() ? std::nullopt : std::optional(*queue.begin());
}

Block OpenBlocks::Lend(uint64_t number, size_t part, bool* again) {
  Open& open = open_.at(number);
  open.out |= BitOf(part);
  *again = std::exchange(open.again, false);
  Queue(number, open);
  return open.block->Lend();
}

void OpenBlocks::Acknowledge(uint64_t number, size_t part) {
  Open* const open = Find(number);
  if (open == nullptr) return;
  open->out &= ~BitOf(part);
  open->suspected &= ~BitOf(part);
  open->acknowledged |= BitOf(part);
  Queue(number, *open);
}

void OpenBlocks::TakeBack(uint64_t number, size_t part) {
  Open* const open = Find(number);
  if (open == nullptr) return;
  open->out &= ~BitOf(part);
  open->suspected &= ~BitOf(part);
  open->again = true;
  Queue(number, *open);
}

void OpenBlocks::Suspect(uint64_t number, size_t part) {
  Open* const open = Find(number);
  if (open == nullptr) return;
  open->out &= ~BitOf(part);
  open->suspected |= BitOf(part);
  open->again = true;
  Queue(number, *open);
}

void OpenBlocks::Trust(uint64_t number, size_t part) {
  Open* const open = Find(number);
  if (open == nullptr) return;
  open->suspected &= ~BitOf(part);
  open->out |= BitOf(part);
  Queue(number, *open);
}

std::optional<OpenBlocks::Done> OpenBlocks::Resolve(uint64_t number, PartSet present) {
  const auto it = open_.find(number);
  if (it == open_.end()) return std::nullopt;
  const Open& open = it->second;
  const bool too_few = static_cast<uint32_t>(std::popcount(open.acknowledged)) < copies_;
  if (too_few && (open.out != 0 || open.acknowledged == 0)) return std::nullopt;
  if (too_few && (present & ~open.acknowledged) != 0) return std::nullopt;
  const Done done{
      .number = number, .bytes = open.block->header().payload_bytes, .too_few = too_few};
  for (std::set<uint64_t>& queue : queues_) queue.erase(number);
  open_.erase(it);
  return done;
}

std::vector<OpenBlocks::Done> OpenBlocks::ResolveAll(PartSet present) {
  std::vector<uint64_t> numbers;
  numbers.reserve(open_.size());
  for (const auto& [number, open] : open_) numbers.push_back(number);
  std::vector<Done> all;
  for (const uint64_t number : numbers) {
    if (const auto done = Resolve(number, present)) all.push_back(*done);
  }
  return all;
}

std::optional<uint64_t> OpenBlocks::FirstOwed() const {
  for (const auto& [number, open] : open_) {
    if (IsOwed(open)) return number;
  }
  return std::nullopt;
}

}  // namespace tapedeck::services::parts
