#include "gpu_worker/stages/ingest/counts.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "services/vita49/payload_format.h"

namespace tapedeck::gpu_worker::stages::ingest {
namespace {

// What networks and queues do as well.
constexpr double kLeastOffS = 0.1;
constexpr double kLeastOff = 0.01;

}  // namespace

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
  if (counts.early > 0) add("packets before the instant, left out", counts.early);
  if (counts.uncut) {
    absl::StrAppend(&text,
                    "; not cut to the sample at the instant: the packets have no time in UTC");
  }
  return text;
}

double OtherPace(int64_t samples, int64_t passed_ns, double sample_rate) {
  if (passed_ns <= 0 || !(sample_rate > 0)) return 0;
  const double passed_s = static_cast<double>(passed_ns) / 1e9;
  const double off_s = static_cast<double>(samples) / sample_rate - passed_s;
  if (std::fabs(off_s) <= std::max(kLeastOffS, kLeastOff * passed_s)) return 0;
  return static_cast<double>(samples) / passed_s;
}

std::string TextOfPace(const Counts& counts, double sample_rate) {
  if (counts.seen_rate == 0) return "";
  return absl::StrFormat(
      "ingest: samples came at %.6g a second, and the channel's sample rate is %.15g; the times "
      "follow the channel's",
      counts.seen_rate.load(), sample_rate);
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
