// The stream of one VerifyRecording call. Reading a recording takes minutes and blocks, so each
// call has its own thread.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "services/catalog.h"
#include "services/server/dispatch.h"
#include "tapedeck/v1/catalog.pb.h"

namespace tapedeck::services::server {

// Owns itself until OnDone, which joins the thread; the thread's last act is to let the call end.
class VerifyReactor final : public grpc::ServerWriteReactor<v1::VerifyRecordingResponse> {
 public:
  VerifyReactor(Dispatch& dispatch, grpc::CallbackServerContext* context,
                RecordingCatalog& recordings, std::string name);

 private:
  ~VerifyReactor() override;

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { delete this; }

  void Run();
  bool Report(const VerifyProgress& progress);
  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakePending() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Dispatch& dispatch_;
  grpc::CallbackServerContext* const context_;
  RecordingCatalog& recordings_;
  const std::string name_;

  absl::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool news_ ABSL_GUARDED_BY(mutex_) = false;
  VerifyProgress pending_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> result_ ABSL_GUARDED_BY(mutex_);
  // gRPC's while writing_.
  v1::VerifyRecordingResponse response_;

  std::thread thread_;
};

}  // namespace tapedeck::services::server
