// How far the machine's clock may be from UTC, as the kernel knows it: of what keeps it (chrony,
// ntpd, or ptp4l with phc2sys), by adjtimex(2).
#pragma once

#include <cstdint>
#include <string>

struct timex;

namespace tapedeck::gpu_worker::pace {

struct ClockError {
  bool synchronized = false;  // something keeps it
  // At most, by who keeps it, and by how far a clock may drift until the instant: by 500 ppm, as
  // the kernel counts. Up to 16 s.
  int64_t error_ns = 0;

  // "system" or "system, unsynchronized"
  std::string ClockText() const;
};

// At that instant, UTC, if nobody sets the clock until then; of one that has passed, now.
ClockError SystemClockErrorAt(int64_t at_ns);

// Of what adjtimex(2) has answered and filled in, so long ahead. The kernel lets its bound grow
// once a second, so that a second's drift is in none that it tells; and some that keep clocks
// (phc2sys) tell it that they are right, whatever they know.
ClockError ErrorOf(const timex& told, int state, int64_t ahead_ns);

}  // namespace tapedeck::gpu_worker::pace
