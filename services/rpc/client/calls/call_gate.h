// Ends calls from another thread: those under way and those to come. Any thread.
#pragma once

#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace grpc {
class ClientContext;
}

namespace tapedeck::services::client {

class CallGate {
 public:
  void Close();
  bool closed() const;

  // Around one call: a gate that closes meanwhile, or is closed already, cancels it.
  class Passage {
   public:
    // `gate` may be null.
    Passage(CallGate* gate, grpc::ClientContext& context);
    Passage(const Passage&) = delete;
    Passage& operator=(const Passage&) = delete;
    ~Passage();

   private:
    CallGate* const gate_;
    grpc::ClientContext& context_;
  };

 private:
  mutable absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<grpc::ClientContext*> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::services::client
