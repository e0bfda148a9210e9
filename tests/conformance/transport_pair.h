// Two ends of one transport kind in one process, for the conformance suite.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/transport/list.h"
#include "dataplane/transport/tcp/kernel_tls.h"
#include "tests/conformance/processor_copies.h"

namespace tapedeck::dataplane {

// TCP as the kernel encrypts it.
inline TransportKind KernelTlsKind() {
  std::vector<TransportKind> kinds = TransportKinds();
  const auto tcp = std::ranges::find(kinds, "tcp", &TransportKind::kind);
  return {.kind = "ktls",
          .loopback_address = tcp->loopback_address,
          .usable = [address = tcp->loopback_address] { return tcp::TryKernelTls("r0", address); },
          .create =
              [create = tcp->create](RailSpec spec, const Pollers& pollers) {
                spec.kind = "tcp";
                spec.tls = true;
                return create(spec, pollers);
              }};
}

// Writes down what a connection tells, on its poller; the test thread waits for it.
class RecordedEvents final : public ConnectionEvents {
 public:
  struct Arrival {
    Frame frame;
    std::span<std::byte> payload;
  };

  void OnFrame(const Frame& frame, std::span<std::byte> payload) override {
    absl::MutexLock lock(&mutex_);
    nested_ |= in_call;
    frames_.push_back({frame, payload});
  }
  void OnCompleted(uint64_t work) override {
    absl::MutexLock lock(&mutex_);
    nested_ |= in_call;
    completed_.push_back(work);
  }
  void OnClosed(const absl::Status& cause) override {
    absl::MutexLock lock(&mutex_);
    nested_ |= in_call;
    closed_.push_back(cause);
  }

  // Each waits up to 10 s for the n-th event.
  Arrival Frame(size_t n) { return Await(frames_, n); }
  uint64_t Completed(size_t n) { return Await(completed_, n); }
  absl::Status Closed() { return Await(closed_, 0); }

  size_t frame_count() { return Count(frames_); }
  size_t completed_count() { return Count(completed_); }
  size_t closed_count() { return Count(closed_); }
  bool nested() {
    absl::MutexLock lock(&mutex_);
    return nested_;
  }

  bool in_call = false;  // set on the poller round a Connection call

 private:
  template <typename T>
  T Await(std::deque<T>& events, size_t n) {
    absl::MutexLock lock(&mutex_);
    const auto there = [&] { return events.size() > n; };
    if (!dataplane::AwaitFor(mutex_, absl::Condition(&there), absl::Seconds(10))) {
      ADD_FAILURE() << "no event " << n << " in 10 s; there are " << events.size();
      return T();
    }
    return events[n];
  }
  template <typename T>
  size_t Count(const std::deque<T>& events) {
    absl::MutexLock lock(&mutex_);
    return events.size();
  }

  absl::Mutex mutex_;
  bool nested_ = false;
  std::deque<Arrival> frames_;
  std::deque<uint64_t> completed_;
  std::deque<absl::Status> closed_;
};

inline std::vector<std::unique_ptr<EventLoop>> MakeLoops(const std::string& name, size_t count) {
  std::vector<std::unique_ptr<EventLoop>> loops;
  for (size_t i = 0; i < count; ++i) loops.push_back(*EventLoop::Create(name));
  return loops;
}

inline Pollers PointersTo(const std::vector<std::unique_ptr<EventLoop>>& loops) {
  Pollers pointers;
  for (const auto& loop : loops) pointers.push_back(loop.get());
  return pointers;
}

// For the kind that copies from memory to memory.
inline PeerCopies& HostCopies() {
  static ProcessorCopies& copies = *new ProcessorCopies();
  return copies;
}

// A rail with its pollers and a window.
class RailEnd {
 public:
  static constexpr size_t kWindowBytes = 4 << 20;

  RailEnd(const TransportKind& kind, bool listen, RemoteAccess access, size_t pollers)
      : loops(MakeLoops(listen ? "listening" : "connecting", pollers)),
        memory(*host::Create(kWindowBytes)),
        transport(*kind.create({.name = "r0",
                                .kind = kind.kind,
                                .address = kind.loopback_address,
                                .listen = listen,
                                .copies = &HostCopies()},
                               PointersTo(loops))),
        domain(*transport->OpenDomain(memory->window(), access)) {}

  std::span<std::byte> bytes(size_t offset, size_t size) {
    return memory->window().bytes.subspan(offset, size);
  }
  RemoteSlice slice(size_t offset) const {
    return {.address = domain->remote_window().address + offset,
            .key = domain->remote_window().key};
  }

  const std::vector<std::unique_ptr<EventLoop>> loops;
  std::unique_ptr<Memory> memory;
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Domain> domain;
};

// One end of a connection, on a poller of its rail. Goes before the rail.
class ConnectionEnd {
 public:
  ConnectionEnd(const RailEnd& rail, size_t poller) : loop(rail.loops[poller].get()) {
    loop->RunAndWait([&] { offer = *rail.domain->NewOffer(poller); });
  }

  // The connection ends on its poller.
  ~ConnectionEnd() {
    loop->RunAndWait([&] {
      connection.reset();
      offer.reset();
    });
  }

  std::future<absl::Status> Connect(const Endpoint& peer, int64_t deadline_ns = 5 * kSecondNs) {
    auto promise = std::make_shared<std::promise<absl::Status>>();
    loop->RunAndWait([&] {
      offer->Connect(peer, loop->clock().NowNs() + deadline_ns, &events,
                     [this, promise](absl::StatusOr<std::unique_ptr<Connection>> result) {
                       const absl::Status status = result.status();
                       if (status.ok()) connection = *std::move(result);
                       promise->set_value(status);
                     });
    });
    return promise->get_future();
  }

  // Runs f(connection) on the poller and notes events that come inside it.
  template <typename F>
  void Do(F f) {
    loop->RunAndWait([&] {
      events.in_call = true;
      f(*connection);
      events.in_call = false;
    });
  }

  EventLoop* const loop;
  RecordedEvents events;
  std::unique_ptr<Offer> offer;
  std::unique_ptr<Connection> connection;
};

// Both: the connection is on the last of the pollers.
class TransportEnd : public RailEnd, public ConnectionEnd {
 public:
  TransportEnd(const TransportKind& kind, bool listen, RemoteAccess access, size_t pollers = 1)
      : RailEnd(kind, listen, access, pollers),
        ConnectionEnd(*this, transport->pollers().size() - 1) {}
};

}  // namespace tapedeck::dataplane
