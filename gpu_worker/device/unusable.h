// The errors of whoever cannot use a device.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/device/device.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::device {

// FAILED_PRECONDITION (DEVICE_UNUSABLE). `device` is its description, or what was asked for.
inline absl::Status Unusable(absl::string_view device, absl::string_view text) {
  return services::WithReason(absl::FailedPreconditionError(text), "DEVICE_UNUSABLE",
                              {{"device", std::string(device)}});
}

// Why a job failed that worked on `device` and ended with `error`: where the device has failed
// itself, all else that is said is a consequence.
inline absl::Status FailureOn(const Device& device, const absl::Status& error) {
  if (error.ok() || absl::IsCancelled(error)) return error;
  const absl::Status health = device.health().status();
  return health.ok() ? error : health;
}

}  // namespace tapedeck::gpu_worker::device
