// Streams of packets of the kind "numbered".
#pragma once

#include "gpu_worker/stages/ingest/packet.h"

namespace tapedeck::gpu_worker::stages::ingest::numbered {

std::unique_ptr<PacketReader> CreateReader(const StreamSettings& settings);

}  // namespace tapedeck::gpu_worker::stages::ingest::numbered
