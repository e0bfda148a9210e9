// Turns --device into devices, and says which and why.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

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

// Of one worker. Each has a context, memory for probes, and its rings.
inline constexpr size_t kMaxDevices = 16;

// `texts` are all of --device, at least one: auto or all alone, or at most kMaxDevices names, each
// once. All takes every GPU there is; if one of them does not work, none is chosen. The same
// errors.
absl::StatusOr<std::vector<DeviceChoice>> ChooseDevices(const std::vector<std::string>& texts);

// ARGUMENT_INVALID for other text, alone or with the others. They do not look whether there are
// such devices.
absl::Status CheckDevice(const std::string& text);
absl::Status CheckDevices(const std::vector<std::string>& texts);

}  // namespace tapedeck::gpu_worker::pipeline
