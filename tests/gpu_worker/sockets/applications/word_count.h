// Counts words on two devices, or two parts of one: each maps its half of a text, sends what the
// other is to count over a socket, kernel to kernel, and reduces what is its own. C++17, for nvcc
// and for g++.
//
// A word is as many letters, A to Z and a to z, as stand side by side; of one that is longer than
// kMostLetters its first ones count. Which half counts a word is in its hash. The stream between
// the two is of Records alone.
//
// Each block maps chunks of the text: it counts their words in a table of its own, whose entries
// point into the text, and then hands on each word once with its count.
#pragma once

#include <cerrno>
#include <cstdint>

#include "gpu_worker/sockets/sockets_device.h"
#include "tests/gpu_worker/sockets/applications/own_memory.h"

namespace tapedeck::gpu_worker::sockets {

inline constexpr uint32_t kMostLetters = 24;
inline constexpr uint32_t kChunkBytes = 64 << 10;
inline constexpr uint32_t kMostChunkWords = kChunkBytes / 2;
inline constexpr uint32_t kChunkSlots = 2 * kMostChunkWords;  // never full
inline constexpr uint32_t kInboxRecords = 2048;

struct Word {
  unsigned char letters[kMostLetters];  // with zeros behind it
};

struct Record {
  Word word;
  uint64_t count;
};
static_assert(sizeof(Record) == 32);

// Of a block, in memory of the device.
struct MapMemory {
  uint32_t at[kChunkSlots];  // where a word stands in the chunk, and one more; 0: nowhere
  uint32_t counts[kChunkSlots];
  Record outbox[kMostChunkWords];
  uint32_t outbox_records;
  PollItem item;
  Record inbox[kInboxRecords];
};

// What a half counts, in memory of its device; all zero before it begins. `slots` is a power of two
// and more than `most_words`.
struct WordTable {
  uint32_t* slots;  // number of a record, and one more; 0: none
  uint32_t slot_count;
  Record* records;
  uint32_t most_words;
  uint32_t* used;  // records that were taken, some of them in vain, with a count of 0
};

// Of a block, in memory that the CPU sees.
struct WordCounted {
  int64_t fault;  // 0 or a negative errno: ENOSPC where there are more words than `most_words`
  int64_t sent;   // records
  int64_t received;
};

TAPEDECK_ANYWHERE bool IsLetter(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// FNV-1a, with its upper bits mixed in, as the lower ones choose the slot and the upmost the half.
TAPEDECK_ANYWHERE uint32_t HashOf(const unsigned char* letters, uint32_t count) {
  uint32_t hash = 2166136261u;
  for (uint32_t i = 0; i < count; ++i) hash = (hash ^ letters[i]) * 16777619u;
  return hash ^ (hash >> 15);
}

TAPEDECK_ANYWHERE bool AreEqual(const unsigned char* a, const unsigned char* b, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

TAPEDECK_ANYWHERE uint32_t LettersOf(const Word& word) {
  uint32_t count = 0;
  while (count < kMostLetters && word.letters[count] != 0) ++count;
  return count;
}

struct WordCount {
  static constexpr uint32_t kLanes = 256;

  Net net;
  uint32_t half;     // 0 listens, 1 connects
  int64_t listener;  // of half 0
  uint32_t port;     // of half 1: the listener's
  uint32_t blocks;   // as many in both
  int64_t timeout_ns;
  const unsigned char* text;
  uint64_t text_bytes;
  WordTable table;
  MapMemory* memory;     // for each block
  WordCounted* counted;  // for each block

  // What a block has under way; the same in all lanes.
  struct Exchange {
    MapMemory* own;
    WordCounted* told;
    int64_t socket;
    uint32_t held = 0;   // bytes in the inbox that are no whole record yet
    bool ended = false;  // the peer sends no more
    int64_t fault = 0;

    TAPEDECK_ANYWHERE Exchange(MapMemory* memory, WordCounted* counted, int64_t handle)
        : own(memory), told(counted), socket(handle) {}
  };

  // ---- Reducing. By one lane.

  TAPEDECK_ANYWHERE int64_t Reduce(const Word& word, uint64_t count) const {
    uint32_t slot = HashOf(word.letters, LettersOf(word)) & (table.slot_count - 1);
    uint32_t taken = 0;  // a record of this word, and one more
    while (true) {
      uint32_t seen = LoadAcquire(&table.slots[slot]);
      if (seen == 0) {
        if (taken == 0) taken = AddOwn(table.used, 1u) + 1;
        if (taken > table.most_words) return -ENOSPC;
        // It is complete before anyone sees its number.
        table.records[taken - 1].word = word;
        seen = ReplaceOwn(&table.slots[slot], 0, taken) ? taken : LoadAcquire(&table.slots[slot]);
      }
      Record& record = table.records[seen - 1];
      if (AreEqual(record.word.letters, word.letters, kMostLetters)) {
        AddOwn(&record.count, count);
        return 0;
      }
      slot = (slot + 1) & (table.slot_count - 1);
    }
  }

  // ---- Mapping. By all lanes, each of which takes some of the places.

  TAPEDECK_ANYWHERE uint32_t LettersAt(uint64_t begin) const {
    uint32_t count = 0;
    while (count < kMostLetters && begin + count < text_bytes && IsLetter(text[begin + count])) {
      ++count;
    }
    return count;
  }

  TAPEDECK_ANYWHERE bool IsBegin(uint64_t place) const {
    return IsLetter(text[place]) && (place == 0 || !IsLetter(text[place - 1]));
  }

  TAPEDECK_ANYWHERE void CountWordAt(MapMemory& own, uint64_t chunk, uint32_t offset) const {
    const unsigned char* const letters = text + chunk + offset;
    const uint32_t count = LettersAt(chunk + offset);
    uint32_t slot = HashOf(letters, count) & (kChunkSlots - 1);
    while (true) {
      uint32_t seen = LoadAcquire(&own.at[slot]);
      if (seen == 0) {
        seen = ReplaceOwn(&own.at[slot], 0, offset + 1) ? offset + 1 : LoadAcquire(&own.at[slot]);
      }
      const uint64_t other = chunk + seen - 1;
      if (LettersAt(other) == count && AreEqual(text + other, letters, count)) {
        AddOwn(&own.counts[slot], 1u);
        return;
      }
      slot = (slot + 1) & (kChunkSlots - 1);
    }
  }

  TAPEDECK_ANYWHERE void MapChunk(MapMemory& own, uint64_t chunk) const {
    for (uint32_t i = LaneOfBlock(); i < kChunkSlots; i += LanesOfBlock()) {
      own.at[i] = 0;
      own.counts[i] = 0;
    }
    if (IsFirstLane()) own.outbox_records = 0;
    SyncBlock();
    const uint64_t bytes = Least(kChunkBytes, text_bytes - chunk);
    for (uint32_t i = LaneOfBlock(); i < bytes; i += LanesOfBlock()) {
      if (IsBegin(chunk + i)) CountWordAt(own, chunk, i);
    }
    SyncBlock();
  }

  // Each word of the chunk once: to the table, or to the outbox.
  TAPEDECK_ANYWHERE void Divide(Exchange& exchange, uint64_t chunk) const {
    MapMemory& own = *exchange.own;
    int32_t failed = 0;
    for (uint32_t i = LaneOfBlock(); i < kChunkSlots; i += LanesOfBlock()) {
      if (own.at[i] == 0) continue;
      const uint64_t place = chunk + own.at[i] - 1;
      const uint32_t letters = LettersAt(place);
      Record record{};
      for (uint32_t k = 0; k < letters; ++k) record.word.letters[k] = text[place + k];
      record.count = own.counts[i];
      if (HashOf(record.word.letters, letters) >> 31 == half) {
        failed += Reduce(record.word, record.count) != 0 ? 1 : 0;
      } else {
        own.outbox[AddOwn(&own.outbox_records, 1u)] = record;
      }
    }
    if (SumOfBlock(failed) > 0 && exchange.fault == 0) exchange.fault = -ENOSPC;
  }

  // ---- The shuffle. By all lanes together.

  // Takes what has come; whether anything had.
  TAPEDECK_ANYWHERE bool TakeSome(Exchange& exchange, int64_t wait_ns) const {
    auto* const inbox = reinterpret_cast<unsigned char*>(exchange.own->inbox);
    const int64_t got = grecv(net, exchange.socket, inbox + exchange.held,
                              sizeof(exchange.own->inbox) - exchange.held, wait_ns);
    if (got == -EAGAIN) return false;
    if (got <= 0) {
      exchange.ended = true;
      const int64_t fault = got == 0 && exchange.held > 0 ? -EPROTO : got;
      if (exchange.fault == 0) exchange.fault = fault;
      return true;
    }
    const uint32_t have = exchange.held + static_cast<uint32_t>(got);
    const uint32_t records = have / sizeof(Record);
    int32_t failed = 0;
    for (uint32_t i = LaneOfBlock(); i < records; i += LanesOfBlock()) {
      const Record& record = exchange.own->inbox[i];
      failed += Reduce(record.word, record.count) != 0 ? 1 : 0;
    }
    if (SumOfBlock(failed) > 0 && exchange.fault == 0) exchange.fault = -ENOSPC;
    exchange.held = have % sizeof(Record);
    // Less than a record, to before where it lies; where there was none it stays.
    if (records > 0) CopyByBlock(inbox, inbox + records * sizeof(Record), exchange.held);
    SyncBlock();
    if (IsFirstLane()) exchange.told->received += records;
    return true;
  }

  // Sends the outbox, and takes what comes meanwhile: both would otherwise wait for each other.
  TAPEDECK_ANYWHERE void Ship(Exchange& exchange) const {
    const auto* const outbox = reinterpret_cast<const unsigned char*>(exchange.own->outbox);
    const uint32_t records = exchange.own->outbox_records;
    const uint64_t bytes = records * sizeof(Record);
    uint64_t sent = 0;
    while (sent < bytes && exchange.fault == 0) {
      const int64_t now = gsend(net, exchange.socket, outbox + sent, bytes - sent, 0);
      if (now > 0) sent += static_cast<uint64_t>(now);
      if (now < 0 && now != -EAGAIN) exchange.fault = now;
      const bool took = !exchange.ended && TakeSome(exchange, 0);
      if (now > 0 || took || exchange.fault != 0) continue;
      const uint32_t wanted = exchange.ended ? kWritable : kReadable | kWritable;
      if (IsFirstLane()) exchange.own->item = {exchange.socket, wanted, 0};
      SyncBlock();
      const int64_t ready = gpoll(net, &exchange.own->item, 1, timeout_ns);
      if (ready <= 0) exchange.fault = ready < 0 ? ready : -ETIMEDOUT;
    }
    if (IsFirstLane()) exchange.told->sent += records;
  }

  TAPEDECK_ANYWHERE void RunBlock(uint32_t block) const {
    const int64_t socket = half == 0 ? gaccept(net, listener, timeout_ns)
                                     : gconnect(net, 0x7f000001, port, timeout_ns);
    Exchange exchange(&memory[block], &counted[block], socket);
    if (socket < 0) exchange.fault = socket;
    for (uint64_t chunk = uint64_t{block} * kChunkBytes; chunk < text_bytes && exchange.fault == 0;
         chunk += uint64_t{blocks} * kChunkBytes) {
      MapChunk(*exchange.own, chunk);
      Divide(exchange, chunk);
      Ship(exchange);
    }
    if (socket >= 0) {
      if (exchange.fault == 0) gshutdown(net, socket, timeout_ns);
      while (!exchange.ended && exchange.fault == 0) TakeSome(exchange, timeout_ns);
      const int64_t closed = gclose(net, socket, timeout_ns);
      if (exchange.fault == 0 && closed < 0) exchange.fault = closed;
    }
    if (IsFirstLane()) counted[block].fault = exchange.fault;
  }
};

}  // namespace tapedeck::gpu_worker::sockets
