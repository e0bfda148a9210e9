// A channel of a storage node as the peer of kernels: they fill the slots of a recorder and commit
// them, without a call of the CUDA runtime and without ending. C++17, for nvcc and for g++: a
// thread of the CPU calls the same functions, as a thread block of one thread.
//
//   void* data = nullptr;
//   const int64_t block = gacquire(channel, &data, kSecondNs);
//   ... all lanes fill channel.block_bytes bytes of data ...
//   const int64_t sent = gcommit(channel, block, channel.block_bytes);
//
// All threads of a thread block call a function together, with the same arguments, and all get the
// same result. Any number of blocks may hold slots; the recording has them in the order in which
// they were acquired, so that a slot that is never committed holds back all behind it.
//
// Results are a block's number where they are not negative, else a negative errno:
//   EAGAIN      timeout_ns is 0 and no slot is free
//   ETIMEDOUT   no slot was free until the deadline: the storage node takes blocks more slowly
//   EPIPE       the recording is over: a kernel has ended it, or a shorter block, or the program
//   ECONNRESET  the session is lost; the recorder's status says why
//   EBADF       the block was not acquired, or was committed already
//   EINVAL      an argument is wrong, such as a size that is no whole number of samples
// A result of gcommit says that the block is on its way. What is safe, the recorder's progress
// says.
#pragma once

#include <cerrno>
#include <cstdint>

#include "gpu_worker/sockets/block.h"
#include "gpu_worker/sockets/crc32c_block.h"
#include "gpu_worker/sockets/patience.h"
#include "gpu_worker/sockets/ring.h"

