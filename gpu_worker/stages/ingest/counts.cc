#include "gpu_worker/stages/ingest/counts.h"

#include "absl/strings/str_cat.h"

namespace tapedeck::gpu_worker::stages::ingest {

std::string TextOf(const Counts& counts) {
  std::string text =
      absl::StrCat("ingest: packets ", counts.packets.load(), ", samples ", counts.samples.load(),
                   "; lost samples ", counts.lost_samples.load(), ", in ",
                   counts.lost_places.load(), " places and ", counts.lost_blocks.load(), " blocks");
  const auto add = [&](const char* what, const std::atomic<uint64_t>& count) {
    absl::StrAppend(&text, "; ", what, " ", count.load());
  };
  add("repeated", counts.repeated);
  add("late", counts.late);
  add("out of place", counts.out_of_place);
  add("scattered", counts.scattered);
  add("foreign", counts.foreign);
  add("malformed", counts.malformed);
  add("untold", counts.untold);
  add("dropped by the kernel", counts.dropped);
  if (counts.restarts > 0) add("restarts of the sender's count", counts.restarts);
  if (counts.early > 0) add("before the instant", counts.early);
  if (counts.uncut) {
    absl::StrAppend(&text,
                    "; not cut to the sample at the instant: the packets have no time in UTC");
  }
  return text;
}

}  // namespace tapedeck::gpu_worker::stages::ingest
