#include "dataplane/flight/ring.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tapedeck::dataplane::flight {
namespace {

uint64_t* Allocate(size_t words) {
  auto* memory = static_cast<uint64_t*>(std::calloc(words, sizeof(uint64_t)));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void Ring::Free::operator()(uint64_t* words) const { std::free(words); }

Ring::Ring(size_t entries) : mask_(entries - 1), words_(Allocate(entries * kEntryWords)) {}

void Ring::Begin(absl::string_view thread) {
  std::array<uint64_t, 2> name{};
  std::memcpy(name.data(), thread.data(), std::min(thread.size(), sizeof(name)));
  const uint64_t turn = turn_.load(std::memory_order_relaxed);
  turn_.store(turn + 1, std::memory_order_relaxed);
  base_.store(head_.load(std::memory_order_relaxed), std::memory_order_release);
  for (size_t i = 0; i < name.size(); ++i) thread_[i].store(name[i], std::memory_order_release);
  turn_.store(turn + 2, std::memory_order_release);
}

// False where it is replaced, or being so.
bool Ring::Read(uint64_t at, Entry* entry) const {
  uint64_t* slot = &words_[(at & mask_) * kEntryWords];
  EntryWords words;
  for (size_t i = 0; i < kEntryWords; ++i) {
    words[i] = std::atomic_ref(slot[i]).load(std::memory_order_acquire);
  }
  *entry = EntryOf(words);
  return begun_.load(std::memory_order_relaxed) <= at + mask_ + 1;
}

RingLook Ring::Look(uint64_t from, size_t most) const {
  RingLook look{.next = from};
  const uint64_t turn = turn_.load(std::memory_order_acquire);
  std::array<uint64_t, 2> name;
  for (size_t i = 0; i < name.size(); ++i) name[i] = thread_[i].load(std::memory_order_acquire);
  const uint64_t begin = std::max(from, base_.load(std::memory_order_acquire));
  const uint64_t head = head_.load(std::memory_order_acquire);
  const uint64_t oldest = head > mask_ + 1 ? head - mask_ - 1 : 0;
  uint64_t at = std::max(begin, oldest);
  look.missed = at - begin;
  for (; at < head && look.entries.size() < most; ++at) {
    Entry entry;
    if (Read(at, &entry)) {
      look.entries.push_back(entry);
    } else {
      ++look.missed;
    }
  }
  look.next = at;
  // Another thread has begun meanwhile, and nobody knows which of them wrote what.
  if (turn % 2 != 0 || turn_.load(std::memory_order_acquire) != turn) return {.next = from};
  const auto* text = reinterpret_cast<const char*>(name.data());
  look.thread.assign(text, strnlen(text, sizeof(name)));
  return look;
}

}  // namespace tapedeck::dataplane::flight
