// A peer that speaks to a verbs rail with queue pairs of its own and says what it likes.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <span>

#include "dataplane/executor/event_loop.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/transport/verbs/queue_pairs.h"
#include "dataplane/transport/verbs/registration.h"
#include "dataplane/transport/verbs/wire.h"

namespace tapedeck::dataplane::verbs {

// All on the test's thread: its event loop only owns descriptors.
class RawPeer {
 public:
  explicit RawPeer(const std::string& address)
      : loop_(*EventLoop::Create("raw")),
        memory_(*host::Create(kBytes)),
        port_(*Port::Open("raw", address)),
        registration_(*Registration::Create(*port_, memory_->window(), RemoteAccess::kNone)) {
    loop_->RunAndWait([&] { queues_ = *QueuePairs::Create(*loop_, *port_, *registration_); });
  }
  ~RawPeer() {
    loop_->RunAndWait([&] { queues_.reset(); });
  }

  QueuePairEndpoint endpoint() const { return queues_->endpoint(); }

  // As the connecting end does; true once the victim has answered.
  bool SayHello(const QueuePairEndpoint& victim) {
    SayHelloAnd(victim, {});
    return Await([&] { return heard_ == 2; });
  }

  // As either end does, but without waiting for the victim's hello before what comes next.
  void SayHelloAnd(const QueuePairEndpoint& victim, std::span<const Message> next) {
    EXPECT_TRUE(queues_->Connect(victim).ok());
    Say({.kind = MessageKind::kHello});
    Say({.kind = MessageKind::kFullHello});
    for (const Message& message : next) Say(message);
  }

  void Say(const Message& message) {
    const uint32_t index = message.kind == MessageKind::kHello       ? kHelloSend
                           : message.kind == MessageKind::kFullHello ? kFullHelloSend
                                                                     : kFarewellSend;
    const size_t bytes = EncodeMessage(message, queues_->send_buffer(index));
    EXPECT_TRUE(queues_->SendAlone(index, bytes, WorkKind::kSend).ok());
  }

  // Any bytes, up to the length of a full hello.
  void SayBytes(std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, queues_->send_buffer(kFullHelloSend).begin());
    EXPECT_TRUE(queues_->SendAlone(kFullHelloSend, bytes.size(), WorkKind::kSend).ok());
  }

  // A payload that no frame announces.
  void SendPayload(size_t bytes) {
    ibv_sge piece = *registration_->Local(memory_->window().bytes.first(bytes));
    ibv_send_wr send{
        .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    EXPECT_TRUE(queues_->Send(QueueKind::kPayload, &send).ok());
  }

  // The status with which a WRITE of 4 KiB to that address ends.
  ibv_wc_status Write(uint64_t address, uint32_t key) {
    ibv_sge piece = *registration_->Local(memory_->window().bytes.first(4096));
    ibv_send_wr write{.wr_id = queues_->NewWork(WorkKind::kMarker, QueueKind::kControl, 1).Pack(),
                      .sg_list = &piece,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED};
    write.wr.rdma = {.remote_addr = address, .rkey = key};
    written_ = false;
    EXPECT_TRUE(queues_->Send(QueueKind::kControl, &write).ok());
    EXPECT_TRUE(Await([&] { return written_; }));
    return write_status_;
  }

 private:
  static constexpr size_t kBytes = 1 << 20;

  template <typename F>
  bool Await(F there) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!there() && std::chrono::steady_clock::now() < end) {
      queues_->completions().Take([&](const ibv_wc& completion) {
        const WorkId work = WorkId::Unpack(completion.wr_id);
        if (work.kind == WorkKind::kReceive && completion.status == IBV_WC_SUCCESS) ++heard_;
        if (work.kind != WorkKind::kMarker) return;
        written_ = true;
        write_status_ = completion.status;
      });
    }
    return there();
  }

  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Port> port_;
  std::unique_ptr<Registration> registration_;
  std::unique_ptr<QueuePairs> queues_;
  int heard_ = 0;
  bool written_ = false;
  ibv_wc_status write_status_ = IBV_WC_SUCCESS;
};

}  // namespace tapedeck::dataplane::verbs