namespace tapedeck::gpu_worker::sockets {

// A slot's words that kernels and the CPU share, in host memory that both map. The flag has one
// writer at a time: while it is zero who fills the slot, else who empties it.
struct SlotWords {
  uint64_t flag;  // 0: nothing is in it; else one more than the block's bytes
  uint32_t crc;   // CRC32C of the block
};

// What kernels know among themselves, in memory of the device.
struct ChannelOwn {
  uint64_t next;       // block to be acquired; with kNoMore none is
  uint64_t committed;  // one more than the highest that was; with kNoMore it is the last
  crc::Factor by_lane;
};
inline constexpr uint64_t kNoMore = uint64_t{1} << 63;

// A turn of a slot: how many of its blocks were committed, and what becomes of the next.
enum class Turn : uint64_t { kFree, kAcquired, kCommitting };
TAPEDECK_ANYWHERE uint64_t TurnOf(uint64_t round, Turn turn) {
  return round * 4 + static_cast<uint64_t>(turn);
}

// All of it, as a kernel gets it: a plain value of pointers that are good on both machines, but for
// `own` and `turns`, which are memory of the device's.
struct Channel {
  unsigned char* words;   // SlotWords of each slot, words_step bytes apart
  const uint32_t* state;  // the CPU's: 0, or the errno for which nothing is recorded any more
  ChannelOwn* own;
  uint64_t* turns;        // of each slot
  unsigned char* memory;  // where kernels fill slots, slot_bytes apart
  unsigned char* ring;    // where the network takes them from; the same, or host memory
  uint64_t words_step;
  uint64_t slot_bytes;
  uint64_t block_bytes;
  uint64_t sample_bytes;
  uint64_t slots;
};

TAPEDECK_ANYWHERE SlotWords& WordsOf(const Channel& channel, uint64_t slot) {
  return *reinterpret_cast<SlotWords*>(channel.words + slot * channel.words_step);
}

// ---- By the first lane.

// Gives the next block to the caller where its slot is free.
TAPEDECK_ANYWHERE int64_t AcquireByOne(const Channel& channel, int64_t timeout_ns) {
  if (!IsTimeout(timeout_ns)) return -EINVAL;
  Patience patience = PatienceOf(timeout_ns);
  while (true) {
    const uint64_t next = LoadAcquire(&channel.own->next);
    const uint32_t state = LoadAcquire(channel.state);
    if (state != 0) return -static_cast<int64_t>(state);
    if ((next & kNoMore) != 0) return -EPIPE;
    const uint64_t slot = next % channel.slots;
    const uint64_t round = next / channel.slots;
    const bool free = LoadAcquire(&channel.turns[slot]) == TurnOf(round, Turn::kFree) &&
                      LoadAcquire(&WordsOf(channel, slot).flag) == 0;
    if (free && ReplaceOwn(&channel.own->next, next, next + 1)) {
      StoreRelease(&channel.turns[slot], TurnOf(round, Turn::kAcquired));
      return static_cast<int64_t>(next);
    }
    const int64_t over = free ? 0 : AwaitNextLook(patience);
    if (over != 0) return over;
  }
}

// No block is acquired any more.
TAPEDECK_ANYWHERE int64_t EndByOne(const Channel& channel) {
  while (true) {
    const uint64_t next = LoadAcquire(&channel.own->next);
    if ((next & kNoMore) != 0 || ReplaceOwn(&channel.own->next, next, next | kNoMore)) return 0;
  }
}

// Finds the block's place among those that are committed: only the last of a recording is shorter.
// EINVAL where it is and one behind it was committed, EPIPE where one before it is the last.
TAPEDECK_ANYWHERE int64_t NoteCommit(const Channel& channel, uint64_t block, bool shorter) {
  while (true) {
    const uint64_t seen = LoadAcquire(&channel.own->committed);
    const bool over = (seen & kNoMore) != 0;
    const uint64_t committed = seen & ~kNoMore;
    if (over && block >= committed) return -EPIPE;
    if (shorter && committed > block) return -EINVAL;
    if (!shorter && committed > block) return 0;
    if (!ReplaceOwn(&channel.own->committed, seen, shorter ? (block + 1) | kNoMore : block + 1)) {
      continue;
    }
    return shorter ? EndByOne(channel) : 0;
  }
}

// Whether the block may be committed; then it is the caller's until CommitByOne.
TAPEDECK_ANYWHERE int64_t BeginCommit(const Channel& channel, int64_t block, uint64_t bytes) {
  if (block < 0) return -EBADF;
  const auto number = static_cast<uint64_t>(block);
  uint64_t* const turn = &channel.turns[number % channel.slots];
  const uint64_t round = number / channel.slots;
  if (LoadAcquire(turn) != TurnOf(round, Turn::kAcquired)) return -EBADF;
  if (bytes == 0 || bytes > channel.block_bytes || bytes % channel.sample_bytes != 0) {
    return -EINVAL;
  }
  const uint32_t state = LoadAcquire(channel.state);
  if (state != 0) return -static_cast<int64_t>(state);
  const int64_t refused = NoteCommit(channel, number, bytes < channel.block_bytes);
  if (refused != 0) return refused;
  const bool mine =
      ReplaceOwn(turn, TurnOf(round, Turn::kAcquired), TurnOf(round, Turn::kCommitting));
  return mine ? 0 : -EBADF;
}

TAPEDECK_ANYWHERE void CommitByOne(const Channel& channel, uint64_t block, uint64_t bytes,
                                   uint32_t crc32c) {
  const uint64_t slot = block % channel.slots;
  SlotWords& words = WordsOf(channel, slot);
  words.crc = crc32c;
  StoreRelease(&words.flag, bytes + 1);
  StoreRelease(&channel.turns[slot], TurnOf(block / channel.slots + 1, Turn::kFree));
}

// ---- The functions. Their names are in the way of those of sockets_device.h.
// NOLINTBEGIN(readability-identifier-naming)

// The next block, and where it is to be filled: channel.block_bytes at a multiple of 16 bytes, in
// memory of the device. Waits until its slot is free.
TAPEDECK_ANYWHERE int64_t gacquire(const Channel& channel, void** data, int64_t timeout_ns) {
  const int64_t block = FromFirstLane(IsFirstLane() ? AcquireByOne(channel, timeout_ns) : 0);
  if (block < 0) return block;
  const uint64_t slot = static_cast<uint64_t>(block) % channel.slots;
  *data = channel.memory + slot * channel.slot_bytes;
  return block;
}

// The block is what all lanes have put there. `bytes` are channel.block_bytes; of the last block of
// a recording they may be fewer, and that ends it: EINVAL where one behind it was committed, and
// EPIPE for those that are committed later. Does not wait. The block's number; the slot is not to
// be touched any more.
TAPEDECK_ANYWHERE int64_t gcommit(const Channel& channel, int64_t block, uint64_t bytes) {
  const int64_t refused = FromFirstLane(IsFirstLane() ? BeginCommit(channel, block, bytes) : 0);
  if (refused != 0) return refused;
  const auto number = static_cast<uint64_t>(block);
  const uint64_t at = number % channel.slots * channel.slot_bytes;
  const uint32_t crc32c = Crc32cByBlock(channel.memory + at, bytes, channel.own->by_lane);
  if (channel.ring != channel.memory) {
    CopyByBlock(channel.ring + at, channel.memory + at, bytes);
  }
  SyncBlock();
  if (IsFirstLane()) CommitByOne(channel, number, bytes, crc32c);
  return block;
}

// No block is acquired any more; those that were may be committed. The recording ends when the
// program finishes it.
TAPEDECK_ANYWHERE int64_t gend(const Channel& channel) {
  return FromFirstLane(IsFirstLane() ? EndByOne(channel) : 0);
}

// NOLINTEND(readability-identifier-naming)

}  // namespace tapedeck::gpu_worker::sockets
