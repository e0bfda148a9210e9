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
    {"nothing", "nothing to do: recording would keep up with a faster source, too"},
    {"unknown", "record for longer, at least a second, and ask again"},
    {"source",
     "the source delivers no more: use a faster source; nothing to do if this is the signal's own "
     "rate"},
    {"gpu", "use fewer or smaller transforms, or a faster device (tapectl nodes names it)"},
    {"copy",
     "blocks pass through host memory: use rails that reach the device's memory (tapectl nodes "
     "shows how each does)"},
    {"crc",
     "a processor computes the check values: use a faster core, or more connections per rail "
     "(--connections-per-rail of the worker) if a rail's thread does it; rails that reach device "
     "memory leave this work to the device"},
    {"session",
     "one thread handles all blocks of a session: use larger blocks, or several channels at once"},
    {"credits", "the receiving end had no free slot: use a larger ring there"},
    {"ring",
     "too few blocks are in flight for this long path: use a larger ring (--slots) or larger "
     "blocks"},
    {"wire",
     "all rails are full: use more or faster rails (tapectl nodes lists them); if one processor "
     "limits a rail, use more connections per rail (--connections-per-rail of the worker)"},
    {"flush",
     "the store's flushes are slow: use a disk with faster flushes, a larger ring (--slots) or "
     "--commit written"},
    {"acknowledge", "acknowledgements are slow: use a larger ring (--slots)"},
    {"sink",
     "the sink takes no more: use a faster sink or disk, or fewer transforms; --sink null shows "
     "what the rest can do"},
};

}  // namespace

std::string AdviceFor(const std::string& stage, dataplane::Direction direction) {
  if (absl::StartsWith(stage, "rail ")) {
    return absl::StrCat(stage,
                        " is slower than the others, which wait for its blocks: check its port, "
                        "cable and peer, or leave it out (--rails)");
  }
  if (stage == "store") {
    return direction == dataplane::Direction::kRecord
               ? "the LUN's disks take no more: use more members, faster disks, --store direct or "
                 "fewer sessions"
               : "the LUN's disks deliver no more: use more members, faster disks or fewer "
                 "sessions";
  }
  const auto* found = std::ranges::find(kAdvice, stage, &Advice::stage);
  return found == std::end(kAdvice) ? "" : std::string(found->words);
}

}  // namespace tapedeck::services::explain
