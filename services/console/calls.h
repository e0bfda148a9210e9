// gRPC calls of any method, made for HTTP callers: a request out, answers one by one, an end. All
// is told on one loop; gRPC's threads only post to it.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/executor/event_loop.h"

namespace grpc {
class Channel;
}

namespace tapedeck::services::console {

struct CallSpec {
  std::shared_ptr<grpc::Channel> channel;
  std::string node;    // for errors: whom the channel leads to
  std::string method;  // "/tapedeck.v1.NodeService/GetNode"
  std::map<std::string, std::string> metadata;
  std::unique_ptr<google::protobuf::Message> request;
  std::unique_ptr<google::protobuf::Message> answer;  // of its type, and empty
  std::optional<absl::Duration> limit;                // none: for as long as it is wanted
  // On the loop. The next answer is asked for once this returns.
  std::function<void(const google::protobuf::Message& answer)> on_answer;
  // Last, once.
  std::function<void(const absl::Status& status)> on_end;
};

// All on the loop, but for constructor and destructor, which are on any other thread.
class Calls {
 public:
  explicit Calls(dataplane::EventLoop& loop) : loop_(loop) {}
  // No call may be under way but cancelled ones, which it waits for.
  ~Calls();

  void Start(uint64_t number, CallSpec spec);
  // Nothing more is told of it. May be over already.
  void Cancel(uint64_t number);
  void CancelAll();
  bool Has(uint64_t number) const { return calls_.contains(number); }
  size_t size() const { return calls_.size(); }

 private:
  class Call;

  // Any thread.
  void Forget() ABSL_LOCKS_EXCLUDED(mutex_);

  dataplane::EventLoop& loop_;
  std::map<uint64_t, std::shared_ptr<Call>> calls_;
  absl::Mutex mutex_;
  int under_way_ ABSL_GUARDED_BY(mutex_) = 0;  // gRPC still calls so many
};

}  // namespace tapedeck::services::console
