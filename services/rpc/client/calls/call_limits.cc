#include "services/rpc/client/calls/call_limits.h"

#include <grpcpp/client_context.h>

namespace tapedeck::services::client {

void CallGate::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  for (grpc::ClientContext* const context : calls_) context->TryCancel();
}

bool CallGate::closed() const {
  absl::MutexLock lock(&mutex_);
  return closed_;
}

CallGate::Passage::Passage(CallGate* gate, grpc::ClientContext& context)
    : gate_(gate), context_(context) {
  if (gate_ == nullptr) return;
  absl::MutexLock lock(&gate_->mutex_);
  gate_->calls_.insert(&context_);
  if (gate_->closed_) context_.TryCancel();
}

CallGate::Passage::~Passage() {
  if (gate_ == nullptr) return;
  absl::MutexLock lock(&gate_->mutex_);
  gate_->calls_.erase(&context_);
}

}  // namespace tapedeck::services::client
