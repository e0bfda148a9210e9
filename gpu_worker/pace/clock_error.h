// How far the machine's clock may be from UTC, as the kernel knows it: of what keeps it (chrony,
// ntpd, or ptp4l with phc2sys), by adjtimex(2).
#pragma once

#include <cstdint>
#include <string>

struct timex;

namespace tapedeck::gpu_worker::pace {

struct ClockError {
  bool synchronized = false;  // something keeps it
  // At most, by who keeps it; grows while nobody does, by 500 ppm, up to 16 s.
  int64_t error_ns = 0;

  // "system" or "system, unsynchronized"
  std::string ClockText() const;
};

ClockError SystemClockError();

// Of what adjtimex(2) has answered and filled in.
ClockError ErrorOf(const timex& told, int state);

}  // namespace tapedeck::gpu_worker::pace
