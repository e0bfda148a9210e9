// The sending half of a connection: operations that wait for room or credits, and requests that its
// queue pairs work on. Requests go out in chains, one doorbell each. The queue asks for a
// completion only where an operation ends or many requests wait for one. On the rail's poller.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>

#include "absl/status/status.h"
#include "dataplane/block/frame.h"
#include "dataplane/transport/endpoint.h"
#include "dataplane/transport/verbs/credits.h"
#include "dataplane/transport/verbs/queue_pairs.h"
#include "dataplane/transport/verbs/wire.h"

namespace tapedeck::dataplane::verbs {

struct Operation {
  enum class Kind { kFrame, kSend, kWrite, kRead };
  Kind kind = Kind::kFrame;
  Frame frame;           // none for kRead
  ibv_sge local{};       // none for kFrame
  RemoteSlice remote{};  // kWrite, kRead
  uint64_t work = 0;
  bool completes = false;
};

// Part of a connection, as are `queues` and `credits`.
class SendQueue {
 public:
  SendQueue(QueuePairs& queues, Credits& credits) : queues_(queues), credits_(credits) {}

  void Push(const Operation& operation) { waiting_.push_back(operation); }

  // Operations that have not been posted.
  size_t waiting() const { return waiting_.size(); }

  // Something could be posted once there is room.
  bool Waits() const { return !waiting_.empty() || credits_.MustTell(); }

  // Posts what there is room and credit for.
  absl::Status Flush();

  // A request has completed, and with it all before it in its queue.
  void Completed(const WorkId& work, const std::function<void(uint64_t)>& on_completed);

  // Tells the peer that this end closes; false if that cannot be sent.
  bool SayFarewell();

 private:
  // A request that a queue pair works on.
  struct Posted {
    uint64_t work = 0;
    bool completes = false;
  };

  // The requests of one queue pair, counted modulo 2^32.
  struct Lane {
    std::deque<Posted> posted;
    uint32_t completed = 0;  // the index of posted.front()
    uint32_t unsignalled = 0;
  };

  class Chain;

  bool HasRoom(const Operation& operation) const;
  void Add(const Operation& operation, Chain& control, Chain& payload);
  void AddMessage(const Message& message, const Posted& posted, Chain& control);
  Lane& lane(QueueKind queue) { return lanes_[static_cast<size_t>(queue)]; }
  const Lane& lane(QueueKind queue) const { return lanes_[static_cast<size_t>(queue)]; }

  QueuePairs& queues_;
  Credits& credits_;
  std::deque<Operation> waiting_;
  std::array<Lane, 2> lanes_;
  uint32_t next_buffer_ = 0;
};

}  // namespace tapedeck::dataplane::verbs
