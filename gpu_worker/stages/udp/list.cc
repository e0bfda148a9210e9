#include "gpu_worker/stages/udp/list.h"

#include "gpu_worker/packets/named.h"
#include "gpu_worker/packets/numbered/packet.h"
#include "gpu_worker/stages/udp/numbered/packer.h"
#include "gpu_worker/stages/udp/vita49/packer.h"
#include "services/signal/vita49/packet.h"

namespace tapedeck::gpu_worker::stages::udp {
namespace {

constexpr PacketKind kPacketKinds[] = {
    {"numbered", packets::numbered::kHeaderBytes, &numbered::CreatePacker},
    {"vita49", services::vita49::kDataHeaderBytes, &vita49::CreatePacker},
};

}  // namespace

const PacketKind* FindPacketKind(const std::string& name) {
  return packets::FindNamed(kPacketKinds, name);
}

std::vector<std::string> PacketKinds() { return packets::NamesOf(kPacketKinds); }

}  // namespace tapedeck::gpu_worker::stages::udp
