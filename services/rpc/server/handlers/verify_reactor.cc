#include "services/rpc/server/handlers/verify_reactor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "services/model/words/resource_name.h"
#include "services/rpc/convert/catalog.h"

namespace tapedeck::services::server {
namespace {

// Keeps a response of a wholly damaged recording below the message limit.
constexpr size_t kMaxDamagedPerResponse = 1000;

}  // namespace

VerifyReactor* VerifyReactor::Start(const ServiceDispatch& dispatch, ThreadPool& threads,
                                    grpc::CallbackServerContext* context,
                                    const v1::VerifyRecordingRequest& request,
                                    RecordingCatalog& recordings) {
  std::shared_ptr<VerifyReactor> made(
      new VerifyReactor(dispatch, context, recordings, request.name()));
  VerifyReactor* reactor = made.get();
  reactor->self_ = made;
  absl::StatusOr<identity::Access> access = dispatch.Enter(*context, kMethod, request);
  absl::Status status = access.status();
  if (status.ok()) reactor->access_ = *std::move(access);
  if (status.ok()) status = threads.Run([made = std::move(made)] { made->Run(); });
  if (!status.ok()) dispatch.Finish(reactor, reactor->Conclude(status));
  return reactor;
}

void VerifyReactor::Run() {
  absl::Status status = dispatch_.Admit(Work::kNew);
  if (status.ok()) status = CheckRecordingName(name_);
  if (status.ok()) {
    status = recordings_.VerifyRecording(
        name_, [this](const VerifyProgress& progress) { return Report(progress); });
  }
  absl::MutexLock lock(&mutex_);
  if (!lost_.ok()) status = lost_;
  if (status.ok() && cancelled_) status = absl::CancelledError("the caller left");
  if (status.ok() && dispatch_.stopping()) status = dispatch_.Admit(Work::kNew);
  result_ = std::move(status);
  if (!writing_) Advance();
}

// Reports that come faster than the caller reads are merged.
bool VerifyReactor::Report(const VerifyProgress& progress) {
  absl::Status lost = access_.Recheck();
  absl::MutexLock lock(&mutex_);
  lost_ = std::move(lost);
  pending_.checked_blocks = progress.checked_blocks;
  pending_.blocks = progress.blocks;
  pending_.damaged.insert(pending_.damaged.end(), progress.damaged.begin(), progress.damaged.end());
  news_ = true;
  if (!writing_) Advance();
  return lost_.ok() && !cancelled_ && !dispatch_.stopping();
}

void VerifyReactor::Advance() {
  const bool last = result_.has_value() && pending_.damaged.size() <= kMaxDamagedPerResponse;
  if (cancelled_ || (result_.has_value() && !result_->ok() && !news_)) {
    if (result_.has_value()) dispatch_.Finish(this, Conclude(*result_));
    return;
  }
  if (!news_ && !result_.has_value()) return;
  TakePending();
  if (last) {
    response_.set_done(result_->ok());
    return StartWriteAndFinish(&response_, grpc::WriteOptions(), Conclude(*result_));
  }
  writing_ = true;
  StartWrite(&response_);
}

void VerifyReactor::TakePending() {
  VerifyProgress part{.checked_blocks = pending_.checked_blocks, .blocks = pending_.blocks};
  const auto end =
      pending_.damaged.begin() + std::min(pending_.damaged.size(), kMaxDamagedPerResponse);
  part.damaged.assign(std::make_move_iterator(pending_.damaged.begin()),
                      std::make_move_iterator(end));
  pending_.damaged.erase(pending_.damaged.begin(), end);
  news_ = !pending_.damaged.empty();
  response_ = convert::ToProto(part);
}

void VerifyReactor::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mutex_);
  writing_ = false;
  if (!ok) cancelled_ = true;
  Advance();
}

void VerifyReactor::OnCancel() {
  absl::MutexLock lock(&mutex_);
  cancelled_ = true;
}

}  // namespace tapedeck::services::server
