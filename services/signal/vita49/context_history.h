// What the annotations of a recording tell whoever sends its samples: where its signal changes, and
// which samples are none.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "services/model/recording/recording.h"
#include "services/signal/vita49/packet.h"

namespace tapedeck::services::vita49 {

// A value. Positions are those of the recording's samples.
class ContextHistory {
 public:
  // Those of ingest alone: others may have the same labels and other words.
  explicit ContextHistory(std::span<const Annotation> annotations);

  // What holds at the sample; null: nothing is known.
  const Context* At(uint64_t sample) const;
  // The first change behind the sample; UINT64_MAX: there is none.
  uint64_t ChangeBehind(uint64_t sample) const;

  // One behind the last of the lost samples that this one is among; itself: it is not lost.
  uint64_t EndOfLoss(uint64_t sample) const;
  // The first lost sample behind this one; UINT64_MAX: there is none.
  uint64_t LossBehind(uint64_t sample) const;

 private:
  std::map<uint64_t, Context> changes_;
  std::map<uint64_t, uint64_t> losses_;  // the end of each, by its first; none touches another
};

}  // namespace tapedeck::services::vita49
