// Joins the parts of a recording for one sink, by the sample index of each block: blocks in the
// order of the stream, each once, and what no part has as missing. Of a block that several parts
// have, one that is whole is taken; one that is damaged only once no part has a whole one any more.
// What comes before its turn waits, in the ring of its session while there is room, then in host
// memory.
//
// Where each part is to have all blocks one may give alone, and the others sleep until it lacks
// one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "dataplane/block/sink.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"

namespace tapedeck::services::parts {

struct JoinSettings {
  size_t parts = 0;
  uint64_t block_samples = 0;  // of a full block
  uint64_t block_bytes = 0;
  uint64_t reorder_window = 0;  // as reorder_window.h has it
  uint64_t first = 0;           // block of the stream that the sink gets as number 0
  size_t ring_slots = 0;        // of each part
  std::optional<size_t> alone;  // this part gives, the others sleep; none: all give
  // Once, not inside a call of a part: those that slept are wanted, from next() on.
  std::function<void()> on_wanted;
  // Once, not inside a call of a part: the sink has all, or why it has not.
  std::function<void(const absl::Status&)> on_done;
};

struct JoinCounts {
  uint64_t blocks = 0;   // given to the sink
  uint64_t bytes = 0;    // of payload
  uint64_t missing = 0;  // given without payload, or damaged
  uint64_t twice = 0;    // came more than once
};

// On the executor of the parts' sessions.
class Joiner {
 public:
  Joiner(dataplane::Executor& executor, JoinSettings settings,
         std::unique_ptr<dataplane::Sink> sink);

  // As dataplane::Sink has it, of the part's own sink, whose blocks come in its own order.
  absl::StatusOr<dataplane::Flow> Push(size_t part, dataplane::Block* block);
  absl::StatusOr<dataplane::Flow> Finish(size_t part, const absl::Status& cause);
  void SetWaker(size_t part, dataplane::Waker waker) { parts_[part].waker = std::move(waker); }
  // What the part has given, whether it has had its turn or waits: a node sends only so much ahead
  // of this, and what another part has to bring first may be further away.
  uint64_t watermark(size_t part) const;

  // The part gives nothing more: its session has ended, or there is none.
  void Ended(size_t part);
  // No part gives anything more, for this cause.
  void Abort(const absl::Status& cause);

  // The others are wanted, whether or not the one that gives alone lacks anything.
  void Wake();
  // The sink waits for a block that no part has given.
  bool Starves() const;
  uint64_t next() const { return next_; }  // that the sink gets, of the stream

  const JoinCounts& counts() const { return counts_; }

 private:
  struct Part {
    std::map<uint64_t, dataplane::Block> waiting;  // by sequence of the stream
    uint64_t seen = 0;                             // one more than the highest that it gave
    uint64_t pushed = 0;                           // blocks of its own
    size_t in_ring = 0;                            // of those that wait
    bool asleep = false;
    bool ended = false;
    bool refused = false;
    dataplane::Waker waker;
  };

  absl::StatusOr<uint64_t> SequenceOf(const Part& part, const dataplane::BlockHeader& header) const;
  // Whether a block that came adds nothing to what the sink has or what waits for it.
  bool IsKnown(uint64_t sequence, const dataplane::BlockHeader& header) const;
  static dataplane::Block TakeFrom(Part& part, uint64_t sequence);
  // Whether the part's block can wait, and in the ring or not.
  bool HasRoom(const Part& part) const;
  bool RingIsFull(const Part& part) const { return 2 * (part.in_ring + 1) > settings_.ring_slots; }
  // Every part has come past the next block, so that it comes late or not at all.
  bool NextIsLate() const;
  void GiveSome();
  void Drain();
  // What the sink gets next; empty: that is not known yet.
  dataplane::Block TakeNext();
  bool NobodyHasNext() const;
  bool HasWholeNext() const;
  // Parts sleep, and those that give have come past the next block without a whole one.
  bool WantsMore() const;
  // Something of the stream that is known of has not been given yet.
  bool Remains() const;
  void FinishSink();
  void Conclude(const absl::Status& status);
  void WakeRefused();

  dataplane::Executor& executor_;
  const JoinSettings settings_;
  const std::unique_ptr<dataplane::Sink> sink_;
  std::vector<Part> parts_;
  uint64_t next_;           // of the stream
  dataplane::Block given_;  // that the sink has not taken yet
  bool sated_ = false;      // the sink wants no more
  bool done_ = false;
  absl::Status cause_;
  JoinCounts counts_;
  dataplane::Lifetime lifetime_;
};

// What the session of one part pushes into.
class JoinedSink final : public dataplane::Sink {
 public:
  JoinedSink(std::shared_ptr<Joiner> joiner, size_t part)
      : joiner_(std::move(joiner)), part_(part) {}

  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override {
    return joiner_->Push(part_, block);
  }
  absl::StatusOr<dataplane::Flow> Finish(const absl::Status& cause) override {
    return joiner_->Finish(part_, cause);
  }
  void SetWaker(dataplane::Waker waker) override { joiner_->SetWaker(part_, std::move(waker)); }
  dataplane::Watermarks watermarks() const override {
    const uint64_t mark = joiner_->watermark(part_);
    return {.received = mark, .written = mark, .durable = mark};
  }

 private:
  const std::shared_ptr<Joiner> joiner_;
  const size_t part_;
};

}  // namespace tapedeck::services::parts
