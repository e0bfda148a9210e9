// Which photo of a person is most like the one in the question: by local binary patterns of photos
// that a memcached holds. C++17, for nvcc and for g++.
//
//   question  FaceQuestion
//   answer    FaceAnswer
// Photos are in the memcached as "face/PERSON/NUMBER", numbers from 0 to kPhotosOfAPerson - 1, of
// which some may be missing. -ENOENT where all are; an errno of the memcached's connection where
// that has failed, or -EPROTO where it says something else than the protocol has.
#pragma once

#include <cerrno>
#include <cstdint>

#include "tests/gpu_worker/sockets/applications/memcached.h"
#include "tests/gpu_worker/sockets/applications/patterns.h"
#include "tests/gpu_worker/sockets/applications/server_args.h"

namespace tapedeck::gpu_worker::sockets {

inline constexpr uint32_t kPhotosOfAPerson = 4;

struct FaceQuestion {
  uint32_t person;
  uint32_t unused;
  unsigned char photo[kPhotoBytes];
};

struct FaceAnswer {
  int32_t result;     // 0 or a negative errno
  uint32_t photo;     // the number of the nearest, the first of equals
  uint64_t distance;  // of that one
};

// Of a block, in memory of the device.
struct FaceMemory {
  FaceQuestion question;
  FaceAnswer answer;
  Patterns asked;
  Patterns stored;
  uint64_t distance;
  MemcachedReader reader;
};

struct FaceServer {
  static constexpr uint32_t kLanes = 256;

  ServerArgs args;
  uint32_t memcached_port;
  FaceMemory* memory;  // for each block

  TAPEDECK_ANYWHERE int64_t Connect() const {
    return gconnect(args.net, 0x7f000001, memcached_port, args.timeout_ns);
  }

  // Looks at a photo that has been read.
  TAPEDECK_ANYWHERE void Compare(FaceMemory& own, uint32_t number) const {
    CountPatterns(own.reader.value, own.stored);
    const uint64_t distance = DistanceOf(own.asked, own.stored, &own.distance);
    if (IsFirstLane() && (own.answer.result != 0 || distance < own.answer.distance)) {
      own.answer = {0, number, distance};
    }
    SyncBlock();
  }

  // Fills the answer; 0, or a negative errno with which the connection to the memcached is of no
  // more use.
  TAPEDECK_ANYWHERE int64_t Find(FaceMemory& own, int64_t memcached) const {
    if (IsFirstLane()) own.answer = {-ENOENT, 0, 0};
    CountPatterns(own.question.photo, own.asked);
    if (memcached < 0) return memcached;
    const uint32_t person = own.question.person;
    const int64_t asked =
        AskMemcached(args.net, memcached, own.reader, person, kPhotosOfAPerson, args.timeout_ns);
    if (asked != 0) return asked;
    while (true) {
      const int64_t number = NextValue(args.net, memcached, own.reader, person, args.timeout_ns);
      if (number == kNoMoreValues) return 0;
      if (number < 0) return number;
      Compare(own, static_cast<uint32_t>(number));
    }
  }

  // The connection to the memcached lasts as long as the block, or until it fails: then the next
  // question makes another.
  TAPEDECK_ANYWHERE void RunBlock(uint32_t block) const {
    FaceMemory& own = memory[block];
    int64_t memcached = Connect();
    ServeConnections(args, block, [&](int64_t socket) {
      while (NextQuestion(args, socket, &own.question, sizeof(own.question)) > 0) {
        if (memcached < 0) memcached = Connect();
        const int64_t failed = Find(own, memcached);
        if (failed < 0) {
          if (memcached >= 0) gclose(args.net, memcached, 0);
          memcached = -ENOTCONN;
          if (IsFirstLane()) own.answer = {static_cast<int32_t>(failed), 0, 0};
          SyncBlock();
        }
        if (!SendAll(args, socket, &own.answer, sizeof(own.answer))) break;
        CountAnswer(args, block);
      }
    });
    if (memcached >= 0) gclose(args.net, memcached, args.timeout_ns);
  }
};

}  // namespace tapedeck::gpu_worker::sockets
