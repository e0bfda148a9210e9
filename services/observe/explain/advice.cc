#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/observe/explain/explanation.h"

namespace tapedeck::services::explain {
namespace {

struct Advice {
  absl::string_view stage;
  absl::string_view words;
};

constexpr Advice kAdvice[] = {
    {"nothing", "nothing is needed: a faster source would be recorded as well"},
    {"unknown", "record for longer, at least a second, and ask again"},
    {"source",
     "the source makes no more: a faster source, or nothing at all if it is the signal's "
     "own rate"},
    {"gpu", "fewer or smaller transforms, or a faster device (tapectl nodes names it)"},
    {"copy",
     "blocks pass through host memory: rails that reach the device's memory (tapectl nodes "
     "shows how each does)"},
    {"crc",
     "check values are computed by a processor: a faster core for that thread, more connections "
     "per rail (--connections-per-rail of the worker) if it is a rail's, or a worker whose rails "
     "reach device memory, where the device computes them"},
    {"session",
     "one thread handles all blocks of a session: larger blocks, or several channels at "
     "once"},
    {"credits", "the receiving end had no slot free: a larger ring there"},
    {"ring",
     "too few blocks are on their way for so long a path: a larger ring (--slots), or "
     "larger blocks"},
    {"wire",
     "all rails are full: more or faster rails (tapectl nodes lists them), or more "
     "connections per rail (--connections-per-rail of the worker) if one processor is what a rail "
     "is bound by"},
    {"flush",
     "the store's flushes are slow: a disk with faster flushes, a larger ring (--slots), "
     "or --commit written"},
    {"acknowledge", "acknowledgements take long: a larger ring (--slots)"},
    {"sink",
     "the sink takes no more: a faster sink or its disk, fewer transforms, or --sink null "
     "to see what the rest can do"},
};

}  // namespace

std::string AdviceFor(const std::string& stage, dataplane::Direction direction) {
  if (absl::StartsWith(stage, "rail ")) {
    return absl::StrCat(stage,
                        " is slower than the others, which wait for its blocks: see to its port, "
                        "cable and peer, or leave it out (--rails)");
  }
  if (stage == "store") {
    return direction == dataplane::Direction::kRecord
               ? "the LUN's disks take no more: more members, faster disks, --store direct, or "
                 "fewer sessions on them"
               : "the LUN's disks give no more: more members, faster disks, or fewer sessions on "
                 "them";
  }
  const auto* found = std::ranges::find(kAdvice, stage, &Advice::stage);
  return found == std::end(kAdvice) ? "" : std::string(found->words);
}

}  // namespace tapedeck::services::explain
