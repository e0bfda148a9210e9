// Jobs of a worker in this process against a real storage node, over one rail of any transport.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "dataplane/deadline.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/transport/list.h"
#include "gpu_worker/job/job.h"
#include "storage_node/node/node.h"
#include "tests/gpu_worker/job/local_storage.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::gpu_worker {

class JobFixture : public testing::Test {
 protected:
  using EventLoop = dataplane::EventLoop;
  using Transport = dataplane::Transport;

  static constexpr char kChannel[] = "luns/l/channels/c";

  static dataplane::TransportKind KindNamed(const std::string& name) {
    for (const dataplane::TransportKind& kind : dataplane::TransportKinds()) {
      if (kind.kind == name) return kind;
    }
    return {};
  }

  // A node with a LUN, l, that has nothing in it.
  void StartNode(const dataplane::TransportKind& kind, uint64_t lun_bytes = 64 << 20) {
    node_rail_ = NewRail(kind, *node_poller_, true);
    worker_rail_ = NewRail(kind, *worker_poller_, false);
    node_ = storage_node::node::StorageNode::Create(
                {.state_dir = dir_.Make("state"), .rails = {node_rail_.get()}})
                .value();
    ASSERT_TRUE(node_->luns()
                    .CreateLun({.name = "luns/l",
                                .store = "posix",
                                .members = {dir_.Make("m")},
                                .capacity_bytes = lun_bytes},
                               "")
                    .ok());
  }

  void AddChannel(const std::string& name, uint64_t block_bytes, double sample_rate) {
    ASSERT_TRUE(node_->channels()
                    .CreateChannel({.name = name,
                                    .block_bytes = block_bytes,
                                    .datatype = "cf32_le",
                                    .sample_rate = sample_rate},
                                   "")
                    .ok());
  }

  void TearDown() override {
    for (int i = 0; i < 1000 && sessions_ > 0; ++i) absl::SleepFor(absl::Milliseconds(10));
    EXPECT_EQ(sessions_, 0);
    // A job that has ended lets go of its session, which holds it, with a task of its own.
    for (int turn = 0; turn < 3; ++turn) {
      absl::Notification done;
      worker_loop_->Post([&] { done.Notify(); });
      done.WaitForNotification();
    }
  }

  static std::unique_ptr<Transport> NewRail(const dataplane::TransportKind& kind, EventLoop& poller,
                                            bool listen) {
    return kind
        .create(
            {.name = "r0", .kind = kind.kind, .address = kind.loopback_address, .listen = listen},
            {&poller})
        .value();
  }

  void UseDevice(pipeline::DeviceChoice device) {
    device_ = std::move(device);
    ladder_ = std::make_unique<pipeline::MemoryLadder>(*device_.device,
                                                       std::vector<Transport*>{worker_rail_.get()});
  }

  std::unique_ptr<services::StorageClient> Dial() {
    auto storage = std::make_unique<LocalStorage>(*node_, *node_loop_, node_rail_.get(), sessions_);
    storage->meanwhile = meanwhile_;
    storage->held = &hold_second_;
    return storage;
  }

  std::vector<job::JobNode> Nodes() { return {{"storage:1", Dial()}}; }

  job::JobEnvironment Environment() {
    return {.executor = worker_loop_.get(),
            .device = &device_,
            .ladder = ladder_.get(),
            .rails = {worker_rail_.get()},
            .files = services::files::FileRoots::Anywhere(),
            .destinations = services::identity::AddressPatterns::Any(),
            .worker_name = "test"};
  }

  static absl::StatusOr<services::Job> Finish(
      const absl::StatusOr<std::shared_ptr<job::Job>>& job) {
    if (!job.ok()) return job.status();
    if (!(*job)->AwaitEnd(dataplane::Deadline::In(absl::Seconds(60)))) {
      return absl::DeadlineExceededError("the job has not ended in 60 s");
    }
    return (*job)->state();
  }

  std::function<void()> meanwhile_;  // between a look at a channel and the session into it
  std::atomic<int> sessions_ = 0;
  std::atomic<bool> hold_second_ = false;  // the session of a job's second output
  storage_node::TempDir dir_;
  const std::unique_ptr<EventLoop> node_poller_ = EventLoop::Create("node-rail").value();
  const std::unique_ptr<EventLoop> worker_poller_ = EventLoop::Create("worker-rail").value();
  // As in the node: its loops outlive it.
  const std::unique_ptr<EventLoop> node_loop_ = EventLoop::Create("node").value();
  std::unique_ptr<Transport> node_rail_;
  std::unique_ptr<Transport> worker_rail_;
  std::unique_ptr<storage_node::node::StorageNode> node_;
  pipeline::DeviceChoice device_;
  std::unique_ptr<pipeline::MemoryLadder> ladder_;
  const std::unique_ptr<EventLoop> worker_loop_ = EventLoop::Create("worker").value();
};

}  // namespace tapedeck::gpu_worker
