// Which parts of a recording answer: a node that hangs, or whose network is silent, holds its
// session for 10 to 15 s, which a stream that cannot wait has not. The rule, and its times, are
// here alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/clock.h"

namespace tapedeck::services::parts {

// A part is looked at so often. Time counts by looks, not by a clock: a worker that stands still
// itself so finds nobody silent when it goes on.
inline constexpr int64_t kLookNs = 100 * dataplane::kMillisecondNs;

// Silent: of the node nothing is heard, neither on the control stream, where a node answers four
// times a second whatever its disks do, nor by an acknowledgement; or none of its rails is up. One
// second is four answers, which a busy machine does not miss together; rings hold about as much.
inline constexpr uint32_t kSilentLooks = 10;

// The same of one whose session is still being opened, which may have to wait for its disks.
inline constexpr uint32_t kOpeningLooks = 30;

// Stuck: it answers, and has acknowledged none of its blocks for so long, while others have; sooner
// where one of those is all that the stream waits for (reorder_window.h). A slow disk may take as
// long for one flush: what that costs is blocks that two parts have.
inline constexpr uint32_t kStuckLooks = 20;
inline constexpr uint32_t kHoldingUpLooks = 3;

// What a part shows when it is looked at.
struct Sign {
  bool due = false;           // it is to be there: neither lost nor ended
  bool running = false;       // its session is open
  bool rail_up = false;       // one at least
  bool owes = false;          // it has blocks that it has not acknowledged, and others could
  bool holds_up = false;      // the stream waits for one of them
  uint64_t heard = 0;         // messages of its node
  uint64_t acknowledged = 0;  // blocks
};

enum class Answer { kNormal, kStuck, kSilent };

// On one executor.
class Answering {
 public:
  explicit Answering(size_t parts) : parts_(parts) {}

  // One of each part, every kLookNs. Whoever is silent or stuck was not alone with that: another
  // part was heard of, or has acknowledged, meanwhile. It is so until it shows the opposite.
  std::vector<Answer> Look(const std::vector<Sign>& signs);

 private:
  struct Part {
    Sign last;
    uint32_t silent_looks = 0;
    uint32_t stuck_looks = 0;
    uint32_t holding_up_looks = 0;
    uint32_t since_acknowledged = UINT32_MAX;  // looks
    Answer answer = Answer::kNormal;
  };

  static void Count(const Sign& sign, Part& part);
  Answer AnswerOf(size_t number) const;

  std::vector<Part> parts_;
};

}  // namespace tapedeck::services::parts
