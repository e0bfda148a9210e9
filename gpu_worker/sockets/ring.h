// A ring of bytes between a kernel and the CPU, in memory that both of them map. C++17, for nvcc
// and for g++; either end may be a thread of either machine.
//
// Each end writes words that nobody else writes, and reads those of the other:
//   the writer   `written`  bytes put in since the ring began
//                `end`      whether there will be more, and if not, why
//   the reader   `read`     bytes taken out since the ring began: what it has taken is what the
//                           writer may put in again, so that the counters are the credits, too
//                `stop`     whether it takes more, and if not, why
// So nothing is read, changed and written in one step, which the bus between CPU and GPU does not
// offer for host memory on every machine. Counters only grow; 64 bits of bytes are never used up.
//
// Order. Whoever has read a counter sees the bytes that were there when it was stored: stores
// release, loads acquire. On the CPU these are the compiler's atomics, on the GPU `st.release.sys`
// and `ld.acquire.sys`, which the memory model of PTX puts in one order with those of the CPU. They
// are taken instead of volatile accesses beside __threadfence_system(), since that fence waits for
// all that the thread has under way, and since volatile alone orders nothing. Bytes themselves are
// read and written as any memory.
//
// Trust. What the other end has written is checked before it is used: a counter that goes back, or
// says more than the ring holds, ends this end with EPROTO and never becomes an index. An end keeps
// its own counters where the other cannot write.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "gpu_worker/device/anywhere.h"

