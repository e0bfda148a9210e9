// Turns the name of a device into that device.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/device/list.h"

namespace tapedeck::gpu_worker::device {

struct Chosen {
  std::unique_ptr<Device> device;
  std::string why;  // "asked for", or what "auto" tried before
};

// `text` is auto, host or cuda:N. Auto takes the first device that works. INVALID_ARGUMENT
// (ARGUMENT_INVALID) for other text, FAILED_PRECONDITION (DEVICE_UNUSABLE) with the reason.
absl::StatusOr<Chosen> Choose(absl::string_view text);

struct Named {
  DeviceEntry entry;
  int index = 0;
  std::string name() const;
};

// Without a look whether there is such a device. INVALID_ARGUMENT (ARGUMENT_INVALID).
absl::StatusOr<Named> FindNamed(absl::string_view text);

// "cuda:0".
std::string NameOf(const DeviceEntry& entry, int index);

// "no cuda device: WHY".
std::string Refusal(const DeviceEntry& entry, const absl::Status& status);

}  // namespace tapedeck::gpu_worker::device
