// The one path that every call takes: admission while the server drains, a thread for its handler,
// and the mapping of results to gRPC with a log line for each failure. gRPC's own threads also
// carry the sessions' control streams and keepalive, so no handler that waits may hold one.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/server/keyed_calls.h"
#include "services/server/refusal_pace.h"
#include "services/threads/thread_pool.h"

namespace tapedeck::services::server {

// New work is refused while the server drains; looking at and ending work goes on. What waits for
// other machines has threads of its own, so that it holds up nothing else.
enum class Work { kNew, kNewElsewhere, kOther };

// Owned by the Server, which stops all calls before it goes. Any thread.
class Dispatch {
 public:
  using Handler = std::function<absl::Status()>;

  // Runs `handler` on a call thread and finishes the call with its status. `method` is a literal.
  // `resource` is the name of what the disks of a LUN may keep it waiting for: such calls wait for
  // those of the same LUN, and for no others. Empty: it does not wait.
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where too many calls wait: for a thread, for other machines
  // or for a LUN; or no thread can be made.
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context, absl::string_view method,
                                  Work work, Handler handler, absl::string_view resource = "");

  // UNAVAILABLE (DRAINING) if `work` may not start now.
  absl::Status Admit(Work work) const;

  // The call's final status for gRPC; failures are logged.
  grpc::Status Conclude(const grpc::CallbackServerContext& context, absl::string_view method,
                        const absl::Status& status) const;

  // Ends the call with that status; failures that come too often end later (refusal_pace.h).
  // `reactor` is one of gRPC's, which lives until it has ended.
  template <typename Reactor>
  void Finish(Reactor* reactor, const grpc::CallbackServerContext& context,
              absl::string_view method, const absl::Status& status) {
    grpc::Status answer = Conclude(context, method, status);
    if (answer.ok()) return reactor->Finish(std::move(answer));
    refusals_.Answer([reactor, answer = std::move(answer)] { reactor->Finish(answer); });
  }

  void Drain() { draining_ = true; }
  // Long calls end themselves soon.
  void Stop() {
    draining_ = stopping_ = true;
    refusals_.Stop();
  }
  bool draining() const { return draining_; }
  bool stopping() const { return stopping_; }

 private:
  std::atomic<bool> draining_ = false;
  std::atomic<bool> stopping_ = false;
  RefusalPace refusals_;
  // With fewer threads one slow answer holds up every listing. What waits holds its request; with
  // less room people who ask at the same moment would be refused.
  ThreadPool threads_{"call", "calls", 4, 256};
  // Each may wait some seconds for a machine that does not answer. With fewer, a handful of wrong
  // addresses keeps honest calls out.
  ThreadPool waiting_threads_{"call", "calls that wait for other machines", 16};
  KeyedCalls lun_calls_;
};

}  // namespace tapedeck::services::server
