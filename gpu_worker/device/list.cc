#include "gpu_worker/device/list.h"

#include "gpu_worker/device/cuda/device.h"
#include "gpu_worker/device/host/device.h"

namespace tapedeck::gpu_worker::device {
namespace {

constexpr DeviceEntry kEntries[] = {
    {"cuda", &cuda::Create, &cuda::Count},
    {"host", &host::Create, nullptr},
};

}  // namespace

std::span<const DeviceEntry> DeviceEntries() { return kEntries; }

}  // namespace tapedeck::gpu_worker::device
