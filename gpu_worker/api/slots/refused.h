// What slots of recorders and players have in common at their door.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::api {

// What a program must not do with a slot. INVALID_ARGUMENT (ARGUMENT_INVALID).
inline absl::Status Refused(absl::string_view text) {
  return services::ArgumentInvalid("slot", text);
}

// How often a thread looks that waits for a slot.
inline constexpr absl::Duration kLookEvery = absl::Microseconds(50);

}  // namespace tapedeck::gpu_worker::api
