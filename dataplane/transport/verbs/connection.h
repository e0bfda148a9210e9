// A Connection over two RC queue pairs. The ports serve one-sided operations, without the software
// of either end.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/transport/connection.h"
#include "dataplane/transport/transport.h"
#include "dataplane/transport/verbs/credits.h"
#include "dataplane/transport/verbs/port/port.h"
#include "dataplane/transport/verbs/queue_pairs.h"
#include "dataplane/transport/verbs/receive_queue.h"
#include "dataplane/transport/verbs/registration.h"
#include "dataplane/transport/verbs/send_queue.h"

namespace tapedeck::dataplane::verbs {

// What the room shares of one rail. The listening end of a rail lets the peer speak first.
struct Rail {
  EventLoop* poller;
  Port* port;
  bool listen;
};

// On the rail's poller.
class VerbsConnection final : public Connection {
 public:
  // `queues` are connected and have exchanged their hellos. `name` names rail and peer in errors.
  VerbsConnection(const Rail& rail, const Registration& registration,
                  std::unique_ptr<QueuePairs> queues, std::string name, ConnectionEvents* events);
  ~VerbsConnection() override;

  void Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work) override;
  void Write(const Frame& frame, std::span<const std::byte> payload, RemoteSlice target,
             uint64_t work) override;
  void Read(std::span<std::byte> into, RemoteSlice origin, uint64_t work) override;
  void PostReceive(std::span<std::byte> buffer) override;
  void Close(const absl::Status& cause) override { End(cause, true); }

 private:
  // Closing: the farewell is on its way, then what was posted comes back, then OnClosed.
  enum class State { kOpen, kFarewell, kDraining, kClosed };

  void Push(Operation operation, std::span<const std::byte> local);
  void ScheduleFlush();
  void Flush();
  void Deliver();

  void OnCompletion(const ibv_wc& completion);
  absl::Status OnSucceeded(const WorkId& work, size_t bytes);

  // With `farewell` the peer is told; without, it cannot be.
  void Fail(const absl::Status& cause, bool farewell);
  void End(const absl::Status& cause, bool farewell);
  void Drain();
  void OnDrained();
  void EndAbruptly();

  const Rail rail_;
  const Registration& registration_;
  const std::string name_;
  ConnectionEvents* const events_;
  std::unique_ptr<QueuePairs> queues_;
  Credits credits_;
  SendQueue sends_;
  ReceiveQueue receives_;
  State state_ = State::kOpen;
  absl::Status cause_;
  bool flush_due_ = false;
  uint64_t subscription_ = 0;
  Lifetime lifetime_;
};

// One connection waiting for its peer: queue pairs in INIT, then connected and tried out in both
// directions with packets of full size.

// On the rail's poller. `registration` outlives the offer and its connection.
absl::StatusOr<std::unique_ptr<Offer>> NewVerbsOffer(const Rail& rail,
                                                     const Registration& registration);

}  // namespace tapedeck::dataplane::verbs
