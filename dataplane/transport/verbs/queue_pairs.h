// The two queue pairs of one connection, their completion queue and their buffers of control
// messages. `control` carries messages, writes and reads, in order. `payload` carries data for the
// peer's posted buffers. There are two because a receive of a message and one of a payload must
// never take each other's place.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/transport/endpoint.h"
#include "dataplane/transport/verbs/completion_queue.h"
#include "dataplane/transport/verbs/port/limits.h"
#include "dataplane/transport/verbs/port/port.h"
#include "dataplane/transport/verbs/registration.h"

namespace tapedeck::dataplane::verbs {

enum class QueueKind : uint8_t { kControl = 0, kPayload = 1 };

// What a completion is about; in an error only this and the status are valid.
enum class WorkKind : uint8_t { kSend = 1, kReceive = 2, kFarewell = 3, kMarker = 4, kHello = 5 };

// Goes into wr_id. The generation tells attempts to connect apart: a completion of an earlier one
// means nothing.
struct WorkId {
  WorkKind kind = WorkKind::kSend;
  QueueKind queue = QueueKind::kControl;
  uint8_t generation = 0;
  uint32_t index = 0;

  uint64_t Pack() const;
  static WorkId Unpack(uint64_t wr_id);
};

// Receives of the control queue pair: first the two hellos, then the frames from 0.
inline constexpr uint32_t kHelloReceive = kControlReceives;
inline constexpr uint32_t kFullHelloReceive = kControlReceives + 1;
// Sends of the control queue pair whose buffers frames do not use.
inline constexpr uint32_t kHelloSend = kControlSends;
inline constexpr uint32_t kFullHelloSend = kControlSends + 1;
inline constexpr uint32_t kFarewellSend = kControlSends + 2;

// On the rail's poller.
class QueuePairs {
 public:
  // In INIT, with all receives of control messages posted.
  static absl::StatusOr<std::unique_ptr<QueuePairs>> Create(EventLoop& poller, const Port& port,
                                                            const Registration& registration);

  const QueuePairEndpoint& endpoint() const { return endpoint_; }
  Port::QpNumbers numbers() const { return {endpoint_.qp_num, endpoint_.payload_qp_num}; }
  CompletionQueue& completions() { return *completions_; }

  // Makes both ready to receive and send.
  absl::Status Connect(const QueuePairEndpoint& peer);
  // Of both ends, once connected.
  uint32_t mtu_bytes() const { return mtu_bytes_; }

  // Back to the state after Create, for another attempt with the same peer.
  absl::Status Restart();

  // Hands a chain of requests to a queue pair. An error ends the connection.
  absl::Status Send(QueueKind queue, ibv_send_wr* first);
  absl::Status Receive(QueueKind queue, ibv_recv_wr* first, uint32_t count);

  // Sends one control message on its own: kHelloSend, kFullHelloSend or kFarewellSend.
  absl::Status SendAlone(uint32_t index, size_t bytes, WorkKind kind);

  // Buffers of control messages.
  std::span<std::byte> send_buffer(uint32_t index);
  std::span<std::byte> receive_buffer(uint32_t index);
  ibv_sge SgeOf(std::span<const std::byte> buffer) const;

  WorkId NewWork(WorkKind kind, QueueKind queue, uint32_t index) const {
    return {.kind = kind, .queue = queue, .generation = generation_, .index = index};
  }
  bool IsCurrent(const WorkId& work) const { return work.generation == generation_; }

  // Must be told of every completion.
  void Count(const WorkId& work);

  // Ends all that is under way: from here on everything posted completes with an error. Once
  // drained, all of it has come back, and no memory is touched any more.
  void Fail();
  bool drained() const { return markers_ == 0 && receives_ == 0; }

 private:
  QueuePairs(const Port& port, RemoteAccess access) : port_(port), access_(access) {}
  absl::Status CreateBoth(const Registration& registration);
  absl::Status Initialize();
  absl::Status PostControlReceives();
  absl::Status ToReady(QueueKind queue, const QueuePairEndpoint& peer);
  ibv_qp* qp(QueueKind queue) const { return qps_[static_cast<size_t>(queue)].get(); }

  const Port& port_;
  const RemoteAccess access_;
  LocalPath path_;
  QueuePairEndpoint endpoint_;
  uint32_t mtu_bytes_ = 0;
  uint8_t generation_ = 0;
  bool sending_ = false;   // ready to send: requests may be under way
  uint32_t receives_ = 0;  // posted and not completed
  uint32_t markers_ = 0;   // posted by Fail and not completed
  OwnMemory memory_;
  std::unique_ptr<CompletionQueue> completions_;
  std::array<Qp, 2> qps_;
};

}  // namespace tapedeck::dataplane::verbs
