#include "gpu_worker/stages/detect/list.h"

#include "dataplane/status_macros.h"
#include "gpu_worker/stages/detect/cuda/summer.h"
#include "gpu_worker/stages/detect/host/summer.h"
#include "gpu_worker/stages/device_room.h"

namespace tapedeck::gpu_worker::stages::detect {
namespace {

constexpr DeviceRoom<decltype(&host::Create)> kRooms[] = {
    {"cuda", &cuda::Create},
    {"host", &host::Create},
};

}  // namespace

absl::StatusOr<std::unique_ptr<Summer>> CreateSummer(const Band& band, const device::Device& device,
                                                     device::Queue& queue) {
  TD_ASSIGN_OR_RETURN(const auto create, RoomFor(device, "detect: none", kRooms));
  return create(band, queue);
}

}  // namespace tapedeck::gpu_worker::stages::detect
