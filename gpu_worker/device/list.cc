#include "gpu_worker/device/list.h"

#include "gpu_worker/device/cuda/device.h"
#include "gpu_worker/device/host/device.h"

namespace tapedeck::gpu_worker::device {
namespace {

constexpr Room kRooms[] = {
    {"cuda", &cuda::Create, &cuda::Count},
    {"host", &host::Create, nullptr},
};

}  // namespace

std::span<const Room> Rooms() { return kRooms; }

}  // namespace tapedeck::gpu_worker::device
