// Marks of lost samples, and of losses that are told together: too many to tell each place. Values;
// any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "services/model/recording/recording.h"

namespace tapedeck::services::model {

// Of annotations of samples that are there and were not received.
inline constexpr char kLostLabel[] = "lost";

// Losses of one annotation, which tells no place of theirs but the samples among which all lie.
struct LostTogether {
  uint64_t samples = 0;  // so many are lost
  uint64_t places = 0;   // in so many places
  uint64_t first = 0;    // among these samples of the stream
  uint64_t end = 0;
  auto operator<=>(const LostTogether&) const = default;
};

// The comment of an annotation that has all samples among which they lie.
std::string TextOfLost(uint64_t samples, uint64_t places);

// None: the annotation is no mark of such losses.
std::optional<LostTogether> LostTogetherIn(const Annotation& annotation);

// The part of an annotation that lies within the samples [first, end), which have some of its
// samples. A point stays as it is. Losses that are told together may lie in the part or beside it:
// its comment names all samples among which they lie.
Annotation PartOf(Annotation annotation, uint64_t first, uint64_t end);

}  // namespace tapedeck::services::model
