// The seam between the doctor's gRPC handler and a node, in plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/observe/doctor/finding.h"

namespace tapedeck::services::doctor {

struct PeerRail {
  std::string name;
  std::string transport;
  std::string address;
  uint16_t port = 0;
};

// More would be no node's.
inline constexpr size_t kMaxPeerRails = 64;

struct Request {
  bool measure = false;
  std::vector<PeerRail> peers;
};

// Any thread that may wait.
class Doctor {
 public:
  virtual ~Doctor() = default;
  // Waits, but not for longer than tapedeck/v1/doctor.proto says. RESOURCE_EXHAUSTED
  // (LIMIT_REACHED).
  virtual absl::StatusOr<Diagnosis> Examine(const Request& request) = 0;
};

}  // namespace tapedeck::services::doctor
