// What the packets of a playback are made of, by their kind. A kind is a file beside this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "services/model/recording/recording.h"
#include "services/signal/packet_parts.h"

namespace tapedeck::gpu_worker::stages::udp {

using Packets = std::span<const services::PacketParts>;

// Makes packets of blocks. One thread.
class Packer {
 public:
  virtual ~Packer() = default;

  // Of the next block, in order. They refer to the payload, and to what the packer keeps until it
  // is called again. None of a block that is missing. INVALID_ARGUMENT (ARGUMENT_INVALID): the kind
  // cannot tell the block's time.
  virtual absl::StatusOr<Packets> Pack(const dataplane::BlockHeader& header,
                                       std::span<const std::byte> payload) = 0;

  // What says that the stream has ended, once; none: its kind has no word for that.
  virtual Packets End() = 0;
};

struct PackerSettings {
  uint32_t stream = 0;
  size_t packet_bytes = 0;                        // of samples; divides a block
  uint64_t block_bytes = 0;                       // whole packets
  uint64_t blocks = 0;                            // that will come; 0: unknown
  std::string datatype;                           // of the samples
  double sample_rate = 0;                         // 0: unknown
  std::vector<services::Annotation> annotations;  // of the recording, as far as they hold
};

// A block that is missing leaves a gap in their numbers.
namespace numbered {

// Any samples.
absl::StatusOr<std::unique_ptr<Packer>> CreatePacker(const PackerSettings& settings);

}  // namespace numbered

// VITA 49.2, with the times of a recording and what its annotations tell of the signal. What is
// missing, or annotated as lost, is not sent: the times leave it out.
namespace vita49 {

// INVALID_ARGUMENT (ARGUMENT_INVALID): samples that are not big-endian, or a rate that is unknown
// or has no times in picoseconds.
absl::StatusOr<std::unique_ptr<Packer>> CreatePacker(const PackerSettings& settings);

}  // namespace vita49
}  // namespace tapedeck::gpu_worker::stages::udp
