#include "gpu_worker/job/annotator.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/deadline.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "services/session/loss.h"

namespace tapedeck::gpu_worker::job {

using stages::Remarks;

namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);
constexpr size_t kMostAtOnce = services::model::kMaxAnnotationsAtOnce;

// The segment with a sample was deleted.
bool IsGone(const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  return reason.has_value() && reason->reason == "RECORDING_NOT_FOUND";
}

// No segment has a sample yet.
bool IsToCome(const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  if (!reason.has_value() || reason->reason != "ARGUMENT_INVALID") return false;
  const auto field = reason->metadata.find("field");
  return field != reason->metadata.end() && field->second == "sample";
}

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

void Annotator::Finish(std::function<void(const absl::Status&, uint64_t)> done) {
  remarks_->SetWaker(nullptr);
  tasks_->Post([this, done = std::move(done)] {
    Write(Remarks::Which::kAll, dataplane::Deadline::In(kPatience));
    done(status_, left_out_);
  });
}

void Annotator::Write(Remarks::Which which, dataplane::Deadline deadline) {
  std::ranges::move(remarks_->Take(which), std::back_inserter(waiting_));
  const std::string recording = [this] {
    absl::MutexLock lock(&mutex_);
    return recording_;
  }();
  while (!waiting_.empty() && status_.ok()) {
    const bool all = which == Remarks::Which::kAll;
    const absl::Status status = WriteSome(recording, all, deadline);
    if (status.ok()) continue;
    if (!all && (IsToCome(status) || services::session::MayPass(status))) {
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

absl::Status Annotator::WriteSome(const std::string& recording, bool all,
                                  dataplane::Deadline deadline) {
  if (recording.empty()) return absl::FailedPreconditionError("there is no recording");
  if (deadline.passed()) {
    return absl::DeadlineExceededError("the storage node takes them too slowly");
  }
  const auto end =
      waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), at_once_));
  const std::vector<services::Annotation> some(waiting_.begin(), end);
  size_t done = 0;
  absl::Status status = storage_.AnnotateStream(recording, some, &done);
  // One of several may have no segment: the others go by themselves.
  const bool no_segment = IsGone(status) || IsToCome(status);
  const size_t left = some.size() - done;
  if (status.ok()) at_once_ = std::min(2 * at_once_, kMostAtOnce);
  if (no_segment && left > 1) {
    at_once_ = left / 2;
    status = absl::OkStatus();
  } else if (IsGone(status) || (all && IsToCome(status))) {
    ++done;
    ++left_out_;
    status = absl::OkStatus();
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
  return status;
}

}  // namespace tapedeck::gpu_worker::job
