// Two host threads at the ends of one ring. This file needs nothing but GoogleTest, so that it can
// be compiled alone, also with -std=c++17 -fsanitize=thread.
#include "gpu_worker/sockets/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace tapedeck::gpu_worker::sockets {
namespace {

// A ring of its own; the words as both ends share them.
class OneRing {
 public:
  explicit OneRing(uint64_t capacity) : bytes_(capacity) {}
  Ring ring() { return {&writer, &reader, bytes_.data(), bytes_.size()}; }

  WriterWords writer{};
  ReaderWords reader{};

 private:
  std::vector<unsigned char> bytes_;
};

unsigned char ByteAt(uint64_t position) {
  return static_cast<unsigned char>((position * 0x9e3779b97f4a7c15) >> 56);
}

// Puts in up to `most` bytes of the stream; what Room says.
int64_t PutSome(const Ring& ring, WriterPlace& place, uint64_t most) {
  const int64_t room = Room(ring, place);
  if (room <= 0) return room;
  const uint64_t bytes = std::min<uint64_t>(room, most);
  for (uint64_t i = 0; i < bytes; ++i) {
    ring.bytes[PieceAt(ring.capacity, place.written + i, 1).at] = ByteAt(place.written + i);
  }
  Commit(ring, place, bytes);
  return static_cast<int64_t>(bytes);
}

// Takes out up to `most` bytes, piece by piece, and counts those that are not the stream's.
int64_t TakeSome(const Ring& ring, ReaderPlace& place, uint64_t most, uint64_t* wrong) {
  const int64_t available = Available(ring, place);
  if (available <= 0) return available;
  uint64_t left = std::min<uint64_t>(available, most);
  const auto taken = static_cast<int64_t>(left);
  while (left > 0) {
    const Piece piece = PieceAt(ring.capacity, place.read, left);
    for (uint64_t i = 0; i < piece.bytes; ++i) {
      *wrong += ring.bytes[piece.at + i] != ByteAt(place.read + i);
    }
    Release(ring, place, piece.bytes);
    left -= piece.bytes;
  }
  return taken;
}

// A side of a stream until it is over; fails the test instead of waiting for ever.
template <typename Step>
int64_t RunToEnd(Step step) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (true) {
    const int64_t done = step();
    if (done <= 0 && done != -EAGAIN) return done;
    if (done == -EAGAIN) std::this_thread::yield();
    if (std::chrono::steady_clock::now() > deadline) return -ETIMEDOUT;
  }
}

struct Streamed {
  uint64_t taken = 0;
  uint64_t wrong = 0;
  int64_t writer_end = 1;
  int64_t reader_end = 1;
};

// `bytes` bytes in random pieces, and then `why`.
Streamed Stream(uint64_t capacity, uint64_t bytes, int32_t why, uint32_t seed) {
  OneRing shared(capacity);
  const Ring ring = shared.ring();
  Streamed out;
  std::thread writer([&] {
    std::mt19937 random(seed);
    WriterPlace place;
    out.writer_end = RunToEnd([&]() -> int64_t {
      if (place.written == bytes) return 0;
      const uint64_t most = 1 + random() % (2 * capacity);
      const int64_t put = PutSome(ring, place, std::min(most, bytes - place.written));
      return put == 0 ? -EAGAIN : put;
    });
    End(ring, why);
  });
  std::mt19937 random(seed + 1);
  ReaderPlace place;
  out.reader_end = RunToEnd([&] {
    const int64_t taken = TakeSome(ring, place, 1 + random() % (2 * capacity), &out.wrong);
    if (taken > 0) out.taken += taken;
    return taken;
  });
  writer.join();
  return out;
}

TEST(SocketRingTest, BytesArriveInOrderWhateverTheirPieces) {
  uint32_t seed = 1;
  for (const uint64_t capacity : {64, 256, 4096, 65536}) {
    const uint64_t bytes = 40 * capacity + 17;
    const Streamed out = Stream(capacity, bytes, kEnded, seed += 2);
    EXPECT_EQ(out.taken, bytes) << capacity;
    EXPECT_EQ(out.wrong, 0u) << capacity;
    EXPECT_EQ(out.writer_end, 0) << capacity;
    EXPECT_EQ(out.reader_end, 0) << capacity;
  }
}

TEST(SocketRingTest, WhatCameBeforeAnErrorIsGivenBeforeTheError) {
  for (uint32_t round = 0; round < 50; ++round) {
    const Streamed out = Stream(64, 200 + round, ECONNRESET, 100 + round);
    EXPECT_EQ(out.taken, 200 + round);
    EXPECT_EQ(out.wrong, 0u);
    EXPECT_EQ(out.reader_end, -ECONNRESET);
  }
}

TEST(SocketRingTest, AWriterHearsThatTheReaderHasStoppedInMidMessage) {
  OneRing shared(256);
  const Ring ring = shared.ring();
  int64_t writer_end = 1;
  std::thread writer([&] {
    WriterPlace place;
    writer_end = RunToEnd([&]() -> int64_t {
      const int64_t put = PutSome(ring, place, 100);
      return put == 0 ? -EAGAIN : put;
    });
  });
  ReaderPlace place;
  uint64_t wrong = 0;
  uint64_t taken = 0;
  EXPECT_EQ(RunToEnd([&]() -> int64_t {
              const int64_t some = TakeSome(ring, place, 33, &wrong);
              if (some > 0) taken += some;
              return taken > 1000 ? 0 : some;
            }),
            0);
  Stop(ring, kEnded);
  writer.join();
  EXPECT_EQ(writer_end, -EPIPE);
  EXPECT_EQ(wrong, 0u);
}

