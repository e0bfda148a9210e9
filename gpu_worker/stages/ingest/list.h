// The kinds of packets and of transports: the one place that knows them all. A new one adds its
// folder, a line in list.cc and a line in CMakeLists.txt.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/ingest/feed.h"
#include "gpu_worker/stages/ingest/packet.h"
#include "gpu_worker/stages/ingest/parameters.h"

namespace tapedeck::gpu_worker::stages::ingest {

struct PacketKind {
  const char* name;
  bool timed;       // by times, so that the channel must have a sample rate
  bool big_endian;  // so are samples of more than a byte
  std::unique_ptr<PacketReader> (*create)(const StreamSettings& settings);
};

// Null: there is none of that name.
const PacketKind* FindPacketKind(const std::string& name);
std::vector<std::string> PacketKinds();

// By the transport that `parameters` name; its errors.
absl::StatusOr<OpenedFeed> OpenFeed(const Parameters& parameters, const PacketReader& reader);

}  // namespace tapedeck::gpu_worker::stages::ingest
