#include "gpu_worker/stages/ingest/list.h"

#include "gpu_worker/packets/named.h"
#include "gpu_worker/stages/ingest/numbered/reader.h"
#include "gpu_worker/stages/ingest/tcp/feed.h"
#include "gpu_worker/stages/ingest/udp/feed.h"
#include "gpu_worker/stages/ingest/vita49/reader.h"

namespace tapedeck::gpu_worker::stages::ingest {
namespace {

constexpr PacketKind kPacketKinds[] = {
    {"numbered", false, false, &numbered::CreateReader},
    {"vita49", true, true, &vita49::CreateReader},
};

}  // namespace

const PacketKind* FindPacketKind(const std::string& name) {
  return packets::FindNamed(kPacketKinds, name);
}

std::vector<std::string> PacketKinds() { return packets::NamesOf(kPacketKinds); }

absl::StatusOr<OpenedFeed> OpenFeed(const Parameters& parameters, const PacketReader& reader) {
  const FeedSettings settings{.address = parameters.transport_address(),
                              .interface = parameters.interface,
                              .from = parameters.from,
                              .buffer_bytes = parameters.buffer,
                              .reader = &reader};
  return parameters.udp.empty() ? tcp::Open(settings) : udp::Open(settings);
}

}  // namespace tapedeck::gpu_worker::stages::ingest
