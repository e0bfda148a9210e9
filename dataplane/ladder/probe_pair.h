// Two connections of one rail that meet each other. The near end has the memory under test, the far
// end host memory. The far end starts every operation, as the storage node does by default: READ to
// record, WRITE to play.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "dataplane/ladder/probe.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane::ladder {

// On the rail's first poller, except where said. One step at a time: each calls `done` once, on the
// poller. Shared with its steps, so that a rail that hangs keeps what it may still touch.
class ProbePair final : public std::enable_shared_from_this<ProbePair> {
 public:
  using Done = std::function<void(absl::Status)>;

  // Registers both ends' memory. Any thread.
  static absl::StatusOr<std::shared_ptr<ProbePair>> Create(Transport& rail, Direction direction,
                                                           const ProbeMemory& memory);

  void Connect(int64_t deadline_ns, Done done);

  // Carries the first `bytes` bytes.
  void Move(size_t bytes, Done done);

  // Last: after it nothing touches memory any more.
  void Close(Done done);

  // The far end's memory. Any thread, between the steps.
  std::span<std::byte> host() const { return memory_.host->window().bytes; }
  // How long the last Move took on the poller. Between the steps.
  int64_t move_ns() const { return move_ns_; }

 private:
  struct End final : ConnectionEvents {
    explicit End(ProbePair& pair) : pair(pair) {}
    void OnFrame(const Frame&, std::span<std::byte>) override { pair.Event(); }
    void OnCompleted(uint64_t) override { pair.Event(); }
    void OnClosed(const absl::Status& cause) override;

    ProbePair& pair;
    std::unique_ptr<Domain> domain;
    std::unique_ptr<Offer> offer;
    std::unique_ptr<Connection> connection;  // gone before its offer and domain
  };

  ProbePair(Transport& rail, Direction direction, const ProbeMemory& memory)
      : rail_(rail), direction_(direction), memory_(memory) {}

  void Begin(int events, Done done);
  absl::Status MakeOffer(End& end);
  void Meet(End& end, const Endpoint& peer, int64_t deadline_ns);
  void Event();
  void Finish(const absl::Status& status);
  void CheckClosed();

  Transport& rail_;
  const Direction direction_;
  const ProbeMemory memory_;
  End near_{*this};
  End far_{*this};
  Done done_;        // of the step under way
  int awaited_ = 0;  // events until it is done
  int64_t started_ns_ = 0;
  int64_t move_ns_ = 0;
  absl::Status broken_;  // why a connection has ended
  bool closing_ = false;
  std::shared_ptr<ProbePair> self_;  // while it closes
};

}  // namespace tapedeck::dataplane::ladder
