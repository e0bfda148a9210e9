#include "services/copy/compare.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::services::copying {

using dataplane::Block;
using dataplane::BlockHeader;

namespace {

bool IsSame(const BlockHeader& one, const BlockHeader& other) {
  return one.crc32c == other.crc32c && one.payload_bytes == other.payload_bytes &&
         one.sample_index == other.sample_index && one.capture_ns == other.capture_ns &&
         one.flags == other.flags;
}

}  // namespace

absl::Status CompareBlocks(const Recording& source, const std::string& copy,
                           const NextBlock& of_source, const NextBlock& of_copy, Pace& pace) {
  for (uint64_t sequence = 0; sequence < source.blocks; ++sequence) {
    TD_ASSIGN_OR_RETURN(const std::optional<Block> one, of_source());
    TD_ASSIGN_OR_RETURN(const std::optional<Block> other, of_copy());
    const bool same = one.has_value() && other.has_value() &&
                      (IsMissing(one->header()) || IsSame(one->header(), other->header()));
    if (!same) {
      return BlockDamaged(
          {.recording = copy, .blocks = 1},
          absl::StrCat(copy, " says that it is a copy of ", source.name, ", and block ", sequence,
                       " is another one: delete it, or name another channel"));
    }
    TD_RETURN_IF_ERROR(pace.Wait(one->header().payload_bytes));
  }
  return absl::OkStatus();
}

absl::Status CompareCopy(const Wish& wish, const Recording& copy) {
  TD_ASSIGN_OR_RETURN(const NextBlock of_source,
                      wish.play ? wish.play(0) : Play(wish.from, wish.source));
  TD_ASSIGN_OR_RETURN(const NextBlock of_copy, Play(wish.to, copy));
  Pace pace = PaceOf(wish);
  return CompareBlocks(wish.source, copy.name, of_source, of_copy, pace);
}

}  // namespace tapedeck::services::copying
