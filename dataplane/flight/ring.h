// The stamps of one thread, in memory of fixed size: the newest replace the oldest. The thread
// writes without a lock while others read. Readers leave out a stamp that a write has torn.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataplane/flight/kinds.h"

namespace tapedeck::dataplane::flight {

// 32 bytes.
struct Entry {
  int64_t time_ns = 0;    // of the clock of executors
  uint64_t sequence = 0;  // on the wire of its session
  uint64_t argument = 0;
  uint32_t trail = 0;  // the session's number in this process; 0: none
  Kind kind = Kind::kNone;
  uint8_t place = 0;  // a link of the session, or a member of the LUN
  bool operator==(const Entry&) const = default;
};

inline constexpr size_t kEntryWords = 4;
using EntryWords = std::array<uint64_t, kEntryWords>;

constexpr EntryWords WordsOf(const Entry& entry) {
  return {
      static_cast<uint64_t>(entry.time_ns), entry.sequence, entry.argument,
      uint64_t{entry.trail} << 32 | uint64_t{entry.place} << 8 | static_cast<uint64_t>(entry.kind)};
}

constexpr Entry EntryOf(const EntryWords& words) {
  return {.time_ns = static_cast<int64_t>(words[0]),
          .sequence = words[1],
          .argument = words[2],
          .trail = static_cast<uint32_t>(words[3] >> 32),
          .kind = static_cast<Kind>(words[3] & 0xff),
          .place = static_cast<uint8_t>(words[3] >> 8 & 0xff)};
}

// What a look into a ring has found.
struct RingLook {
  std::string thread;   // that wrote it
  uint64_t next = 0;    // where the next look goes on
  uint64_t missed = 0;  // stamps from where it began that were replaced before it
  std::vector<Entry> entries;
};

// One thread writes at a time; any thread reads. Owned by Rings.
class Ring {
 public:
  // `entries`: a power of two.
  explicit Ring(size_t entries);

  // For a thread that begins to write: what others have written is not shown any more.
  void Begin(absl::string_view thread);

  // By the thread that writes.
  void Put(const Entry& entry) {
    const uint64_t at = head_.load(std::memory_order_relaxed);
    // Seen by whoever sees one of the words below.
    begun_.store(at + 1, std::memory_order_relaxed);
    uint64_t* slot = &words_[(at & mask_) * kEntryWords];
    const EntryWords words = WordsOf(entry);
    for (size_t i = 0; i < kEntryWords; ++i) {
      std::atomic_ref(slot[i]).store(words[i], std::memory_order_release);
    }
    head_.store(at + 1, std::memory_order_release);
  }

  // At most `most` of those from position `from` on, oldest first.
  RingLook Look(uint64_t from, size_t most) const;

 private:
  bool Read(uint64_t at, Entry* entry) const;

  const uint64_t mask_;
  // calloc gives pages that take no memory before they are written.
  struct Free {
    void operator()(uint64_t* words) const;
  };
  const std::unique_ptr<uint64_t[], Free> words_;
  std::atomic<uint64_t> begun_ = 0;  // stamps that were begun to be written
  std::atomic<uint64_t> head_ = 0;   // stamps that were written
  std::atomic<uint64_t> turn_ = 0;   // odd while another thread begins
  std::atomic<uint64_t> base_ = 0;   // where the thread began
  std::array<std::atomic<uint64_t>, 2> thread_{};
};

}  // namespace tapedeck::dataplane::flight
