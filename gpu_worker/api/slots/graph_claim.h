// Which graph has the slots of a recorder or a player: from the first on, each once, and each of
// its launches is one round of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gpu_worker/api/slots/slot_control.h"
#include "gpu_worker/device/stream_order.h"

namespace tapedeck::gpu_worker::api {

// What errors call the owner of the slots and what it does.
struct GraphWords {
  const char* owner;  // "recorder"
  const char* has;    // "recorded"
  const char* does;   // "acquires"
};

class GraphClaim {
 public:
  explicit GraphClaim(const GraphWords& words) : words_(words) {}

  // Any thread.
  bool any() const { return any_; }

  // Whether a stream that captures so may have slot number `next` of `slots`; the first graph that
  // asks has all of them from then on. INVALID_ARGUMENT (ARGUMENT_INVALID). The program's lock is
  // held.
  absl::Status Check(const device::Capture& capture, uint64_t next, size_t slots) {
    if (!capture.captures) {
      if (graph_ == 0) return absl::OkStatus();
      return Refused(absl::StrCat("a graph has this ", words_.owner, "'s slots: open another ",
                                  words_.owner, " beside it"));
    }
    if (graph_ == 0 && next == 0) {
      graph_ = capture.graph;
      any_ = true;
    }
    if (graph_ == 0) {
      return Refused(
          absl::StrCat("this ", words_.owner, " has ", words_.has,
                       " without a graph and cannot be captured; open another one for the graph"));
    }
    if (graph_ != capture.graph) {
      return Refused(absl::StrCat("one graph has this ", words_.owner, "'s slots already"));
    }
    if (next < slots) return absl::OkStatus();
    return Refused(absl::StrCat("a graph ", words_.does, " each slot once, and this ", words_.owner,
                                " has ", slots,
                                "; open it with more slots, or launch the graph more often"));
  }

 private:
  const GraphWords words_;
  uint64_t graph_ = 0;
  std::atomic<bool> any_ = false;
};

}  // namespace tapedeck::gpu_worker::api
