// What a program records and plays with: one device, some rails, and threads of the library.
// Calls that wait take a timeout, of an hour at most.
// C++17, for nvcc as well.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tapedeck/status.h"

namespace tapedeck {

// How the library waits for what streams have to say. It runs one thread for it, the proxy, while a
// recorder or a player is open.
enum class Wait {
  kPerformance,  // the proxy looks without a pause, and takes a core
  // It looks every quarter of a millisecond while streams have work, else every two.
  kEconomy,
};

struct DeckOptions {
  std::string device = "auto";     // auto, host or cuda:N
  std::vector<std::string> rails;  // at least one, "r0=tcp:10.0.0.2", as tapedeck-worker --rail has
  unsigned connections_per_rail = 1;  // 1 to 8
  Wait wait = Wait::kPerformance;
  std::string name;  // shown as who has recorded; empty: HOST/PROGRAM
  // Files in PEM, all three or none: TLS with certificates at both ends.
  std::string ca, cert, key;
};

// Any thread. Opens a device: on a GPU in the context that the CUDA runtime has there, which is the
// program's own.
class Deck {
 public:
  // ARGUMENT_INVALID of an option; DEVICE_UNUSABLE; RAIL_UNREACHABLE; TLS_UNUSABLE. Probes how the
  // rails reach the device's memory, which takes up to a second.
  static Result<Deck> Open(const DeckOptions& options);
  // Recorders and players keep what they need of it.
  ~Deck();
  Deck(Deck&&) noexcept;
  Deck& operator=(Deck&&) noexcept;

  // "cuda:0 NVIDIA H200", and why it is that.
  std::string device() const;

 private:
  friend class Recorder;
  friend class Player;
  struct Parts;
  explicit Deck(std::shared_ptr<Parts> parts);
  std::shared_ptr<Parts> parts_;
};

}  // namespace tapedeck
