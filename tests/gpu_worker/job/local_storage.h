// A storage node in this process as a worker sees it, without gRPC between.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "dataplane/executor/event_loop.h"
#include "dataplane/transport/transport.h"
#include "services/session/protocol/storage.h"
#include "services/session/serving/server_session.h"
#include "storage_node/node/node.h"
#include "tests/services/session/local_control.h"

namespace tapedeck::gpu_worker {

// Any thread; `loop` has the node's ends of the sessions. All of it outlives this.
class LocalStorage final : public services::StorageClient {
 public:
  // `sessions` counts those that are open.
  LocalStorage(storage_node::node::StorageNode& node, dataplane::EventLoop& loop,
               dataplane::Transport* rail, std::atomic<int>& sessions)
      : node_(node), loop_(loop), rail_(rail), sessions_(sessions) {}

  // What happens between a look at a channel and the session into it.
  std::function<void()> meanwhile;
  // While true, no session after the first gets through to the node, which says that it lives;
  // null: all do.
  const std::atomic<bool>* held = nullptr;

  absl::StatusOr<services::Channel> GetChannel(const std::string& name) override {
    const auto channel = node_.channels().GetChannel(name);
    if (meanwhile) meanwhile();
    return channel;
  }
  absl::StatusOr<services::Recording> GetRecording(const std::string& name) override {
    return node_.recordings().GetRecording(name);
  }
  absl::StatusOr<services::Timeline> GetTimeline(const std::string& recording) override {
    return node_.view().GetTimeline(recording);
  }
  absl::Status AnnotateStream(const std::string& recording,
                              std::span<const services::Annotation> annotations,
                              services::model::Marked* marked) override {
    const auto now = node_.recorder().AnnotateStream(recording, annotations.subspan(marked->done));
    if (!now.ok()) return now.status();
    marked->left_out += now->left_out;
    marked->done += now->done;
    if (now->next_sample != 0) return absl::UnimplementedError("it takes more than one call");
    if (marked->done == annotations.size()) return absl::OkStatus();
    return AnnotateStream(recording, annotations, marked);
  }
  void Cancel() override {}
  std::unique_ptr<services::session::ControlStream> OpenSession() override {
    using services::session::ServerSession;
    auto [worker_end, node_end] = services::session::LocalControl::Pair();
    const auto session = std::make_shared<std::unique_ptr<ServerSession>>();
    const auto end = [&loop = loop_, &sessions = sessions_, session] {
      loop.Post([&sessions, session] {  // not inside its own call
        session->reset();
        --sessions;
      });
    };
    ++sessions_;
    // The caller may carry sessions itself, and one that is cancelled now lets go of this.
    services::session::ControlStream& waiting = *node_end;
    PostWhen(loop_, opened_++ > 0 ? held : nullptr, waiting,
             [&loop = loop_, &node = node_, rail = rail_, session, end,
              control = std::move(node_end)]() mutable {
               const services::session::ServerSessionSettings settings{
                   .id = "s", .transports = {rail}, .host = &node.sessions()};
               *session = std::make_unique<ServerSession>(loop, settings, std::move(control), end);
               (*session)->Start();
             });
    return std::move(worker_end);
  }

 private:
  // `task` has the stream `waiting`.
  static void PostWhen(dataplane::EventLoop& loop, const std::atomic<bool>* held,
                       services::session::ControlStream& waiting, dataplane::Task task) {
    if (held == nullptr || !*held) return loop.Post(std::move(task));
    waiting.Send(services::session::Progress{.phase = "held by the test"});
    loop.PostAfter(10 * dataplane::kMillisecondNs,
                   [&loop, held, &waiting, task = std::move(task)]() mutable {
                     PostWhen(loop, held, waiting, std::move(task));
                   });
  }

  int opened_ = 0;
  storage_node::node::StorageNode& node_;
  dataplane::EventLoop& loop_;
  dataplane::Transport* const rail_;
  std::atomic<int>& sessions_;
};

}  // namespace tapedeck::gpu_worker
