// Answers with products of matrices. C++17, for nvcc and for g++.
//
//   question  MatrixQuestion, then rows x inner and inner x columns floats, row by row
//   answer    MatrixAnswer, then rows x columns floats where its result is 0
// A question of a size that is none is answered with -EMSGSIZE, and its connection ends.
#pragma once

#include <cerrno>
#include <cstdint>

#include "tests/gpu_worker/sockets/applications/server_args.h"

namespace tapedeck::gpu_worker::sockets {

inline constexpr uint32_t kMostMatrixSide = 256;

struct MatrixQuestion {
  uint32_t rows;
  uint32_t inner;
  uint32_t columns;
  uint32_t unused;
};

struct MatrixAnswer {
  int32_t result;  // 0 or a negative errno
  uint32_t unused[3];
};

// Of a block, in memory of the device.
struct MatrixMemory {
  MatrixQuestion question;
  MatrixAnswer answer;
  float product[kMostMatrixSide * kMostMatrixSide];  // behind the answer: they are sent as one
  float left[kMostMatrixSide * kMostMatrixSide];
  float right[kMostMatrixSide * kMostMatrixSide];
};

struct MatrixServer {
  static constexpr uint32_t kLanes = 256;

  ServerArgs args;
  MatrixMemory* memory;  // for each block

  static TAPEDECK_ANYWHERE bool IsSide(uint32_t side) {
    return side >= 1 && side <= kMostMatrixSide;
  }

  // By all lanes, each of which makes some of the elements. The sums are of doubles: what is
  // answered is then as near as a float can be, whatever the order of the terms.
  TAPEDECK_ANYWHERE void Multiply(MatrixMemory& own) const {
    const MatrixQuestion size = own.question;
    const uint32_t elements = size.rows * size.columns;
    for (uint32_t i = LaneOfBlock(); i < elements; i += LanesOfBlock()) {
      const float* const row = own.left + i / size.columns * size.inner;
      const float* const column = own.right + i % size.columns;
      double sum = 0;
      for (uint32_t k = 0; k < size.inner; ++k) {
        sum += static_cast<double>(row[k]) * static_cast<double>(column[k * size.columns]);
      }
      own.product[i] = static_cast<float>(sum);
    }
    SyncBlock();
  }

  TAPEDECK_ANYWHERE bool Receive(int64_t socket, float* matrix, uint32_t floats) const {
    const auto bytes = static_cast<int64_t>(floats * sizeof(float));
    return grecv_whole(args.net, socket, matrix, static_cast<uint64_t>(bytes), args.timeout_ns) ==
           bytes;
  }

  // Whether the connection goes on.
  TAPEDECK_ANYWHERE bool Answer(MatrixMemory& own, int64_t socket) const {
    const MatrixQuestion size = own.question;
    const bool good = IsSide(size.rows) && IsSide(size.inner) && IsSide(size.columns);
    if (IsFirstLane()) own.answer = {good ? 0 : -EMSGSIZE, {0, 0, 0}};
    SyncBlock();
    if (!good) {
      SendAll(args, socket, &own.answer, sizeof(own.answer));
      return false;
    }
    if (!Receive(socket, own.left, size.rows * size.inner) ||
        !Receive(socket, own.right, size.inner * size.columns)) {
      return false;
    }
    Multiply(own);
    return SendAll(args, socket, &own.answer,
                   sizeof(own.answer) + size.rows * size.columns * sizeof(float));
  }

  TAPEDECK_ANYWHERE void RunBlock(uint32_t block) const {
    MatrixMemory& own = memory[block];
    ServeConnections(args, block, [&](int64_t socket) {
      while (NextQuestion(args, socket, &own.question, sizeof(own.question)) > 0) {
        if (!Answer(own, socket)) break;
        CountAnswer(args, block);
      }
    });
  }
};

}  // namespace tapedeck::gpu_worker::sockets