namespace tapedeck::gpu_worker::sockets {

// Larger rings than the largest would only hold what the network is too slow for; smaller ones than
// the smallest are all bookkeeping.
inline constexpr uint64_t kLeastRingBytes = 64;
inline constexpr uint64_t kMostRingBytes = uint64_t{64} << 20;

TAPEDECK_ANYWHERE bool IsRingCapacity(uint64_t bytes) {
  return bytes >= kLeastRingBytes && bytes <= kMostRingBytes && (bytes & (bytes - 1)) == 0;
}

// `end` and `stop`: kOpen, kEnded, or the errno for which there is no more.
inline constexpr int32_t kOpen = 0;
inline constexpr int32_t kEnded = -1;
inline constexpr int32_t kMostErrno = 4095;  // as the kernel's own results have it

TAPEDECK_ANYWHERE uint64_t LoadAcquire(const uint64_t* word) {
#ifdef __CUDA_ARCH__
  uint64_t value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
#else
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
#endif
}

TAPEDECK_ANYWHERE uint32_t LoadAcquire(const uint32_t* word) {
#ifdef __CUDA_ARCH__
  uint32_t value;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
#else
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
#endif
}

TAPEDECK_ANYWHERE int32_t LoadAcquire(const int32_t* word) {
  return static_cast<int32_t>(LoadAcquire(reinterpret_cast<const uint32_t*>(word)));
}

TAPEDECK_ANYWHERE void StoreRelease(uint64_t* word, uint64_t value) {
#ifdef __CUDA_ARCH__
  asm volatile("st.release.sys.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
#else
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
#endif
}

TAPEDECK_ANYWHERE void StoreRelease(uint32_t* word, uint32_t value) {
#ifdef __CUDA_ARCH__
  asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
#else
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
#endif
}

TAPEDECK_ANYWHERE void StoreRelease(int32_t* word, int32_t value) {
  StoreRelease(reinterpret_cast<uint32_t*>(word), static_cast<uint32_t>(value));
}

// The words of each end. All zero: an empty ring that is open.
struct WriterWords {
  uint64_t written;
  int32_t end;
  uint32_t unused;
};
struct ReaderWords {
  uint64_t read;
  int32_t stop;
  uint32_t unused;
};

// Where a ring lies. `capacity` has passed IsRingCapacity.
struct Ring {
  WriterWords* writer;
  ReaderWords* reader;
  unsigned char* bytes;
  uint64_t capacity;
};

// What an end knows by itself; one thread at a time. All zero for a new ring.
struct WriterPlace {
  uint64_t written = 0;
  uint64_t seen = 0;  // what the reader had read when it was last looked at
  int32_t fault = 0;  // errno
};
struct ReaderPlace {
  uint64_t read = 0;
  uint64_t seen = 0;  // what had been written when the writer was last looked at
  int32_t fault = 0;  // errno
};

// Where `position` lies, and how many of `bytes` bytes from there lie in one piece. The others lie
// at the ring's beginning.
struct Piece {
  uint64_t at;
  uint64_t bytes;
};
TAPEDECK_ANYWHERE Piece PieceAt(uint64_t capacity, uint64_t position, uint64_t bytes) {
  const uint64_t at = position & (capacity - 1);
  const uint64_t to_turn = capacity - at;
  return {at, bytes < to_turn ? bytes : to_turn};
}

// What `end` or `stop` says where it is not kOpen: an errno, or `ended` for kEnded.
TAPEDECK_ANYWHERE int32_t ReasonOfEnd(int32_t word, int32_t ended) {
  if (word == kEnded) return ended;
  return word > 0 && word <= kMostErrno ? word : EPROTO;
}

// ---- The writer's end.

// How many bytes may be put in, 0 where the ring is full; or, as a negative errno, why none may be
// any more: EPIPE where the reader takes no more, the errno that it gave, EPROTO.
TAPEDECK_ANYWHERE int64_t Room(const Ring& ring, WriterPlace& place) {
  if (place.fault != 0) return -place.fault;
  const uint64_t read = LoadAcquire(&ring.reader->read);
  const int32_t stop = LoadAcquire(&ring.reader->stop);
  if (stop != kOpen) place.fault = ReasonOfEnd(stop, EPIPE);
  if (read < place.seen || read > place.written) place.fault = EPROTO;
  if (place.fault != 0) return -place.fault;
  place.seen = read;
  return static_cast<int64_t>(ring.capacity - (place.written - read));
}

// The same from what is known already, which costs no look at the other end's memory: there may be
// more room, and the reader may have stopped.
TAPEDECK_ANYWHERE int64_t KnownRoom(const Ring& ring, const WriterPlace& place) {
  if (place.fault != 0) return -place.fault;
  return static_cast<int64_t>(ring.capacity - (place.written - place.seen));
}

// Shows the reader `bytes` more bytes, at most as many as there was room for, which lie behind
// `place.written` in the ring.
TAPEDECK_ANYWHERE void Commit(const Ring& ring, WriterPlace& place, uint64_t bytes) {
  place.written += bytes;
  StoreRelease(&ring.writer->written, place.written);
}

// There will be no more: kEnded, or an errno. Once.
TAPEDECK_ANYWHERE void End(const Ring& ring, int32_t why) { StoreRelease(&ring.writer->end, why); }

// ---- The reader's end.

// Whether the writer's counter can be true; it is then in `place.seen`.
TAPEDECK_ANYWHERE bool LookAtWriter(const Ring& ring, ReaderPlace& place) {
  const uint64_t written = LoadAcquire(&ring.writer->written);
  if (written < place.seen || written - place.read > ring.capacity) {
    place.fault = EPROTO;
    return false;
  }
  place.seen = written;
  return true;
}

// How many bytes may be taken out; 0 where all have been and no more will come; or a negative
// errno: EAGAIN where none is there yet, the one that the writer ended with, EPROTO. What was
// written before an end is given before the end is told.
TAPEDECK_ANYWHERE int64_t Available(const Ring& ring, ReaderPlace& place) {
  if (place.fault != 0) return -place.fault;
  if (!LookAtWriter(ring, place)) return -place.fault;
  if (place.seen == place.read) {
    const int32_t end = LoadAcquire(&ring.writer->end);
    if (end == kOpen) return -EAGAIN;
    // The last bytes may have come between the two loads.
    if (!LookAtWriter(ring, place)) return -place.fault;
    if (place.seen == place.read) return -ReasonOfEnd(end, 0);
  }
  return static_cast<int64_t>(place.seen - place.read);
}

// Gives `bytes` bytes behind `place.read` back to the writer, at most as many as were available.
TAPEDECK_ANYWHERE void Release(const Ring& ring, ReaderPlace& place, uint64_t bytes) {
  place.read += bytes;
  StoreRelease(&ring.reader->read, place.read);
}

// No more is taken: kEnded, or an errno. Once.
TAPEDECK_ANYWHERE void Stop(const Ring& ring, int32_t why) {
  StoreRelease(&ring.reader->stop, why);
}

}  // namespace tapedeck::gpu_worker::sockets
