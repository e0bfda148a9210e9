// The flight recorder for code that carries blocks. One call leaves a stamp of a step, with no
// lock, no allocation and no system call. It is always on.
#pragma once

#include <cstdint>

#include "dataplane/flight/kinds.h"
#include "dataplane/flight/rings.h"

namespace tapedeck::dataplane::flight {

struct Mark {
  uint64_t sequence = 0;
  uint64_t argument = 0;
  uint64_t place = 0;  // from 255 on all count as 255
  int64_t now_ns = 0;  // of SystemClock, where it was read anyhow; 0: it is read
};

// One session's stamps. Default: of none, whose stamps are left out.
class Trail {
 public:
  Trail() = default;
  // `first`: the sequence on the wire of what the holder counts as block 0.
  explicit Trail(uint32_t id, uint64_t first = 0) : id_(id), first_(first) {}

  // Any thread.
  void Stamp(Kind kind, const Mark& mark) const {
    if (id_ != 0) Write(kind, mark);
  }

  uint32_t id() const { return id_; }

 private:
  void Write(Kind kind, const Mark& mark) const;

  uint32_t id_ = 0;
  uint64_t first_ = 0;
};

// The rings of this process.
Rings& ProcessRings();

// Off: no stamps, to measure what they cost. On from the start.
void SetOn(bool on);

}  // namespace tapedeck::dataplane::flight
