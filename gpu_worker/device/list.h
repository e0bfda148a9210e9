// The kinds of devices of this build. A new kind of device adds its folder and a line in list.cc.
#pragma once

#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::device {

struct DeviceEntry {
  absl::string_view kind;
  absl::StatusOr<std::unique_ptr<Device>> (*create)(int index);
  // How many there are, which have an index each; null: there is one, without an index.
  absl::StatusOr<int> (*count)();
};

// In the order in which "auto" tries them; the last one is always usable.
std::span<const DeviceEntry> DeviceEntries();

}  // namespace tapedeck::gpu_worker::device
