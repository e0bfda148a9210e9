#include "storage_node/store/memory/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/memory/available.h"
#include "dataplane/memory/pages.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::store::memory {
namespace {

constexpr uint64_t kRunBytes = 8 << 20;
// Four default rings. With less, few sessions could be open on a full LUN to learn that it is full.
constexpr uint64_t kHeadroomBytes = 256 << 20;

}  // namespace

absl::StatusOr<std::shared_ptr<Arena>> Arena::Create(uint64_t capacity_bytes) {
  TD_RETURN_IF_ERROR(dataplane::CheckAvailable("memory LUN", capacity_bytes, "capacity",
                                               "choose a smaller capacity"));
  const size_t bytes = capacity_bytes + kHeadroomBytes;
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    return services::LimitReached("address space", "capacity",
                                  absl::StrCat("mmap of ", bytes, " bytes: ", std::strerror(errno),
                                               "; choose a smaller capacity"));
  }
  const std::span window(static_cast<std::byte*>(address), bytes);
  std::shared_ptr<Arena> arena(new Arena(window));
  TD_RETURN_IF_ERROR(dataplane::MakeResident(window.first(capacity_bytes)));
  return arena;
}

Arena::Arena(std::span<std::byte> window) : window_(window) {
  absl::MutexLock lock(&mutex_);
  extents_[0] = window.size();
}

Arena::~Arena() { munmap(window_.data(), window_.size()); }

std::optional<uint64_t> Arena::Allocate(size_t slot_bytes) {
  absl::MutexLock lock(&mutex_);
  auto& open = open_runs_[slot_bytes];
  if (open.empty()) {
    size_t slots = std::max<size_t>(1, kRunBytes / slot_bytes);
    while (slots > 0 && !AddRun(slot_bytes, slots)) slots /= 2;
    if (slots == 0) return std::nullopt;
  }
  Run& run = runs_.at(*open.begin());
  const uint64_t offset = run.free.back();
  run.free.pop_back();
  if (run.free.empty()) open.erase(open.begin());
  allocated_bytes_ += slot_bytes;
  return offset;
}

bool Arena::AddRun(size_t slot_bytes, size_t slots) {
  const uint64_t bytes = slot_bytes * slots;
  for (auto it = extents_.begin(); it != extents_.end(); ++it) {
    const auto [begin, length] = *it;
    const uint64_t start = (begin + slot_bytes - 1) / slot_bytes * slot_bytes;
    if (start + bytes > begin + length) continue;
    extents_.erase(it);
    if (start > begin) extents_[begin] = start - begin;
    if (begin + length > start + bytes) extents_[start + bytes] = begin + length - start - bytes;
    Run run{.slot_bytes = slot_bytes, .slots = slots};
    for (size_t i = slots; i-- > 0;) run.free.push_back(start + i * slot_bytes);
    runs_[start] = std::move(run);
    open_runs_[slot_bytes].insert(start);
    return true;
  }
  return false;
}

void Arena::Free(uint64_t offset) {
  absl::MutexLock lock(&mutex_);
  const auto it = std::prev(runs_.upper_bound(offset));
  Run& run = it->second;
  run.free.push_back(offset);
  allocated_bytes_ -= run.slot_bytes;
  auto& open = open_runs_[run.slot_bytes];
  open.insert(it->first);
  if (run.free.size() < run.slots) return;
  open.erase(it->first);
  AddExtent(it->first, run.slot_bytes * run.slots);
  runs_.erase(it);
}

void Arena::AddExtent(uint64_t offset, uint64_t bytes) {
  const auto next = extents_.lower_bound(offset);
  if (next != extents_.end() && next->first == offset + bytes) {
    bytes += next->second;
    extents_.erase(next);
  }
  const auto after = extents_.lower_bound(offset);
  if (after != extents_.begin()) {
    const auto previous = std::prev(after);
    if (previous->first + previous->second == offset) {
      previous->second += bytes;
      return;
    }
  }
  extents_[offset] = bytes;
}

uint64_t Arena::allocated_bytes() const {
  absl::MutexLock lock(&mutex_);
  return allocated_bytes_;
}

absl::StatusOr<std::shared_ptr<ArenaPool>> ArenaPool::Create(std::shared_ptr<Arena> arena,
                                                             size_t slots, size_t slot_bytes,
                                                             size_t nominal_slots) {
  std::shared_ptr<ArenaPool> pool(new ArenaPool(arena, nominal_slots, slot_bytes));
  for (size_t i = 0; i < slots; ++i) {
    const std::optional<uint64_t> offset = arena->Allocate(slot_bytes);
    if (!offset.has_value()) {
      return disk::MemberFull(
          "memory", absl::StrCat("memory LUN: no space for a ring of ", slots, " slots of ",
                                 slot_bytes, " bytes; delete recordings or end sessions"));
    }
    pool->AddSlot(*offset);
  }
  return pool;
}

ArenaPool::~ArenaPool() {
  absl::MutexLock lock(&mutex_);
  for (const uint64_t offset : free_) arena_->Free(offset);
}

std::optional<dataplane::Block> ArenaPool::Take() {
  absl::MutexLock lock(&mutex_);
  if (free_.empty()) {
    starved_ = true;
    return std::nullopt;
  }
  const uint64_t offset = free_.front();
  free_.pop_front();
  return dataplane::Block(shared_from_this(), static_cast<uint32_t>(offset / slot_bytes_),
                          arena_->slot(offset, slot_bytes_));
}

void ArenaPool::SetWaker(dataplane::Waker waker) {
  absl::MutexLock lock(&mutex_);
  waker_ = std::move(waker);
}

void ArenaPool::ReturnSlot(uint32_t slot) { AddSlot(uint64_t{slot} * slot_bytes_); }

bool ArenaPool::Replace() {
  const std::optional<uint64_t> offset = arena_->Allocate(slot_bytes_);
  if (offset.has_value()) AddSlot(*offset);
  return offset.has_value();
}

void ArenaPool::AddSlot(uint64_t offset) {
  absl::MutexLock lock(&mutex_);
  free_.push_back(offset);
  if (starved_ && waker_) waker_();
  starved_ = false;
}

}  // namespace tapedeck::storage_node::store::memory
