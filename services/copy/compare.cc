#include "services/copy/compare.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::services::copying {
namespace {

using dataplane::Block;
using dataplane::BlockHeader;

bool IsSame(const BlockHeader& one, const BlockHeader& other) {
  return one.crc32c == other.crc32c && one.payload_bytes == other.payload_bytes &&
         one.sample_index == other.sample_index && one.capture_ns == other.capture_ns &&
         one.flags == other.flags;
}

}  // namespace

absl::Status NotWhole(const Compared& compared, absl::string_view why, uint64_t damaged) {
  return BlockDamaged(
      {.recording = compared.copy, .blocks = damaged},
      absl::StrCat(compared.copy, " is not a whole copy of ", compared.original, ": ", why));
}

absl::Status CompareBlocks(const Compared& compared, const NextBlock& of_original,
                           const NextBlock& of_copy, Pace& pace) {
  const auto take = [&](const Block& copied) -> absl::Status {
    const uint64_t sequence = copied.header().sequence;
    TD_ASSIGN_OR_RETURN(const std::optional<Block> original, of_original());
    const bool same =
        original.has_value() && original->header().sequence == sequence &&
        (IsMissing(original->header()) || IsSame(original->header(), copied.header()));
    if (same) return absl::OkStatus();
    return NotWhole(
        compared,
        absl::StrCat("block ", sequence,
                     IsMissing(copied.header()) ? " is missing or damaged" : " differs"),
        1);
  };
  return PumpBlocks({.recording = compared.copy, .end = compared.blocks}, of_copy, take, pace);
}

}  // namespace tapedeck::services::copying
