// The error of whoever cannot use a device.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::device {

// FAILED_PRECONDITION (DEVICE_UNUSABLE). `device` is its description, or what was asked for.
inline absl::Status Unusable(absl::string_view device, absl::string_view text) {
  return services::WithReason(absl::FailedPreconditionError(text), "DEVICE_UNUSABLE",
                              {{"device", std::string(device)}});
}

}  // namespace tapedeck::gpu_worker::device
