// What the packets of an emulated device are made of, by their kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu_worker/emulator/plan.h"

namespace tapedeck::gpu_worker::emulator {

using Bytes = std::vector<std::byte>;

// Of one stream. One thread.
class PacketMaker {
 public:
  virtual ~PacketMaker() = default;

  struct About {
    uint64_t packet = 0;       // counted from 0, also those that are lost
    uint64_t offset = 0;       // bytes of samples before it in the stream
    size_t samples_bytes = 0;  // of the packet
  };
  // What is sent before the packet: of the signal, not of its samples.
  virtual std::vector<Bytes> Before(const About& about) = 0;
  virtual Bytes Make(const About& about) = 0;

  // What says that the stream ends with that packet; empty: its kind has no word for that.
  virtual Bytes End(const About& last) = 0;
};

struct NumberedStream {
  uint32_t stream = 1;
  uint32_t first_number = 0;
};
std::unique_ptr<PacketMaker> CreateNumbered(const NumberedStream& stream);

struct VitaStream {
  uint32_t stream = 1;
  size_t sample_bytes = 8;    // 1, or two whole numbers of 1, 2, 4 or 8 bytes
  double sample_rate = 1e6;   // one of a SampleClock
  int64_t begin_ns = 0;       // when the first sample was taken, UTC
  std::vector<Retune> tuned;  // in order; the first is of sample 0
};
// Null: there are no such samples, or no such rate. A context is sent before the packet that its
// sample is in, which may be any of its samples, and again every second of the stream.
std::unique_ptr<PacketMaker> CreateVita49(const VitaStream& stream);

}  // namespace tapedeck::gpu_worker::emulator
