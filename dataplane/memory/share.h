// How another process of this machine can open memory: a plain value, which travels to the peer.
// Only the room that made one opens it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tapedeck::dataplane {

struct MemoryShare {
  enum class Kind {
    kNone,   // nobody else can
    kMemfd,  // host memory: memfd_create(2)
    kCuda,   // a GPU's: CUDA Runtime API, "Interprocess communication"
  };
  static constexpr size_t kNameBytes = 16;
  static constexpr size_t kHandleBytes = 64;
  static constexpr size_t kUuidBytes = 16;

  Kind kind = Kind::kNone;
  uint64_t bytes = 0;  // from the first one on

  // Of a memfd: where its owner has it open, and 128 random bits that are its name. Who knows them
  // has been told of this very memory.
  int32_t pid = 0;
  int32_t fd = -1;
  std::array<uint8_t, kNameBytes> name{};

  // Of a GPU's: the driver's handle, and the UUID of the device that it lies on.
  std::array<uint8_t, kHandleBytes> handle{};
  std::array<uint8_t, kUuidBytes> device_uuid{};
};

}  // namespace tapedeck::dataplane
