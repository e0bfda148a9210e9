// What ends a call before its answer: its time, and a gate that another thread closes.
#pragma once

#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace grpc {
class ClientContext;
}

namespace tapedeck::services::client {

// Ends calls from another thread: those under way and those to come. Any thread.
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

// How long a call is waited for. A value.
struct CallTime {
  // Not longer than `total`, whatever the node does.
  constexpr CallTime(absl::Duration total) : total(total) {}  // NOLINT(google-explicit-constructor)
  // Nor longer than `silence` after the last sign of life of the node's connection, to the second.
  constexpr CallTime(absl::Duration total, absl::Duration silence)
      : total(total), silence(silence) {}

  absl::Duration total;
  absl::Duration silence = absl::InfiniteDuration();
};

}  // namespace tapedeck::services::client
