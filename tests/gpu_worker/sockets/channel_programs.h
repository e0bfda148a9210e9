// Programs that record into a channel: the same source as threads of the CPU and as kernels.
// C++17, for nvcc and for g++.
#pragma once

#include <cstdint>

#include "gpu_worker/sockets/channel.h"

namespace tapedeck::gpu_worker::sockets {

inline constexpr uint32_t kChannelResults = 16;  // of a block
inline constexpr int64_t kChannelMs = 1'000'000;

enum class ChannelProgram {
  kFill,    // makes blocks until there are enough; results: how many, and what the end was
  kMisuse,  // what is refused
  kWait,    // acquires until it is told otherwise; results: how many, and what it was told
  kHole,    // does not commit the first of three blocks
  kWorks,   // commits a block, and says how a second one went once it is told to go on
};

// For blocks.h. Results lie in memory that the CPU sees.
struct ChannelCalls {
  static constexpr uint32_t kLanes = 128;

  ChannelProgram program;
  Channel channel;
  uint64_t blocks = 0;      // to be made by all together
  uint64_t last_bytes = 0;  // of the last one
  int64_t* results = nullptr;
  uint32_t* go_on = nullptr;

  // Words count on from the block's number, as the host's Fill has them.
  TAPEDECK_ANYWHERE void Fill(void* data, int64_t number) const {
    auto* const words = static_cast<uint64_t*>(data);
    for (uint64_t i = LaneOfBlock(); i < channel.block_bytes / sizeof(uint64_t);
         i += LanesOfBlock()) {
      words[i] = static_cast<uint64_t>(number) * 1'000'003 + i;
    }
    SyncBlock();
  }

  TAPEDECK_ANYWHERE void Tell(int64_t* own, uint32_t which, int64_t result) const {
    if (IsFirstLane()) own[which] = result;
  }

  TAPEDECK_ANYWHERE void RunFill(int64_t* own) const {
    int64_t made = 0;
    int64_t over = 0;
    while (over >= 0) {
      void* data = nullptr;
      const int64_t block = gacquire(channel, &data, 20'000 * kChannelMs);
      over = block < 0 || block >= static_cast<int64_t>(blocks) ? block : 0;
      if (over != 0) break;
      Fill(data, block);
      const bool last = block + 1 == static_cast<int64_t>(blocks);
      if (last) gend(channel);
      over = gcommit(channel, block, last ? last_bytes : channel.block_bytes);
      made += over == block ? 1 : 0;
    }
    Tell(own, 0, made);
    Tell(own, 1, over);
  }

  TAPEDECK_ANYWHERE void RunMisuse(int64_t* own) const {
    void* data = nullptr;
    const uint64_t whole = channel.block_bytes;
    Tell(own, 0, gcommit(channel, -1, whole));
    Tell(own, 1, gcommit(channel, 0, whole));
    Tell(own, 2, gacquire(channel, &data, -1));
    Tell(own, 3, gacquire(channel, &data, kMostTimeoutNs + 1));
    const int64_t first = gacquire(channel, &data, 0);
    Fill(data, first);
    Tell(own, 4, gcommit(channel, first, 0));
    Tell(own, 5, gcommit(channel, first, whole + channel.sample_bytes));
    Tell(own, 6, gcommit(channel, first, channel.sample_bytes / 2));
    Tell(own, 7, gcommit(channel, first, whole));
    Tell(own, 8, gcommit(channel, first, whole));
    int64_t block = 0;
    for (uint64_t i = 0; i < channel.slots; ++i)
      block = gacquire(channel, &data, 1000 * kChannelMs);
    Tell(own, 9, block);
    Tell(own, 10, gacquire(channel, &data, 0));
    Tell(own, 11, gacquire(channel, &data, 30 * kChannelMs));
    // Only the last one is shorter.
    gcommit(channel, 2, whole);
    Tell(own, 12, gcommit(channel, 1, channel.sample_bytes));
    for (int64_t i = 1; i < block - 1; ++i) gcommit(channel, i, whole);
    Tell(own, 13, gcommit(channel, block - 1, channel.sample_bytes));
    Tell(own, 14, gacquire(channel, &data, 1000 * kChannelMs));
    Tell(own, 15, gcommit(channel, block, whole));
  }

  TAPEDECK_ANYWHERE void RunWait(int64_t* own) const {
    int64_t made = 0;
    void* data = nullptr;
    int64_t block = 0;
    while ((block = gacquire(channel, &data, 20'000 * kChannelMs)) >= 0) {
      Fill(data, block);
      if (gcommit(channel, block, channel.block_bytes) == block) ++made;
    }
    Tell(own, 0, made);
    Tell(own, 1, block);
    Tell(own, 2, gcommit(channel, made, channel.block_bytes));
  }

  TAPEDECK_ANYWHERE void RunHole() const {
    void* data = nullptr;
    for (int64_t i = 0; i < 3; ++i) {
      const int64_t block = gacquire(channel, &data, 1000 * kChannelMs);
      if (i > 0) gcommit(channel, block, channel.block_bytes);
    }
  }

  TAPEDECK_ANYWHERE void RunWorks(int64_t* own) const {
    void* data = nullptr;
    const int64_t first = gacquire(channel, &data, 1000 * kChannelMs);
    Fill(data, first);
    Tell(own, 0, gcommit(channel, first, channel.block_bytes));
    const int64_t second = gacquire(channel, &data, 1000 * kChannelMs);
    while (FromFirstLane(IsFirstLane() ? LoadAcquire(go_on) : 0) == 0) PauseBetweenLooks(0);
    Tell(own, 1, gcommit(channel, second, channel.block_bytes));
  }

  TAPEDECK_ANYWHERE void RunBlock(uint32_t number) const {
    int64_t* const own = results + number * kChannelResults;
    switch (program) {
      case ChannelProgram::kFill:
        return RunFill(own);
      case ChannelProgram::kMisuse:
        return RunMisuse(own);
      case ChannelProgram::kWait:
        return RunWait(own);
      case ChannelProgram::kHole:
        return RunHole();
      case ChannelProgram::kWorks:
        return RunWorks(own);
    }
  }
};

}  // namespace tapedeck::gpu_worker::sockets
