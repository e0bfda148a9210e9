#include "gpu_worker/job/annotator.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/deadline.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/session/opening/loss.h"

namespace tapedeck::gpu_worker::job {

using stages::StageReport;

namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);
constexpr absl::Duration kLookEvery = absl::Milliseconds(50);
// The node may have to write a file for each.
constexpr size_t kMostAtOnce = 100;

absl::Status TooSlow() {
  return absl::DeadlineExceededError("the storage node takes them too slowly");
}

// The segment with a sample was deleted.
bool IsGone(const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  return reason.has_value() && reason->reason == "RECORDING_NOT_FOUND";
}

// The node closes it at this moment.
bool IsBusy(const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  return reason.has_value() && reason->reason == "RECORDING_BUSY";
}

// No segment has a sample yet.
bool IsToCome(const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  if (!reason.has_value() || reason->reason != "ARGUMENT_INVALID") return false;
  const auto field = reason->metadata.find("field");
  return field != reason->metadata.end() && field->second == "sample";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Annotator>> Annotator::Create(std::shared_ptr<StageReport> report,
                                                             services::RecordingsClient& storage,
                                                             Into into) {
  auto tasks = std::make_shared<services::TaskQueue>();
  TD_ASSIGN_OR_RETURN(auto thread, services::TaskThread::Create("td-annotate", tasks));
  return std::unique_ptr<Annotator>(
      new Annotator(std::move(report), storage, into, std::move(tasks), std::move(thread)));
}

Annotator::~Annotator() {
  ending_ = true;
  report_->SetWaker(nullptr);
  tasks_->Drop();
}

void Annotator::SessionRuns(const std::string& recording) {
  if (recording.empty()) return;
  bool first = false, behind = false;
  {
    absl::MutexLock lock(&mutex_);
    first = recording_.empty();
    if (first) recording_ = recording;
    behind = std::exchange(behind_, false);
  }
  Begin(first, behind);
}

void Annotator::HasCaptures(const std::vector<std::string>& captures) {
  if (captures.empty()) return;
  bool first = false, behind = false;
  {
    absl::MutexLock lock(&mutex_);
    first = names_.empty();
    behind = std::exchange(behind_, false) || names_ != captures;
    names_ = captures;
  }
  Begin(first, behind);
}

void Annotator::Begin(bool first, bool behind) {
  const auto write = [this] {
    tasks_->Post([this] { Write(StageReport::Which::kSoFar, dataplane::Deadline::Never()); });
  };
  if (first) report_->SetWaker(write);
  if (behind) write();
}

void Annotator::Finish(std::function<void(const absl::Status&, uint64_t)> done) {
  ending_ = true;
  report_->SetWaker(nullptr);
  tasks_->Post([this, done = std::move(done)] {
    Write(StageReport::Which::kAll, dataplane::Deadline::In(kPatience));
    done(status_, left_out_ + marks_.unkept());
  });
}

void Annotator::Write(StageReport::Which which, dataplane::Deadline deadline) {
  const bool all = which == StageReport::Which::kAll;
  std::vector<services::Annotation> taken = report_->Take(which);
  if (into_ == Into::kCaptures) {
    for (services::Annotation& mark : taken) marks_.Add(std::move(mark));
    WriteCaptures(all, deadline);
  } else {
    std::ranges::move(taken, std::back_inserter(waiting_));
    WriteRecording(all, deadline);
  }
}

void Annotator::FallBehind() {
  absl::MutexLock lock(&mutex_);
  behind_ = true;
}

bool Annotator::MayCall(bool all, dataplane::Deadline deadline) const {
  return (all || !ending_) && !deadline.passed();
}

void Annotator::WriteRecording(bool all, dataplane::Deadline deadline) {
  const std::string recording = [this] {
    absl::MutexLock lock(&mutex_);
    return recording_;
  }();
  while (!waiting_.empty() && status_.ok()) {
    if (!all && ending_) return;
    const absl::Status status = WriteSome(recording, all, deadline);
    if (status.ok()) continue;
    if (!all && (IsToCome(status) || services::session::MayPass(status))) return FallBehind();
    status_ = dataplane::Prefixed(
        absl::StrCat(recording, ": ", waiting_.size(),
                     " annotations, or more, could not be written, the first of samples from ",
                     waiting_.front().sample_start, ": "),
        status);
  }
}

void Annotator::WriteCaptures(bool all, dataplane::Deadline deadline) {
  const std::vector<std::string> names = [this] {
    absl::MutexLock lock(&mutex_);
    return names_;
  }();
  for (auto it = captures_.begin(); it != captures_.end();) {
    if (std::ranges::find(names, it->first) != names.end()) {
      ++it;
      continue;
    }
    marks_.Forget(it->first);
    it = captures_.erase(it);
  }
  for (const std::string& name : names) {
    if (!status_.ok()) return;
    Capture& capture = captures_[name];
    const absl::Status status = WriteCapture(name, capture, all, deadline);
    if (!all && (services::session::MayPass(status) || !capture.extent.closed)) FallBehind();
    if (status.ok() || (!all && services::session::MayPass(status))) continue;
    status_ =
        dataplane::Prefixed(absl::StrCat(name, ": annotations could not be written: "), status);
  }
}

absl::Status Annotator::WriteCapture(const std::string& name, Capture& capture, bool all,
                                     dataplane::Deadline deadline) {
  if (marks_.size() == capture.looked_for) return absl::OkStatus();
  absl::Status status;
  while (!capture.extent.closed) {
    status = Look(name, capture.extent);
    if (!all || !IsBusy(status) || deadline.passed()) break;
    absl::SleepFor(kLookEvery);
  }
  if (IsGone(status)) {
    capture.extent = {.closed = true};
    return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(status);
  if (all) capture.extent.closed = true;
  const std::vector<CaptureMarks::Due> due = marks_.DueIn(name, capture.extent);
  if (!due.empty()) {
    std::vector<services::Annotation> annotations;
    for (const CaptureMarks::Due& one : due) annotations.push_back(one.annotation);
    services::model::Marked marked;
    while (status.ok() && marked.done < annotations.size() && MayCall(all, deadline)) {
      status = storage_.AnnotateStream(name, annotations, &marked);
    }
    for (size_t i = 0; i < marked.done; ++i) marks_.Given(name, due[i]);
    if (IsGone(status)) return absl::OkStatus();
    TD_RETURN_IF_ERROR(status);
    if (marked.done < annotations.size()) return all ? TooSlow() : absl::OkStatus();
  }
  if (capture.extent.closed) capture.looked_for = marks_.size();
  return absl::OkStatus();
}

absl::Status Annotator::Look(const std::string& name, CaptureMarks::Extent& extent) {
  TD_ASSIGN_OR_RETURN(const services::Timeline timeline, storage_.GetTimeline(name));
  extent.closed = timeline.state != services::RecordingState::kRecording;
  if (timeline.captures.empty()) return absl::OkStatus();
  const services::CaptureStart& last = timeline.captures.back();
  extent.first = timeline.captures.front().stream_sample;
  extent.end = last.stream_sample + (timeline.samples - std::min(timeline.samples, last.sample));
  return absl::OkStatus();
}

absl::Status Annotator::WriteSome(const std::string& recording, bool all,
                                  dataplane::Deadline deadline) {
  if (recording.empty()) return absl::FailedPreconditionError("there is no recording");
  if (deadline.passed()) return TooSlow();
  const auto end =
      waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kMostAtOnce));
  const std::vector<services::Annotation> some(waiting_.begin(), end);
  services::model::Marked marked{.next_sample = next_sample_};
  absl::Status status = storage_.AnnotateStream(recording, some, &marked);
  left_out_ += marked.left_out;
  if (all && IsToCome(status)) {
    ++marked.done;
    if (marked.next_sample == 0) ++left_out_;
    marked.next_sample = 0;
    status = absl::OkStatus();
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(marked.done));
  next_sample_ = marked.next_sample;
  return status;
}

}  // namespace tapedeck::gpu_worker::job
