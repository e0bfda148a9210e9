// How far a transfer of tapectl's own is, and whether it shall go on: Ctrl-C and --timeout end it.
// A second Ctrl-C leaves time to undo it, and a third kills tapectl.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/rpc/storage_session/peer.h"
#include "services/tapectl/program/program.h"
#include "services/tapectl/terminal/interrupt.h"
#include "services/tapectl/terminal/progress.h"

namespace tapedeck::services::tapectl {

// One thread, but for the interrupt's.
class Patience {
 public:
  // `all` bytes are to come; 0: nobody knows how many.
  Patience(const Program& program, InterruptWatch& interrupt, const std::string& what,
           uint64_t all);
  ~Patience();

  // Shows that so many are done. False: it is to end.
  bool Show(uint64_t done);
  // The same as it was last told.
  bool ShowAgain() { return Show(done_); }
  // Whether --timeout has ended it.
  bool late() const { return late_; }

  // The end of the transfer: that its time was up, where it was.
  absl::Status Judged(const absl::Status& status) const;

  double elapsed_s() const;

 private:
  InterruptWatch& interrupt_;
  const uint64_t all_;
  const absl::Time begin_;
  const absl::Time end_;
  std::atomic<bool> interrupted_ = false;
  bool late_ = false;
  uint64_t done_ = 0;
  ProgressBar bar_;
  absl::Time shown_;
};

// Of a transfer that was interrupted also that the same command goes on with it: "the copy".
absl::Status WithWayOn(const absl::Status& status, const std::string& what);

// The storage node as a session of tapectl's own needs it. Asks the node for its rails.
absl::StatusOr<storage_session::Peer> StoragePeer(const Program& program);

}  // namespace tapedeck::services::tapectl
