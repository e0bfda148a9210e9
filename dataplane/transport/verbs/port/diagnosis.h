// The errors of this folder: one sentence each, with the remedy and a reason for programs.
// README.md of transport/verbs lists them word for word.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::dataplane::verbs {

// Which port of which rail, in all texts.
struct PortName {
  std::string rail;     // "r0"
  std::string address;  // "10.0.0.1"
  std::string device;   // "rxe0"
  uint32_t port = 0;

  std::string device_port() const;  // "rxe0 port 1"
  // "rail r0 (10.0.0.1, rxe0 port 1): ", with a peer "rail r0 (…) to 10.0.0.2: ".
  std::string prefix(absl::string_view peer = "") const;
};

absl::Status NoDevice(absl::string_view address, absl::string_view cause);
absl::Status NoRoceV2Gid(const PortName& port, absl::string_view found);
absl::Status PortDown(const PortName& port, ibv_port_state state);
absl::Status DeviceGone(const PortName& port);
absl::Status PeerUnreachable(const PortName& port, absl::string_view peer, absl::string_view call,
                             int error);
// A registration of `bytes` that failed with `error`.
absl::Status RegistrationFailed(absl::string_view call, size_t bytes, bool device_memory,
                                int error);
// What the first failed completion of a connection means. Not for IBV_WC_WR_FLUSH_ERR, which only
// follows another failure.
absl::Status CompletionFailed(ibv_wc_status status, uint32_t vendor_error);
// This end's port stopped the queue pairs, without a failed request of this end.
absl::Status PeerBrokeIn();
// The port's event about a queue pair or completion queue of a connection.
absl::Status QueueFailed(ibv_event_type event);
// The small hello arrived, the full one did not.
absl::Status FullSizeLost(uint32_t mtu_bytes);

// Empty if the path MTU loses nothing.
std::string PathMtuWarning(uint32_t mtu_bytes);

// Payload bytes per second that a RoCEv2 path carries at most in blocks of 1 MiB.
uint64_t WireLimitBytesPerS(uint64_t bits_per_s, uint32_t mtu_bytes);

// Of an Ethernet port, from the codes in ibv_port_attr; 0 for unknown codes.
uint64_t PortBitsPerS(uint8_t active_speed, uint8_t active_width);

// ibv_mtu and bytes; 0 for what is no path MTU.
uint32_t MtuBytes(ibv_mtu mtu);
ibv_mtu MtuOf(uint32_t bytes);

}  // namespace tapedeck::dataplane::verbs
