#include "gpu_worker/stages/convert/list.h"

#include "dataplane/status_macros.h"
#include "gpu_worker/stages/convert/cuda/transform.h"
#include "gpu_worker/stages/convert/host/transform.h"
#include "gpu_worker/stages/device_room.h"

namespace tapedeck::gpu_worker::stages::convert {
namespace {

constexpr DeviceRoom<decltype(&host::Create)> kRooms[] = {
    {"cuda", &cuda::Create},
    {"host", &host::Create},
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transform>> Create(const dataplane::Datatype& from,
                                                  const dataplane::Datatype& to,
                                                  const device::Device& device,
                                                  device::Queue& queue) {
  TD_ASSIGN_OR_RETURN(const auto create, RoomFor(device, "convert: none", kRooms));
  return create(from, to, queue);
}

}  // namespace tapedeck::gpu_worker::stages::convert
