// The udp sink: what is played, as packets that the source ingest reads. What is missing of it is
// not sent.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "gpu_worker/packets/datagrams.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::udp {

struct Parameters {
  dataplane::SocketAddress address;  // where packets go
  uint64_t packet_bytes = 1024;      // of samples in each: with headers less than the usual MTU
  std::string packets = "numbered";  // their kind
  uint32_t stream = 1;               // the number in its packets
};

absl::StatusOr<Parameters> Parse(const services::StageParameters& given);
Description Describe(const Parameters& parameters);

// PERMISSION_DENIED (DESTINATION_NOT_ALLOWED); INVALID_ARGUMENT (ARGUMENT_INVALID) where a block is
// no whole number of packets, or the packets cannot carry such samples; UNAVAILABLE
// (DESTINATION_UNREACHABLE), which a playback ends with, too, once it is told that nobody receives,
// or where the network takes nothing for a second.
absl::StatusOr<MadeSink> Create(const Parameters& parameters, const SinkSetup& setup);

}  // namespace tapedeck::gpu_worker::stages::udp
