// What tapedeck-emulator is told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gpu_worker/emulator/sender.h"
#include "gpu_worker/emulator/target.h"

namespace tapedeck::gpu_worker::emulator {

enum class PacketKind { kNumbered, kVita49 };

struct Settings {
  Target::Transport transport = Target::Transport::kUdp;
  std::string address;
  uint32_t stream = 1;
  PacketKind packets = PacketKind::kNumbered;
  uint32_t first_number = 0;         // of numbered ones
  double sample_rate = 1e6;          // of vita49: samples of a second, by the packets' times
  uint64_t retunes = 0;              // of vita49
  std::optional<uint64_t> begin_ns;  // of vita49: of the first sample, UTC; none: now
  SendSettings send;
};

// None: the process ends with *exit_status, and what there is to say has been printed.
std::optional<Settings> ParseSettings(int argc, char** argv, int* exit_status);

}  // namespace tapedeck::gpu_worker::emulator
