// Addresses that kernels may listen on or connect to: what a program was given, and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::gpu_worker::sockets {

// One address with some of its ports. A value.
struct Endpoints {
  uint32_t address = 0;     // IPv4, 127.0.0.1 is 0x7f000001
  uint16_t first_port = 0;  // 0: any, and the system may choose one to listen on
  uint16_t last_port = 0;

  // "10.0.0.1:9000", "10.0.0.1:9000-9099" or "10.0.0.1:*". To listen on, 0.0.0.0 is every address
  // of the machine, and allowed only where it is named. INVALID_ARGUMENT.
  static absl::StatusOr<Endpoints> Parse(absl::string_view text);

  bool Has(uint32_t of_address, uint32_t port) const;
};

// Whether one of the list has it.
bool AnyHas(const std::vector<Endpoints>& list, uint32_t address, uint32_t port);

// "127.0.0.1:9000".
std::string EndpointText(uint32_t address, uint32_t port);

}  // namespace tapedeck::gpu_worker::sockets
