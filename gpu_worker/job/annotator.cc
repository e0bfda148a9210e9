#include "gpu_worker/job/annotator.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/now.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::job {

using stages::Remarks;

namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

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

void Annotator::Begin(const std::string& recording) {
  {
    absl::MutexLock lock(&mutex_);
    if (!recording_.empty()) return;
    recording_ = recording;
  }
  remarks_->SetWaker(
      [this] { tasks_->Post([this] { Write(Remarks::Which::kSoFar, absl::InfiniteFuture()); }); });
}

void Annotator::Finish(std::function<void(const absl::Status&)> done) {
  remarks_->SetWaker(nullptr);
  tasks_->Post([this, done = std::move(done)] {
    Write(Remarks::Which::kAll, dataplane::SteadyTime() + kPatience);
    done(status_);
  });
}

void Annotator::Write(Remarks::Which which, absl::Time deadline) {
  const std::string recording = [this] {
    absl::MutexLock lock(&mutex_);
    return recording_;
  }();
  const std::vector<services::Annotation> annotations = remarks_->Take(which);
  for (size_t i = 0; i < annotations.size() && status_.ok(); ++i) {
    const absl::Status status = WriteOne(recording, annotations[i], deadline);
    if (status.ok()) continue;
    status_ = dataplane::Prefixed(
        absl::StrCat(recording, ": ", annotations.size() - i,
                     " annotations, or more, could not be written, the first of samples from ",
                     annotations[i].sample_start, ": "),
        status);
  }
}

absl::Status Annotator::WriteOne(const std::string& recording,
                                 const services::Annotation& annotation, absl::Time deadline) {
  if (recording.empty()) return absl::FailedPreconditionError("there is no recording");
  if (dataplane::SteadyTime() >= deadline) {
    return absl::DeadlineExceededError("the storage node takes them too slowly");
  }
  return storage_.AnnotateRecording(recording, annotation);
}

}  // namespace tapedeck::gpu_worker::job
