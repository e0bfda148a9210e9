// The kinds of packets: the one place that knows them all. A new one adds its folder, a line in
// list.cc and a line in CMakeLists.txt.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/udp/packer.h"

namespace tapedeck::gpu_worker::stages::udp {

struct PacketKind {
  const char* name;
  size_t header_bytes;  // before the samples of a packet
  // INVALID_ARGUMENT (ARGUMENT_INVALID): the kind cannot carry such samples.
  absl::StatusOr<std::unique_ptr<Packer>> (*create)(const PackerSettings& settings);
};

// Null: there is none of that name.
const PacketKind* FindPacketKind(const std::string& name);
std::vector<std::string> PacketKinds();

}  // namespace tapedeck::gpu_worker::stages::udp
