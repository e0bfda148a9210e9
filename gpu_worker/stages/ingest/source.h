// The ingest source: samples of the channel's datatype that come in packets over the network.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::ingest {

inline constexpr uint64_t kAnyStream = UINT64_MAX;

struct Parameters {
  // HOST:PORT that packets come to; one of the two.
  std::string udp;
  std::string tcp;
  // Of a multicast group in `udp`: where it is joined, and who alone is heard.
  std::string interface;
  std::string from;
  std::string packets = "numbered";  // their kind
  uint64_t stream = kAnyStream;      // 32 bits, or that of the first packet
  double timeout = 10;               // seconds without samples that it waits
  std::string silence = "end";  // what becomes of the job then, once samples have come: or "error"
  // Of the kernel. At 500 MB/s it fills in 64 ms.
  uint64_t buffer = 32 << 20;

  const std::string& transport_address() const { return udp.empty() ? tcp : udp; }
};

absl::StatusOr<Parameters> Parse(const services::StageParameters& given);
Description Describe(const Parameters& parameters);

// Listens from then on. INVALID_ARGUMENT (ARGUMENT_INVALID): it cannot listen there, or transforms
// need samples of another datatype. RESOURCE_EXHAUSTED (LIMIT_REACHED).
absl::StatusOr<MadeSource> Create(const Parameters& parameters, const SourceSetup& setup);

}  // namespace tapedeck::gpu_worker::stages::ingest
