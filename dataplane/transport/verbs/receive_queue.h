// The receiving half of a connection. It gives control messages in order, and brings together
// payloads and their frames. A frame whose payload has not come yet holds back those behind it. On
// the rail's poller.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/block/frame.h"
#include "dataplane/transport/verbs/credits.h"
#include "dataplane/transport/verbs/queue_pairs.h"
#include "dataplane/transport/verbs/wire.h"

namespace tapedeck::dataplane::verbs {

struct Arrival {
  Frame frame;
  std::span<std::byte> payload;
};

// Part of a connection, as are `queues` and `credits`.
class ReceiveQueue {
 public:
  ReceiveQueue(QueuePairs& queues, Credits& credits) : queues_(queues), credits_(credits) {}

  // A buffer for a payload; `piece` names it to the port.
  void Push(std::span<std::byte> buffer, const ibv_sge& piece);

  // Something is to be posted.
  bool Waits() const { return !free_.empty() || (unposted_ > 0 && posted() < kPayloadReceives); }

  // Posts the buffers that wait and the receives whose messages were consumed.
  absl::Status Flush();

  // A message of `bytes` bytes lies in that receive. UNAVAILABLE for a farewell; DATA_LOSS for what
  // no honest peer sends.
  absl::Status OnMessage(uint32_t index, size_t bytes);

  // The oldest posted buffer holds a payload of `bytes` bytes.
  absl::Status OnPayload(size_t bytes);

  // The next frame, if it and its payload are there. RESOURCE_EXHAUSTED if its payload can never
  // come, because no buffer is posted for it.
  absl::StatusOr<std::optional<Arrival>> Next();

  // The peer has said farewell.
  bool peer_closed() const { return peer_closed_; }

 private:
  struct Waiting {
    uint32_t index;  // of the receive that holds it
    Message message;
  };
  struct Buffer {
    std::span<std::byte> bytes;
    ibv_sge piece;
  };

  size_t posted() const { return buffers_.size() - unposted_; }
  absl::Status PostMessages();
  absl::Status PostBuffers();

  QueuePairs& queues_;
  Credits& credits_;
  std::deque<Waiting> waiting_;
  std::vector<uint32_t> free_;  // receives to be posted again
  std::deque<Buffer> buffers_;  // without a payload yet
  size_t unposted_ = 0;         // of them, at the end
  std::deque<std::span<std::byte>> filled_;
  bool peer_closed_ = false;
};

}  // namespace tapedeck::dataplane::verbs
