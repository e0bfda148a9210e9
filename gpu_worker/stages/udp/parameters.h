// What the udp sink is told.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "gpu_worker/packets/datagrams.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::udp {

struct Parameters {
  packets::Address address;          // where packets go
  uint64_t packet_bytes = 1024;      // of samples in each: with headers less than the usual MTU
  std::string packets = "numbered";  // their kind
  uint32_t stream = 1;               // the number in its packets
};

absl::StatusOr<Parameters> Parse(const services::StageParameters& given);
Description Describe(const Parameters& parameters);

}  // namespace tapedeck::gpu_worker::stages::udp
