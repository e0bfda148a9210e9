#include "gpu_worker/stages/power/list.h"

#include "dataplane/status_macros.h"
#include "gpu_worker/stages/device_room.h"
#include "gpu_worker/stages/power/cuda/transform.h"
#include "gpu_worker/stages/power/host/transform.h"

namespace tapedeck::gpu_worker::stages::power {
namespace {

constexpr DeviceRoom<decltype(&host::Create)> kRooms[] = {
    {"cuda", &cuda::Create},
    {"host", &host::Create},
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transform>> Create(const Shape& shape, const device::Device& device,
                                                  device::Queue& queue) {
  TD_ASSIGN_OR_RETURN(const auto create, RoomFor(device, "power: none", kRooms));
  return create(shape, queue);
}

}  // namespace tapedeck::gpu_worker::stages::power
