// The counters of the ends of a transfer beside blocks and bytes. To add a counter: a member and an
// entry here, the field of that name in counters.proto, and the line that counts it. The progress
// of sessions, jobs, statistics and the command line's answers are made of the list.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace tapedeck::dataplane {

// Each is counted by one of the two ends alone, so that the sum of both ends is the transfer's.
struct Counters {
  uint64_t crc_errors = 0;            // of the receiver
  uint64_t retransmitted_blocks = 0;  // of the sender
  uint64_t duplicate_blocks = 0;      // of the receiver
  uint64_t resumes = 0;               // of the worker's job

  bool operator==(const Counters&) const = default;
};

struct CounterInfo {
  absl::string_view name;   // in the proto and in JSON
  absl::string_view words;  // before its number, for people
  absl::string_view help;   // what is counted
  uint64_t Counters::*member;
};

inline constexpr CounterInfo kCounters[] = {
    {"crc_errors", "crc errors", "Payloads that failed their check.", &Counters::crc_errors},
    {"retransmitted_blocks", "sent again",
     "Blocks that were sent more than once, for whatever reason.", &Counters::retransmitted_blocks},
    {"duplicate_blocks", "duplicates", "Blocks that came and were there already.",
     &Counters::duplicate_blocks},
    {"resumes", "resumed", "Recordings that continued after their session was lost.",
     &Counters::resumes},
};

inline Counters& operator+=(Counters& to, const Counters& more) {
  for (const CounterInfo& counter : kCounters) to.*counter.member += more.*counter.member;
  return to;
}

}  // namespace tapedeck::dataplane
