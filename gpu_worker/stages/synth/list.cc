#include "gpu_worker/stages/synth/list.h"

#include "dataplane/status_macros.h"
#include "gpu_worker/stages/device_room.h"
#include "gpu_worker/stages/synth/cuda/source.h"
#include "gpu_worker/stages/synth/host/source.h"

namespace tapedeck::gpu_worker::stages::synth {
namespace {

constexpr DeviceRoom<decltype(&host::CreateSource)> kRooms[] = {
    {"cuda", &cuda::CreateSource},
    {"host", &host::CreateSource},
};

}  // namespace

absl::StatusOr<std::unique_ptr<SourceStage>> CreateSource(const Waveform& waveform,
                                                          device::Device& device) {
  TD_ASSIGN_OR_RETURN(const auto create, RoomFor(device, "synth: no source", kRooms));
  return create(waveform, device);
}

}  // namespace tapedeck::gpu_worker::stages::synth
