// Which CRC32Cs a source of a bench makes.
#pragma once

namespace tapedeck::bench {

enum class Checks {
  kNone = 0,  // and the receiving end must not check
  kEach = 1,  // of every block, as a source must
  kOnce = 2,  // of each slot once: what is left to the processor where a device makes them
};

}  // namespace tapedeck::bench
