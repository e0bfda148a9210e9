#include "gpu_worker/stages/synth/list.h"

#include "absl/strings/str_cat.h"
#include "gpu_worker/device/unusable.h"
#include "gpu_worker/stages/synth/cuda/source.h"
#include "gpu_worker/stages/synth/host/source.h"

namespace tapedeck::gpu_worker::stages::synth {
namespace {

struct Room {
  absl::string_view kind;
  absl::StatusOr<std::unique_ptr<SourceStage>> (*create)(const Waveform&, device::Device&);
};

constexpr Room kRooms[] = {
    {"cuda", &cuda::CreateSource},
    {"host", &host::CreateSource},
};

}  // namespace

absl::StatusOr<std::unique_ptr<SourceStage>> CreateSource(const Waveform& waveform,
                                                          device::Device& device) {
  for (const Room& room : kRooms) {
    if (room.kind == device.info().kind) return room.create(waveform, device);
  }
  return device::Unusable(
      device.info().description,
      absl::StrCat("synth: no source for devices of kind ", device.info().kind));
}

}  // namespace tapedeck::gpu_worker::stages::synth
