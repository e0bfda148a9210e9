#include "services/rpc/client/calls/request_id.h"

#include <cstdint>
#include <random>

#include "absl/strings/str_format.h"

namespace tapedeck::services::client {

std::string NewRequestId() {
  std::random_device device;
  const auto random64 = [&device] { return uint64_t{device()} << 32 | device(); };
  // RFC 9562 section 5.4: version 4 and variant 10 at fixed places.
  const uint64_t high = (random64() & ~uint64_t{0xf000}) | 0x4000;
  const uint64_t low = (random64() & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);
  return absl::StrFormat("%08x-%04x-%04x-%04x-%012x", high >> 32, (high >> 16) & 0xffff,
                         high & 0xffff, low >> 48, low & 0xffffffffffff);
}

}  // namespace tapedeck::services::client