TEST(SocketRingTest, ACapacityIsAPowerOfTwoWithinBounds) {
  for (const uint64_t good : {uint64_t{64}, uint64_t{4096}, kMostRingBytes}) {
    EXPECT_TRUE(IsRingCapacity(good)) << good;
  }
  for (const uint64_t bad : {uint64_t{0}, uint64_t{1}, uint64_t{32}, uint64_t{65}, uint64_t{4095},
                             kMostRingBytes + 1, 2 * kMostRingBytes, ~uint64_t{0}}) {
    EXPECT_FALSE(IsRingCapacity(bad)) << bad;
  }
}

TEST(SocketRingTest, ARingIsFullAtItsCapacityAndEmptyAtZero) {
  OneRing shared(64);
  const Ring ring = shared.ring();
  WriterPlace writer;
  ReaderPlace reader;
  uint64_t wrong = 0;
  EXPECT_EQ(Available(ring, reader), -EAGAIN);
  EXPECT_EQ(PutSome(ring, writer, 1000), 64);
  EXPECT_EQ(Room(ring, writer), 0);
  EXPECT_EQ(Available(ring, reader), 64);
  EXPECT_EQ(TakeSome(ring, reader, 40, &wrong), 40);
  EXPECT_EQ(KnownRoom(ring, writer), 0);
  EXPECT_EQ(Room(ring, writer), 40);
  EXPECT_EQ(KnownRoom(ring, writer), 40);
  EXPECT_EQ(wrong, 0u);
}

TEST(SocketRingTest, AWriterWhoseCounterCannotBeTrueIsABrokenPeer) {
  const auto after = [](uint64_t first, uint64_t second) {
    OneRing shared(64);
    ReaderPlace place;
    StoreRelease(&shared.writer.written, first);
    static_cast<void>(Available(shared.ring(), place));
    StoreRelease(&shared.writer.written, second);
    const int64_t told = Available(shared.ring(), place);
    // It stays so, though the counter is what it was again.
    StoreRelease(&shared.writer.written, first);
    if (told < 0) {
      EXPECT_EQ(Available(shared.ring(), place), told);
    }
    return told;
  };
  EXPECT_EQ(after(0, 64), 64);
  EXPECT_EQ(after(0, 65), -EPROTO);
  EXPECT_EQ(after(64, 63), -EPROTO);
  EXPECT_EQ(after(10, 0), -EPROTO);
  EXPECT_EQ(after(0, ~uint64_t{0}), -EPROTO);
  EXPECT_EQ(after(0, uint64_t{1} << 63), -EPROTO);
}

TEST(SocketRingTest, AReaderWhoseCounterCannotBeTrueIsABrokenPeer) {
  const auto after = [](uint64_t first, uint64_t second) {
    OneRing shared(64);
    WriterPlace place;
    EXPECT_EQ(PutSome(shared.ring(), place, 48), 48);
    StoreRelease(&shared.reader.read, first);
    static_cast<void>(Room(shared.ring(), place));
    StoreRelease(&shared.reader.read, second);
    const int64_t told = Room(shared.ring(), place);
    EXPECT_EQ(KnownRoom(shared.ring(), place) < 0, told < 0);
    return told;
  };
  EXPECT_EQ(after(0, 48), 64);
  EXPECT_EQ(after(0, 49), -EPROTO);
  EXPECT_EQ(after(20, 19), -EPROTO);
  EXPECT_EQ(after(0, ~uint64_t{0}), -EPROTO);
}

TEST(SocketRingTest, AnEndThatIsNoneIsABrokenPeer) {
  for (const int32_t end : {-2, -1000, kMostErrno + 1, INT32_MAX, INT32_MIN}) {
    OneRing shared(64);
    ReaderPlace reader;
    End(shared.ring(), end);
    EXPECT_EQ(Available(shared.ring(), reader), -EPROTO) << end;
    WriterPlace writer;
    Stop(shared.ring(), end);
    EXPECT_EQ(Room(shared.ring(), writer), -EPROTO) << end;
  }
}

// What a broken peer writes at any time is never an index out of the ring: the memory behind it is
// exactly as large, so that AddressSanitizer or valgrind sees a byte too far.
TEST(SocketRingTest, NoCounterMakesAnEndTouchMoreThanTheRing) {
  OneRing shared(64);
  const Ring ring = shared.ring();
  bool over = false;
  std::thread broken([&] {
    std::mt19937_64 random(7);
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
      StoreRelease(&shared.writer.written, random() % 3 == 0 ? random() : random() % 200);
      StoreRelease(&shared.reader.read, random() % 3 == 0 ? random() : random() % 200);
    }
  });
  uint64_t moved = 0;
  uint64_t faults = 0;
  // Until both have happened often, whatever turns the two threads get.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while ((moved < 2000 || faults < 2000) && std::chrono::steady_clock::now() < deadline) {
    ReaderPlace reader;
    WriterPlace writer;
    for (int i = 0; i < 4; ++i) {
      uint64_t wrong = 0;
      const int64_t taken = TakeSome(ring, reader, 1000, &wrong);
      const int64_t put = PutSome(ring, writer, 1000);
      EXPECT_LE(taken, 64);
      EXPECT_LE(put, 64);
      moved += (taken > 0 ? 1 : 0) + (put > 0 ? 1 : 0);
      faults += (taken == -EPROTO ? 1 : 0) + (put == -EPROTO ? 1 : 0);
    }
  }
  __atomic_store_n(&over, true, __ATOMIC_RELEASE);
  broken.join();
  EXPECT_GE(moved, 2000u);
  EXPECT_GE(faults, 2000u);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::sockets
