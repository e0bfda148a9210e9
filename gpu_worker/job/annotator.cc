#include "gpu_worker/job/annotator.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/deadline.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/session/loss.h"

namespace tapedeck::gpu_worker::job {

using stages::Remarks;

namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);
// Between two looks at the deadline.
constexpr size_t kMostAtOnce = services::model::kMaxAnnotationsAtOnce;

}  // namespace

absl::StatusOr<std::unique_ptr<Annotator>> Annotator::Create(std::shared_ptr<Remarks> remarks,
                                                             services::StorageClient& storage) {
  auto tasks = std::make_shared<services::TaskQueue>();
  TD_ASSIGN_OR_RETURN(auto thread, services::TaskThread::Create("td-annotate", tasks));
  return std::unique_ptr<Annotator>(
      new Annotator(std::move(remarks), storage, std::move(tasks), std::move(thread)));
}

Annotator::~Annotator() {
  remarks_->SetWaker(nullptr);
  tasks_->Drop();
}

void Annotator::SessionRuns(const std::string& recording) {
  bool first = false, behind = false;
  {
    absl::MutexLock lock(&mutex_);
    first = recording_.empty();
    if (first) recording_ = recording;
    behind = std::exchange(behind_, false);
  }
  const auto write = [this] {
    tasks_->Post([this] { Write(Remarks::Which::kSoFar, dataplane::Deadline::Never()); });
  };
  if (first) remarks_->SetWaker(write);
  if (behind) write();
}

void Annotator::Finish(std::function<void(const absl::Status&)> done) {
  remarks_->SetWaker(nullptr);
  tasks_->Post([this, done = std::move(done)] {
    Write(Remarks::Which::kAll, dataplane::Deadline::In(kPatience));
    done(status_);
  });
}

void Annotator::Write(Remarks::Which which, dataplane::Deadline deadline) {
  std::ranges::move(remarks_->Take(which), std::back_inserter(waiting_));
  const std::string recording = [this] {
    absl::MutexLock lock(&mutex_);
    return recording_;
  }();
  while (!waiting_.empty() && status_.ok()) {
    const absl::Status status = WriteSome(recording, deadline);
    if (status.ok()) continue;
    if (which == Remarks::Which::kSoFar && services::session::MayPass(status)) {
      absl::MutexLock lock(&mutex_);
      behind_ = true;
      return;
    }
    status_ = dataplane::Prefixed(
        absl::StrCat(recording, ": ", waiting_.size(),
                     " annotations, or more, could not be written, the first of samples from ",
                     waiting_.front().sample_start, ": "),
        status);
  }
}

absl::Status Annotator::WriteSome(const std::string& recording, dataplane::Deadline deadline) {
  if (recording.empty()) return absl::FailedPreconditionError("there is no recording");
  if (deadline.passed()) {
    return absl::DeadlineExceededError("the storage node takes them too slowly");
  }
  const auto end =
      waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kMostAtOnce));
  const std::vector<services::Annotation> some(waiting_.begin(), end);
  size_t done = 0;
  const absl::Status status = storage_.Annotate(recording, some, &done);
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
  return status;
}

}  // namespace tapedeck::gpu_worker::job
