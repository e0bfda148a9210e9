// Answers with ranges of a file that lies in memory of the device. C++17, for nvcc and for g++.
//
//   question  FileQuestion
//   answer    FileAnswer, then as many bytes as its result says
// As pread(2) a range may end before what was asked for, at the file's end; one that begins behind
// it has 0 bytes. -EMSGSIZE for more than kMostRangeBytes.
#pragma once

#include <cerrno>
#include <cstdint>

#include "tests/gpu_worker/sockets/applications/server_args.h"

namespace tapedeck::gpu_worker::sockets {

inline constexpr uint64_t kMostRangeBytes = uint64_t{256} << 20;

struct FileQuestion {
  uint64_t offset;
  uint64_t bytes;
};

struct FileAnswer {
  int64_t result;  // bytes that follow, or a negative errno
};

// Of a block, in memory of the device.
struct FileMemory {
  FileQuestion question;
  FileAnswer answer;
};

struct FileServer {
  static constexpr uint32_t kLanes = 256;

  ServerArgs args;
  const unsigned char* file;
  uint64_t file_bytes;
  FileMemory* memory;  // for each block

  TAPEDECK_ANYWHERE int64_t ResultOf(const FileQuestion& question) const {
    if (question.bytes > kMostRangeBytes) return -EMSGSIZE;
    if (question.offset >= file_bytes) return 0;
    return static_cast<int64_t>(Least(question.bytes, file_bytes - question.offset));
  }

  // Whether the connection goes on.
  TAPEDECK_ANYWHERE bool Answer(FileMemory& own, int64_t socket) const {
    const FileQuestion question = own.question;
    const int64_t result = ResultOf(question);
    if (IsFirstLane()) own.answer.result = result;
    SyncBlock();
    if (!SendAll(args, socket, &own.answer, sizeof(own.answer))) return false;
    if (result <= 0) return true;
    return SendAll(args, socket, file + question.offset, static_cast<uint64_t>(result));
  }

  TAPEDECK_ANYWHERE void RunBlock(uint32_t block) const {
    FileMemory& own = memory[block];
    ServeConnections(args, block, [&](int64_t socket) {
      while (NextQuestion(args, socket, &own.question, sizeof(own.question)) > 0) {
        if (!Answer(own, socket)) break;
        CountAnswer(args, block);
      }
    });
  }
};

}  // namespace tapedeck::gpu_worker::sockets
