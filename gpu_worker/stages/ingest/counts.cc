#include "gpu_worker/stages/ingest/counts.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "services/vita49/payload_format.h"

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
  if (counts.clock_sets > 0) add("times that the sender's clock was set", counts.clock_sets);
  if (counts.other_rate > 0) {
    absl::StrAppend(&text, "; the sender tells a sample rate of ", counts.other_rate.load(),
                    ", which is not the channel's");
  }
  if (counts.other_format > 0) {
    absl::StrAppend(&text, "; the sender tells ",
                    services::vita49::FormatText(counts.other_format.load()),
                    ", which are not the channel's samples");
  }
  if (counts.early > 0) add("before the instant", counts.early);
  if (counts.uncut) {
    absl::StrAppend(&text,
                    "; not cut to the sample at the instant: the packets have no time in UTC");
  }
  return text;
}

std::string TextOf(Ending ending, int64_t timeout_ns) {
  switch (ending) {
    case Ending::kNone:
      return "";
    case Ending::kMark:
      return "ingest: ended: the sender marked the end of the stream";
    case Ending::kClosed:
      return "ingest: ended: the sender closed the connection";
    case Ending::kSilence:
      return absl::StrCat("ingest: ended: no sample came for ",
                          absl::FormatDuration(absl::Nanoseconds(timeout_ns)),
                          ", the timeout; silence=error makes that a failure");
    case Ending::kStopped:
      return "ingest: ended: the job's limit was reached, or the job was stopped";
  }
  return "";
}

}  // namespace tapedeck::gpu_worker::stages::ingest
