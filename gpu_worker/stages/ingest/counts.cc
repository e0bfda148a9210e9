#include "gpu_worker/stages/ingest/counts.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "services/signal/vita49/signal_text.h"

namespace tapedeck::gpu_worker::stages::ingest {
namespace {

// What networks and queues do as well.
constexpr double kLeastOffS = 0.1;
constexpr double kLeastOff = 0.01;

struct Counter {
  absl::string_view key;    // of the note's fact
  absl::string_view words;  // in the text; empty: it is told before the others
  std::atomic<uint64_t> Counts::*member;
  bool always;  // told also where it is 0
};
constexpr Counter kCounters[] = {
    {"packets", "", &Counts::packets, true},
    {"samples", "", &Counts::samples, true},
    {"lost_samples", "", &Counts::lost_samples, true},
    {"lost_places", "", &Counts::lost_places, true},
    {"lost_blocks", "", &Counts::lost_blocks, true},
    {"repeated", "repeated", &Counts::repeated, true},
    {"late", "late", &Counts::late, true},
    {"out_of_place", "out of place", &Counts::out_of_place, true},
    {"scattered", "scattered", &Counts::scattered, true},
    {"foreign", "foreign", &Counts::foreign, true},
    {"malformed", "malformed", &Counts::malformed, true},
    {"untold", "untold", &Counts::untold, true},
    {"dropped", "dropped by the kernel", &Counts::dropped, true},
    {"restarts", "restarts of the sender's count", &Counts::restarts, false},
    {"clock_sets", "times that the sender's clock was set", &Counts::clock_sets, false},
    {"early", "packets before the instant, left out", &Counts::early, false},
};

}  // namespace

std::string TextOf(const Counts& counts) {
  std::string text =
      absl::StrCat("ingest: packets ", counts.packets.load(), ", samples ", counts.samples.load(),
                   "; lost samples ", counts.lost_samples.load(), ", in ",
                   counts.lost_places.load(), " places and ", counts.lost_blocks.load(), " blocks");
  for (const Counter& one : kCounters) {
    const uint64_t count = (counts.*one.member).load();
    if (one.words.empty() || (count == 0 && !one.always)) continue;
    absl::StrAppend(&text, "; ", one.words, " ", count);
  }
  if (counts.other_rate > 0) {
    absl::StrAppend(&text, "; the sender has a sample rate of ", counts.other_rate.load(),
                    ", not the channel's");
  }
  if (counts.other_format > 0) {
    absl::StrAppend(&text, "; the sender says it sends ",
                    services::vita49::FormatText(counts.other_format.load()),
                    ", not the channel's samples");
  }
  if (counts.uncut) {
    absl::StrAppend(&text,
                    "; not cut to the sample at the instant: the packets have no time in UTC");
  }
  return text;
}

services::Note NoteOf(const Counts& counts) {
  services::Note note = services::MakeNote("INGEST_COUNTS", TextOf(counts));
  for (const Counter& one : kCounters) {
    const uint64_t count = (counts.*one.member).load();
    if (count > 0 || one.always) note.facts.emplace(one.key, absl::StrCat(count));
  }
  if (counts.other_rate > 0) {
    note.facts["told_rate"] = absl::StrFormat("%.15g", counts.other_rate.load());
  }
  if (counts.other_format > 0) {
    note.facts["told_format"] = services::vita49::FormatText(counts.other_format.load());
  }
  if (counts.uncut) note.facts["uncut"] = "true";
  return note;
}

double OtherPace(int64_t samples, int64_t passed_ns, double sample_rate) {
  if (passed_ns <= 0 || !(sample_rate > 0)) return 0;
  const double passed_s = static_cast<double>(passed_ns) / 1e9;
  const double off_s = static_cast<double>(samples) / sample_rate - passed_s;
  if (std::fabs(off_s) <= std::max(kLeastOffS, kLeastOff * passed_s)) return 0;
  return static_cast<double>(samples) / passed_s;
}

std::optional<services::Note> PaceNoteOf(const Counts& counts, double sample_rate) {
  if (counts.seen_rate == 0) return std::nullopt;
  const std::string seen = absl::StrFormat("%.6g", counts.seen_rate.load());
  const std::string rate = absl::StrFormat("%.15g", sample_rate);
  return services::MakeNote(
      "INGEST_OTHER_PACE",
      absl::StrCat("ingest: ", seen, " samples/s came, and the channel's sample rate is ", rate,
                   "; the times follow the channel"),
      {{"samples_per_s", seen}, {"sample_rate", rate}});
}

std::optional<services::Note> EndNoteOf(Ending ending, int64_t timeout_ns) {
  const auto ended = [](absl::string_view cause, absl::string_view why) {
    return services::MakeNote("INGEST_ENDED", absl::StrCat("ingest: ended: ", why),
                              {{"cause", std::string(cause)}});
  };
  switch (ending) {
    case Ending::kNone:
      break;
    case Ending::kMark:
      return ended("MARK", "the sender marked the end of the stream");
    case Ending::kClosed:
      return ended("CLOSED", "the sender closed the connection");
    case Ending::kSilence: {
      services::Note note =
          ended("SILENCE", absl::StrCat("no sample came for ",
                                        absl::FormatDuration(absl::Nanoseconds(timeout_ns)),
                                        " (timeout); silence=error makes that a failure"));
      note.facts["timeout_s"] = absl::StrFormat("%.9g", static_cast<double>(timeout_ns) / 1e9);
      return note;
    }
    case Ending::kStopped:
      return ended("STOPPED", "the job's limit was reached, or the job was stopped");
  }
  return std::nullopt;
}

}  // namespace tapedeck::gpu_worker::stages::ingest
