// The stream of one VerifyRecording call. Reading a recording takes minutes and blocks, so each
// call has a thread of a pool.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "services/base/threads/thread_pool.h"
#include "services/model/seams/catalog.h"
#include "services/rpc/server/dispatch.h"
#include "tapedeck/v1/catalog.pb.h"

namespace tapedeck::services::server {

// Owned by the call, until OnDone, and by the thread that reads, whose last act is to let the call
// end.
class VerifyReactor final : public grpc::ServerWriteReactor<v1::VerifyRecordingResponse> {
 public:
  // The call ends with RESOURCE_EXHAUSTED (LIMIT_REACHED) if `threads` has none left, and where its
  // caller may not make it.
  static VerifyReactor* Start(const ServiceDispatch& dispatch, ThreadPool& threads,
                              grpc::CallbackServerContext* context,
                              const v1::VerifyRecordingRequest& request,
                              RecordingCatalog& recordings);

 private:
  VerifyReactor(const ServiceDispatch& dispatch, grpc::CallbackServerContext* context,
                RecordingCatalog& recordings, std::string name)
      : dispatch_(dispatch),
        context_(context),
        recordings_(recordings),
        name_(std::move(name)),
        span_(dispatch.Begin(*context, kMethod)) {}

  static constexpr char kMethod[] = "VerifyRecording";

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { const auto last = std::move(self_); }

  void Run();
  grpc::Status Conclude(const absl::Status& status) {
    return dispatch_.Conclude(*context_, kMethod, status, span_);
  }
  bool Report(const VerifyProgress& progress);
  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakePending() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ServiceDispatch dispatch_;
  grpc::CallbackServerContext* const context_;
  RecordingCatalog& recordings_;
  const std::string name_;
  identity::Access access_;      // from Start on
  telemetry::trace::Span span_;  // ended by the one that finishes the call

  absl::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool news_ ABSL_GUARDED_BY(mutex_) = false;
  VerifyProgress pending_ ABSL_GUARDED_BY(mutex_);
  absl::Status lost_ ABSL_GUARDED_BY(mutex_);  // the right to it
  std::optional<absl::Status> result_ ABSL_GUARDED_BY(mutex_);
  // gRPC's while writing_.
  v1::VerifyRecordingResponse response_;
  std::shared_ptr<VerifyReactor> self_;  // from Start to OnDone
};

}  // namespace tapedeck::services::server
