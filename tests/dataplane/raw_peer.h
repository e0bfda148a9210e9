// A link of a session whose other end is a test's own: it says what it likes, over the inproc
// transport, in one process and on virtual time.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/transfer/link.h"
#include "dataplane/transport/inproc/transport.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::dataplane {

inline constexpr uint64_t kBlockBytes = 64 << 10;
inline constexpr size_t kSlots = 8;

// The peer says what it likes, and remembers the slots that it was granted.
class RawPeer final : public ConnectionEvents {
 public:
  void OnFrame(const Frame& frame, std::span<std::byte>) override {
    if (frame.type == FrameType::kGrant) granted.push_back(frame.slot);
  }
  void OnCompleted(uint64_t) override {}
  void OnClosed(const absl::Status&) override { connection = nullptr; }

  void Say(Frame frame) {
    if (connection == nullptr) return;
    frame.number = next++;
    connection->Send(frame, {}, 0);
  }
  void SayBlock(uint64_t sequence, uint32_t payload_bytes) {
    Frame frame{.type = FrameType::kBlock};
    frame.block = {.sequence = sequence, .payload_bytes = payload_bytes};
    if (payload_bytes == 0) frame.block.flags = kBlockMissing;
    Say(frame);
  }

  Connection* connection = nullptr;
  uint32_t next = 0;
  std::vector<uint32_t> granted;
};

// An executor that is pumped by hand and counts what it is given.
class CountingExecutor final : public Executor {
 public:
  void Post(Task task) override {
    ++posts;
    inner_.Post(std::move(task));
  }
  void PostAt(int64_t deadline_ns, Task task) override {
    inner_.PostAt(deadline_ns, std::move(task));
  }
  void AtEndOfTurn(Task task) override { inner_.Post(std::move(task)); }
  const Clock& clock() const override { return inner_.clock(); }
  void RunReady() { inner_.RunReady(); }
  // Its clock jumps to the next timer when nothing else is to do.
  bool RunUntil(const std::function<bool()>& done) { return inner_.RunUntil(done); }

  int posts = 0;

 private:
  storage_node::ManualExecutor inner_{absl::ZeroDuration()};
};

// The link's poller and its session have executors of their own, so that one can be ahead of the
// other.
class LinkToRawPeer : public testing::Test {
 protected:
  ~LinkToRawPeer() override {
    link_.reset();
    Run();
    connection_.reset();
  }

  void ConnectTo(LinkEvents* mover, const std::shared_ptr<ArrivalCrcs>& arrivals = nullptr) {
    link_ = std::make_unique<Link>(session_, *near_, near_domain_, 0, 0, mover);
    link_->SetArrivals(arrivals);
    link_->MakeOffer([this](absl::StatusOr<Endpoint> endpoint) {
      offer_->Connect(*endpoint, kSecondNs, &peer_, [this](auto connection) {
        connection_ = *std::move(connection);
        peer_.connection = connection_.get();
      });
      link_->Connect(offer_->endpoint(), far_domain_->remote_window(), kSecondNs);
    });
    Run();
    ASSERT_TRUE(link_->up());
  }

  void Run() {
    for (int i = 0; i < 20; ++i) {
      poller_.RunReady();
      session_.RunReady();
    }
  }

  CountingExecutor poller_;
  CountingExecutor session_;
  std::shared_ptr<inproc::Fabric> fabric_ = std::make_shared<inproc::Fabric>();
  std::unique_ptr<Transport> near_ = inproc::Create("r0", poller_, fabric_);
  std::unique_ptr<Transport> far_ = inproc::Create("r0", poller_, fabric_);
  std::shared_ptr<MemoryPool> ring_ =
      *MemoryPool::Create(*host::Create(kSlots * kBlockBytes), kBlockBytes);
  std::shared_ptr<Domain> near_domain_ = *near_->OpenDomain(ring_->window(), RemoteAccess::kWrite);
  std::unique_ptr<Memory> far_memory_ = *host::Create(kBlockBytes);
  std::unique_ptr<Domain> far_domain_ =
      *far_->OpenDomain(far_memory_->window(), RemoteAccess::kRead);
  std::unique_ptr<Offer> offer_ = *far_domain_->NewOffer(0);
  RawPeer peer_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Link> link_;
};

}  // namespace tapedeck::dataplane
