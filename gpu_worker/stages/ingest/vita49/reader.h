// Streams of packets of VITA 49.2.
#pragma once

#include "gpu_worker/stages/ingest/packet.h"

namespace tapedeck::gpu_worker::stages::ingest::vita49 {

// Needs a sample rate: positions come from the packets' times.
std::unique_ptr<PacketReader> CreateReader(const StreamSettings& settings);

}  // namespace tapedeck::gpu_worker::stages::ingest::vita49
