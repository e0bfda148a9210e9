// How long a call is waited for.
#pragma once

#include "absl/time/time.h"

namespace tapedeck::services::client {

// A value.
struct CallTime {
  // Not longer than `total`, whatever the node does.
  constexpr CallTime(absl::Duration total) : total(total) {}  // NOLINT(google-explicit-constructor)
  // Nor longer than `silence` after the last sign of life of the node's connection, to the second.
  constexpr CallTime(absl::Duration total, absl::Duration silence)
      : total(total), silence(silence) {}

  absl::Duration total;
  absl::Duration silence = absl::InfiniteDuration();
};

}  // namespace tapedeck::services::client
