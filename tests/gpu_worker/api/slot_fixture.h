// Recorders and players of a program in this process against a real storage node, over one rail.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/deadline.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/reason.h"
#include "gpu_worker/api/proxy/proxy.h"
#include "gpu_worker/api/slot_session.h"
#include "gpu_worker/device/thread_stream.h"
#include "tests/gpu_worker/device/split_device.h"
#include "tests/gpu_worker/job/job_fixture.h"

namespace tapedeck::gpu_worker::api {

inline constexpr size_t kBlock = 65536;
inline constexpr size_t kSampleBytes = 8;

// Where a program's slots lie: in the ring itself, or beside it, as on a GPU.
enum class Where { kInRing, kBeside };
inline std::string NameOf(Where where) {
  return where == Where::kInRing ? "InTheRing" : "BesideTheRing";
}

// Empty: it has none.
inline std::string ReasonOf(const absl::Status& status) {
  const auto reason = dataplane::ReasonOf(status);
  return reason.has_value() ? reason->reason : "";
}

class SlotFixture : public JobFixture {
 protected:
  void Start(Where where, ProxyMode mode = ProxyMode::kEconomy, uint64_t lun_bytes = 64 << 20) {
    StartNode(KindNamed("tcp"), lun_bytes);
    AddChannel(kChannel, kBlock, 1e6);
    UseDevice(where == Where::kInRing ? pipeline::ChooseDevice("host").value()
                                      : ChooseSplitDevice());
    proxy_ = Proxy::Create(mode).value();
    stream_ = device::ThreadStream::Create().value();
  }

  // Connections close on their rails, and tell the sessions' loops.
  void TearDown() override {
    for (EventLoop* loop : {node_poller_.get(), worker_poller_.get(), node_loop_.get()}) {
      loop->RunAndWait([] {});
    }
    JobFixture::TearDown();
    for (EventLoop* loop : {node_poller_.get(), worker_poller_.get(), node_loop_.get()}) {
      loop->RunAndWait([] {});
    }
  }

  SlotEnvironment Slots() {
    return {.executor = worker_loop_.get(),
            .device = device_.device.get(),
            .ladder = ladder_.get(),
            .rails = {worker_rail_.get()},
            .proxy = proxy_.get(),
            .name = "test"};
  }

  static dataplane::Deadline Soon() { return dataplane::Deadline::In(absl::Seconds(30)); }

  absl::StatusOr<std::shared_ptr<SlotSession>> OpenRecorder(uint32_t slots = 8,
                                                            const std::string& channel = kChannel) {
    return SlotSession::Record(Slots(), Dial(), {.node = "n", .channel = channel, .slots = slots},
                               Soon());
  }
  absl::StatusOr<std::shared_ptr<SlotSession>> OpenPlayer(const std::string& recording,
                                                          uint32_t slots = 8) {
    return SlotSession::Play(Slots(), Dial(), {.node = "n", .recording = recording, .slots = slots},
                             Soon());
  }

  // What block `number` is filled with.
  static uint64_t WordOf(uint64_t number, size_t word) { return number * 1'000'003 + word; }
  static void Fill(void* data, uint64_t number) {
    for (size_t word = 0; word < kBlock / sizeof(uint64_t); ++word) {
      const uint64_t value = WordOf(number, word);
      std::memcpy(static_cast<std::byte*>(data) + word * sizeof value, &value, sizeof value);
    }
  }
  static bool Holds(const void* data, uint64_t number, size_t bytes = kBlock) {
    for (size_t word = 0; word < bytes / sizeof(uint64_t); ++word) {
      uint64_t value = 0;
      std::memcpy(&value, static_cast<const std::byte*>(data) + word * sizeof value, sizeof value);
      if (value != WordOf(number, word)) return false;
    }
    return true;
  }

  // By the stream, as a kernel would.
  void Launch(std::function<void()> work) {
    stream_->Enqueue([work = std::move(work)](const auto&) { work(); });
  }

  // `blocks` of them in order, without streams.
  std::string RecordBlocks(uint64_t blocks) {
    const auto session = OpenRecorder().value();
    for (uint64_t i = 0; i < blocks; ++i) {
      const Slot slot = session->record()->AcquireNow(Soon()).value();
      EXPECT_EQ(slot.number, i);
      Fill(slot.data, i);
      EXPECT_TRUE(session->record()->SendNow(slot, kBlock).ok());
    }
    return Finish(*session);
  }
  static std::string Finish(SlotSession& session) {
    EXPECT_TRUE(session.record()->Close(Soon()).ok());
    EXPECT_TRUE(session.AwaitEnd(Soon()));
    EXPECT_TRUE(session.snapshot().error.ok()) << session.snapshot().error;
    const std::string recording = session.snapshot().accept.recording;
    session.Close(Soon());
    return recording;
  }

  device::StreamHandle stream() { return stream_.get(); }

  // The node acknowledges nothing until Go.
  void HoldNode() {
    for (EventLoop* loop : {node_loop_.get(), node_poller_.get()}) {
      loop->Post([go = go_] { dataplane::AwaitFor(*go, absl::Seconds(20)); });
    }
  }
  void LetNodeGo() { go_->Notify(); }

  const std::shared_ptr<absl::Notification> go_ = std::make_shared<absl::Notification>();
  std::unique_ptr<Proxy> proxy_;
  std::unique_ptr<device::ThreadStream> stream_;
};

}  // namespace tapedeck::gpu_worker::api
