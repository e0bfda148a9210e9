// A Connection between two executors of one process. Payload is copied once, straight from window
// to window.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"
#include "dataplane/transport/connection.h"
#include "dataplane/transport/inproc/fabric.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane::inproc {

// Held while memory of either end is touched or something is posted to it: once `cut`, neither
// happens again.
struct Wire {
  absl::Mutex mutex;
  bool cut ABSL_GUARDED_BY(mutex) = false;
};

// One end. Lives on its executor; shared with the operations on their way to it.
struct End : std::enable_shared_from_this<End> {
  Executor* executor = nullptr;
  std::shared_ptr<Fabric> fabric;
  std::string rail;
  uint64_t wire_id = 0;  // of the direction towards this end
  std::span<std::byte> window;
  RemoteAccess access = RemoteAccess::kNone;
  RemoteWindow name;
  ConnectionEvents* events = nullptr;
  bool closed = false;  // no event follows; written on this executor under the wire's mutex

  // Both are null until the fabric has brought it together with its peer.
  std::shared_ptr<End> peer;  // null again once closed: breaks the cycle
  std::shared_ptr<Wire> own_wire = std::make_shared<Wire>();
  std::shared_ptr<Wire> wire;  // own_wire of the end with the lower wire_id
  std::deque<std::span<std::byte>> receives;

  void Close(const absl::Status& cause);
  void PeerClosed();
};

class InprocConnection final : public Connection {
 public:
  explicit InprocConnection(std::shared_ptr<End> end) : end_(std::move(end)) {}
  ~InprocConnection() override;

  void Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work) override;
  void Write(const Frame& frame, std::span<const std::byte> payload, RemoteSlice target,
             uint64_t work) override;
  void Read(std::span<std::byte> into, RemoteSlice origin, uint64_t work) override;
  void PostReceive(std::span<std::byte> buffer) override { end_->receives.push_back(buffer); }
  void Close(const absl::Status& cause) override { end_->Close(cause); }

 private:
  // Carries `arrive(peer)` to the peer's executor. Its error ends the connection on both sides.
  template <typename F>
  void Carry(F arrive);

  const std::shared_ptr<End> end_;
};

}  // namespace tapedeck::dataplane::inproc
