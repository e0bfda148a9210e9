// Whole sessions over two TCP rails with the production threads: every op, both directions, and a
// rail whose connections die under way.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>

#include "dataplane/executor/event_loop.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/transport/list.h"
#include "services/base/errors.h"
#include "services/session/opening/client_session.h"
#include "services/session/serving/server_session.h"
#include "tests/services/session/local_control.h"
#include "tests/sim/ends.h"

namespace tapedeck::services::session {
namespace {

using dataplane::EventLoop;
using dataplane::Transport;

constexpr uint64_t kSlotBytes = 256 << 10;
constexpr uint64_t kBlocks = 800;

std::shared_ptr<dataplane::MemoryPool> NewRing() {
  return *dataplane::MemoryPool::Create(*dataplane::host::Create(32 * kSlotBytes), kSlotBytes);
}

// Ends TCP connections of this process that have `address` on either side, at most so many ends.
int KillConnections(const std::string& address, int most = 1024) {
  int killed = 0;
  for (int fd = 0; fd < 1024 && killed < most; ++fd) {
    sockaddr_in peer{};
    socklen_t length = sizeof(peer);
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0) continue;
    if (peer.sin_family != AF_INET || inet_ntoa(peer.sin_addr) != address) continue;
    killed += shutdown(fd, SHUT_RDWR) == 0 ? 1 : 0;
  }
  return killed;
}

// The rails of one node, each with two pollers.
struct Rails2 {
  explicit Rails2(bool listen, const std::string& second = "127.0.0.2") {
    for (const std::string& address : {std::string("127.0.0.1"), second}) {
      for (int i = 0; i < 2; ++i) loops.push_back(*EventLoop::Create("rail"));
      const dataplane::Pollers pollers = {loops[loops.size() - 2].get(), loops.back().get()};
      transports.push_back(
          *dataplane::CreateTransport({.name = "r" + std::to_string(transports.size()),
                                       .kind = "tcp",
                                       .address = address,
                                       .listen = listen},
                                      pollers));
    }
  }
  std::vector<Transport*> pointers() const { return {transports[0].get(), transports[1].get()}; }
  std::vector<std::unique_ptr<EventLoop>> loops;
  std::vector<std::unique_ptr<Transport>> transports;
};

class SessionOverTcp : public testing::TestWithParam<std::tuple<Direction, TransferOp>>,
                       public SessionHost {
 protected:
  Snapshot Run(std::function<void(uint64_t delivered)> on_block = [](uint64_t) {}) {
    on_block_ = std::move(on_block);
    auto [worker_end, node_end] = LocalControl::Pair();
    std::promise<void> server_ended;
    ServerSession server(*node_loop_,
                         {.id = "s1", .transports = node_rails_.pointers(), .host = this},
                         std::move(node_end), [&] { server_ended.set_value(); });
    std::promise<Snapshot> result;
    ClientSessionSettings settings{.node = "test",
                                   .transports = worker_rails_.pointers(),
                                   .connections_per_rail = connections_};
    settings.open.direction = std::get<0>(GetParam());
    settings.open.op = std::get<1>(GetParam());
    settings.open.slots = 32;
    settings.make_end = [this](const Accept&) -> absl::StatusOr<TransferEnd> {
      Admission admission = MakeEnd(std::get<0>(GetParam()) == Direction::kRecord, worker_ring_);
      return TransferEnd{std::move(admission.source), std::move(admission.sink), admission.ring};
    };
    const auto on_change = [&](const Snapshot& snapshot) {
      if (snapshot.ended) result.set_value(snapshot);
    };
    auto client = std::make_unique<ClientSession>(*worker_loop_, settings, std::move(worker_end));
    node_loop_->Post([&] { server.Start(); });
    worker_loop_->Post([&] { client->Start(on_change); });
    const Snapshot snapshot = result.get_future().get();
    worker_loop_->RunAndWait([&] { client.reset(); });
    server_ended.get_future().wait();
    node_loop_->RunAndWait([&] { node_told_ = server.progress().rails; });
    return snapshot;
  }

  void Admit(const Open& open, dataplane::Executor&, std::shared_ptr<AdmissionWatch>,
             OnAdmitted admitted) override {
    Admission admission = MakeEnd(open.direction == Direction::kPlayback, node_ring_);
    admission.accept.op = open.op.value_or(dataplane::TransferOp::kRead);
    admission.accept.datatype = "cf32_le";
    admission.accept.block_bytes = kSlotBytes;
    if (open.direction == Direction::kPlayback) admission.accept.blocks = kBlocks;
    admitted(std::move(admission));
  }

  Admission MakeEnd(bool sending, const std::shared_ptr<dataplane::MemoryPool>& ring) {
    Admission admission{.ring = ring};
    if (sending) {
      admission.source = std::make_unique<sim::PatternSource>(ring, kBlocks);
    } else {
      admission.sink =
          std::make_unique<sim::PatternSink>([this](uint64_t) { on_block_(++delivered_); });
    }
    return admission;
  }

  void ExpectComplete(const Snapshot& snapshot) {
    EXPECT_TRUE(snapshot.error.ok()) << snapshot.error;
    EXPECT_EQ(delivered_, kBlocks);
    EXPECT_EQ(snapshot.blocks, kBlocks);
    EXPECT_EQ(snapshot.lost_blocks, 0u);
    EXPECT_EQ(snapshot.counters.crc_errors, 0u);
    EXPECT_EQ(worker_ring_->free_slots(), worker_ring_->slots());
    EXPECT_EQ(node_ring_->free_slots(), node_ring_->slots());
    for (const RailProgress& rail : node_told_) EXPECT_EQ(rail.cause, "") << rail.name;
  }

  Rails2 node_rails_{true};
  Rails2 worker_rails_{false};
  std::unique_ptr<EventLoop> node_loop_ = *EventLoop::Create("node");
  std::unique_ptr<EventLoop> worker_loop_ = *EventLoop::Create("worker");
  std::shared_ptr<dataplane::MemoryPool> worker_ring_ = NewRing();
  std::shared_ptr<dataplane::MemoryPool> node_ring_ = NewRing();
  uint32_t connections_ = 1;
  std::function<void(uint64_t)> on_block_;
  std::atomic<uint64_t> delivered_ = 0;
  std::vector<RailProgress> node_told_;  // once a session has ended
};

TEST_P(SessionOverTcp, SharesTheBlocksBetweenTheRails) {
  const Snapshot snapshot = Run();
  ExpectComplete(snapshot);
  ASSERT_EQ(snapshot.rails.size(), 2u);
  // One whose threads other work on the machine holds up rightly gets less than half.
  for (const RailProgress& rail : snapshot.rails) EXPECT_GT(rail.blocks, kBlocks / 10) << rail.name;
}

// What rails say of themselves afterwards is what came over them.
TEST_P(SessionOverTcp, IsCountedByItsRails) {
  const Snapshot snapshot = Run();
  ExpectComplete(snapshot);
  const bool record = std::get<0>(GetParam()) == Direction::kRecord;
  const auto& from = (record ? worker_rails_ : node_rails_).transports;
  const auto& to = (record ? node_rails_ : worker_rails_).transports;
  uint64_t received = 0, sent = 0, timed = 0;
  for (size_t i = 0; i < 2; ++i) {
    received += to[i]->meter().received.blocks;
    sent += from[i]->meter().sent.blocks;
    EXPECT_EQ(to[i]->meter().received.bytes, to[i]->meter().received.blocks * kSlotBytes);
    if (!record) {
      EXPECT_EQ(to[i]->meter().received.blocks, snapshot.rails[i].blocks);
    }
    EXPECT_EQ(from[i]->meter().received.blocks + to[i]->meter().sent.blocks, 0u);
    for (const auto* rail : {&from[i], &to[i]}) {
      EXPECT_EQ((*rail)->meter().links_up, 0u);
      EXPECT_EQ((*rail)->meter().failures, 0u);
    }
    for (const uint64_t count : from[i]->meter().latency.counts()) timed += count;
  }
  EXPECT_EQ(received, kBlocks);
  // A session may end before its last acknowledgements come; they are about a ring at most.
  for (const uint64_t count : {sent, timed}) {
    EXPECT_LE(count, kBlocks);
    EXPECT_GE(count, kBlocks - node_ring_->slots());
  }
}

TEST_P(SessionOverTcp, LosesNothingWhenARailDies) {
  int killed = 0;
  const Snapshot snapshot = Run([&](uint64_t delivered) {
    if (delivered == kBlocks / 4) killed = KillConnections("127.0.0.2");
  });
  EXPECT_GE(killed, 1);
  ExpectComplete(snapshot);
  EXPECT_GE(worker_rails_.transports[1]->meter().failures, 1u);
  EXPECT_EQ(worker_rails_.transports[1]->meter().links_up, 0u);
}

// The third shares a poller with the first.
TEST_P(SessionOverTcp, LosesNothingWhenOneOfARailsConnectionsDies) {
  connections_ = 3;
  int killed = 0;
  const Snapshot snapshot = Run([&](uint64_t delivered) {
    if (delivered == kBlocks / 4) killed = KillConnections("127.0.0.2", 1);
  });
  EXPECT_EQ(killed, 1);
  ExpectComplete(snapshot);
  const Transport& rail = *worker_rails_.transports[1];
  EXPECT_EQ(worker_rails_.transports[0]->meter().failures, 0u);
  EXPECT_EQ(worker_rails_.transports[1]->meter().failures, 1u) << "of three";
  EXPECT_EQ(rail.pollers().size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Ops, SessionOverTcp,
                         testing::Combine(testing::Values(Direction::kRecord, Direction::kPlayback),
                                          testing::Values(TransferOp::kRead, TransferOp::kWrite,
                                                          TransferOp::kSend)));

}  // namespace
}  // namespace tapedeck::services::session
