// A Source that checks the CRC32C of every payload and asks again for payloads that fail.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/block/source.h"
#include "dataplane/crc/payload_crc.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/transfer/counters.h"

namespace tapedeck::dataplane {

// On the session's executor. Gives blocks in the order in which they have been checked.
class CheckedSource final : public Source {
 public:
  // A block that fails this often in a row was made wrong; asking again would go on for ever.
  static constexpr int kMaxRejects = 3;

  // `crc` reaches the memory in which the payloads lie. Both outlive this.
  CheckedSource(Source& inner, PayloadCrc& crc, flight::Trail trail = {})
      : inner_(inner), crc_(crc), trail_(trail) {}

  absl::StatusOr<Flow> Pull(Block* block) override;
  void SetWaker(Waker waker) override;
  void Acknowledge(uint64_t watermark) override { inner_.Acknowledge(watermark); }
  absl::Status Reject(const BlockHeader& header) override { return inner_.Reject(header); }

  const Counters& counters() const { return counters_; }

 private:
  struct Computed {
    Block block;
    absl::StatusOr<uint32_t> crc;
  };

  // Shared with the computations under way, which may end on another thread and after this.
  struct Results {
    absl::Mutex mutex;
    std::deque<Computed> queue ABSL_GUARDED_BY(mutex);
    Waker waker ABSL_GUARDED_BY(mutex);
    bool looked_for ABSL_GUARDED_BY(mutex) = false;  // Pull is about to look: no need to wake it
  };

  void Start(Block block);
  bool TakeResult(Computed* result);
  absl::StatusOr<bool> IsGood(Computed& result);

  Source& inner_;
  PayloadCrc& crc_;
  const flight::Trail trail_;
  const std::shared_ptr<Results> results_ = std::make_shared<Results>();
  size_t under_way_ = 0;  // started and not taken from the results
  Counters counters_;
  // Of blocks that have not come right yet, of which the window of the sender bounds how many there
  // are: how often each was rejected.
  std::map<uint64_t, int> rejects_;
};

}  // namespace tapedeck::dataplane
