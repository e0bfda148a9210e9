// Turns --device into a device, and says which and why.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::pipeline {

struct DeviceChoice {
  std::unique_ptr<device::Device> device;
  std::string description;  // "cuda:0 NVIDIA H200 (cuFFT)", "host (FFTW3f)"
  std::string why;          // "asked for", or what "auto" tried before
};

// `text` is auto, host or cuda:N. Auto takes the first device that works. INVALID_ARGUMENT
// (ARGUMENT_INVALID) for other text, FAILED_PRECONDITION (DEVICE_UNUSABLE) with the reason.
absl::StatusOr<DeviceChoice> ChooseDevice(absl::string_view text);

// The same errors for other text. Does not look whether there is such a device.
absl::Status CheckDevice(const std::string& text);

}  // namespace tapedeck::gpu_worker::pipeline
