// The folders of a stage that work on one kind of device each, and the choice between them.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/device/unusable.h"

namespace tapedeck::gpu_worker::stages {

template <typename Create>
struct DeviceRoom {
  absl::string_view kind;  // of device
  Create create;           // a function
};

// FAILED_PRECONDITION (DEVICE_UNUSABLE) for a kind of device that is not among them. `what` is the
// name that the error gives to what is missing.
template <typename Create, size_t kRooms>
absl::StatusOr<Create> RoomFor(const device::Device& device, absl::string_view what,
                               const DeviceRoom<Create> (&rooms)[kRooms]) {
  const device::DeviceInfo& info = device.info();
  for (const DeviceRoom<Create>& room : rooms) {
    if (room.kind == info.kind) return room.create;
  }
  return device::Unusable(info.description, absl::StrCat(what, " for devices of kind ", info.kind));
}

}  // namespace tapedeck::gpu_worker::stages
