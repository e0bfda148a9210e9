#include "gpu_worker/job/job.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/log.h"
#include "gpu_worker/device/unusable.h"
#include "services/base/errors.h"
#include "services/model/seams/inlets.h"

namespace tapedeck::gpu_worker::job {

using services::session::Direction;
using services::session::Snapshot;

namespace {

absl::Status Incomplete(const std::string& recording, uint64_t lost, uint64_t total) {
  return services::BlockDamaged(
      {.recording = recording, .blocks = lost},
      absl::StrCat(recording, ": ", lost, " of ", total,
                   " blocks are missing; tapectl recordings verify names them"));
}

services::Note UnmarkedNote(uint64_t annotations) {
  return services::MakeNote(
      "ANNOTATIONS_LEFT_OUT",
      absl::StrCat(annotations, " annotations are left out: no recording keeps their samples"),
      {{"annotations", absl::StrCat(annotations)}});
}

// What it means for the job.
absl::Status OfSecond(const services::JobOutput& output) {
  if (output.error.ok()) return absl::OkStatus();
  return dataplane::Prefixed(absl::StrCat("the second output, ", output.channel, ": "),
                             output.error);
}

}  // namespace

Job::Job(const std::string& name, Direction direction, const JobEnvironment& environment,
         std::vector<JobNode> nodes)
    : AnyJob(name, direction, environment), nodes_(std::move(nodes)) {}

bool Job::Show(const Snapshot& snapshot) {
  const int64_t now_ns = environment_.executor->clock().NowNs();
  absl::MutexLock lock(&mutex_);
  const bool named = job_.recording.empty() && !snapshot.accept.recording.empty();
  if (!snapshot.accept.recording.empty()) job_.recording = snapshot.accept.recording;
  if (!snapshot.ended) job_.state = StateOf(snapshot, job_.state);
  job_.blocks = snapshot.blocks;
  job_.bytes = snapshot.bytes;
  job_.total_blocks = TotalOf(goal_, snapshot.total_blocks);
  job_.elapsed_ns = snapshot.elapsed_ns;
  job_.lost_blocks = LostOf(snapshot);
  job_.counters = snapshot.counters;
  job_.rails = snapshot.rails;
  job_.stage_times = snapshot.stage_times;
  if (meter_ != nullptr) job_.timing = meter_->timing();
  job_.captures = snapshot.captures;
  job_.progress = ProgressOf(goal_, job_, now_ns);
  const bool preparing = job_.state == services::JobState::kPreparing && !snapshot.ended;
  if (preparing) job_.progress = snapshot.memory_ready;
  away_.See(snapshot.resuming, now_ns);
  return named;
}

void Job::OnChange(const Snapshot& snapshot) {
  const auto& tell = Show(snapshot) ? environment_.changed : environment_.progressed;
  if (tell) tell();
  if (times_ != nullptr && snapshot.accept.recording == times_->recording()) {
    times_->BeginAt(snapshot.accept.first_block);
  }
  if (annotator_ != nullptr && !snapshot.resuming) {
    annotator_->SessionRuns(snapshot.accept.recording);
    annotator_->HasCaptures(snapshot.captures);
  }
  if (!snapshot.ended) return;
  if (annotator_ == nullptr) return Conclude({.last = snapshot});
  annotator_->Finish(
      [self = shared_from_this(), snapshot](const absl::Status& annotated, uint64_t left_out) {
        self->environment_.executor->Post([self, snapshot, annotated, left_out] {
          self->Conclude({.last = snapshot, .annotated = annotated, .unmarked = left_out});
        });
      });
}

void Job::OnSecondChange(const Snapshot& snapshot) {
  {
    absl::MutexLock lock(&mutex_);
    services::JobOutput& output = job_.outputs.front();
    if (!snapshot.accept.recording.empty()) output.recording = snapshot.accept.recording;
    output.blocks = snapshot.blocks;
    output.bytes = snapshot.bytes;
    output.lost_blocks = snapshot.lost_blocks;
    if (snapshot.ended) {
      output.error = snapshot.error;
      if (output.error.ok() && snapshot.lost_blocks > 0) {
        output.error = Incomplete(output.recording, snapshot.lost_blocks, snapshot.total_blocks);
      }
    }
  }
  if (second_annotator_ != nullptr && !snapshot.resuming) {
    second_annotator_->SessionRuns(snapshot.accept.recording);
    second_annotator_->HasCaptures(snapshot.captures);
  }
  if (!snapshot.ended) return;
  if (second_annotator_ == nullptr) return EndSecond(absl::OkStatus(), 0);
  second_annotator_->Finish(
      [self = shared_from_this()](const absl::Status& annotated, uint64_t left_out) {
        self->environment_.executor->Post(
            [self, annotated, left_out] { self->EndSecond(annotated, left_out); });
      });
}

void Job::EndSecond(const absl::Status& annotated, uint64_t unmarked) {
  {
    absl::MutexLock lock(&mutex_);
    services::JobOutput& output = job_.outputs.front();
    output.error.Update(annotated);
    if (unmarked > 0) job_.notes.push_back(UnmarkedNote(unmarked));
    if (!output.error.ok() && !end_.has_value()) {
      dataplane::Log(dataplane::LogLevel::kWarning, "job",
                     "a second output failed; the job continues",
                     {{"job", job_.name}, {"cause", std::string(output.error.message())}});
    }
  }
  second_ended_ = true;
  // Not inside its own callback. Without its source the pipeline goes on.
  environment_.executor->Post([self = shared_from_this()] {
    self->second_->LetGo();
    self->second_annotator_.reset();
  });
  EndIfAll();
}

void Job::Conclude(End end) {
  if (report_ != nullptr) {
    absl::MutexLock lock(&mutex_);
    std::ranges::copy(report_->Notes(), std::back_inserter(job_.notes));
    if (end.unmarked > 0) job_.notes.push_back(UnmarkedNote(end.unmarked));
  }
  // The pipeline goes with the first session. The second, which may still be opening, then ends
  // behind all that it was given.
  if (second_ != nullptr && !end.last.error.ok()) second_->EndsEarly("the first output failed");
  end_ = std::move(end);
  // Not inside its own callback. Ended jobs are kept to be looked at, their connections and memory
  // are not.
  environment_.executor->Post([self = shared_from_this()] {
    self->session_->LetGo();
    self->annotator_.reset();
  });
  EndIfAll();
}

void Job::EndIfAll() {
  if (!end_.has_value() || (second_ != nullptr && !second_ended_)) return;
  {
    absl::MutexLock lock(&mutex_);
    absl::Status error = ErrorOf(*end_);
    if (!error.ok() || cancelled_) NoteKept();
    if (auto away = away_.Note(); away.has_value()) job_.notes.push_back(*std::move(away));
    SetEnd(std::move(error));
  }
  environment_.executor->Post([self = shared_from_this()] { self->nodes_.clear(); });
}

uint64_t Job::LostOf(const Snapshot& snapshot) const {
  const bool asked_for_all = !in_range_ || !snapshot.ended;
  return asked_for_all ? snapshot.lost_blocks : meter_->lost();
}

absl::Status Job::ErrorOf(const End& end) const {
  absl::Status error = device::FailureOn(*environment_.device->device, end.last.error);
  error.Update(end.annotated);
  const uint64_t lost = LostOf(end.last);
  if (error.ok() && lost > 0) error = Incomplete(job_.recording, lost, end.last.total_blocks);
  for (const services::JobOutput& output : job_.outputs) error.Update(OfSecond(output));
  return error;
}

void Job::NoteKept() {
  if (job_.direction != Direction::kRecord || job_.recording.empty()) return;
  if (services::IsInletName(job_.recording)) return;
  if (job_.blocks == 0) {
    job_.notes.push_back(
        services::MakeNote("NOTHING_KEPT",
                           absl::StrCat("no block of ", job_.recording,
                                        " was acknowledged; the storage node keeps no recording "
                                        "without blocks"),
                           {{"recording", job_.recording}}));
  } else if (!cancelled_) {
    job_.notes.push_back(services::MakeNote(
        "PARTLY_KEPT",
        absl::StrCat("the storage node acknowledged ", job_.blocks, " blocks, ", job_.bytes,
                     " bytes; tapectl recordings show ", job_.recording, " shows what it keeps"),
        {{"recording", job_.recording},
         {"blocks", absl::StrCat(job_.blocks)},
         {"bytes", absl::StrCat(job_.bytes)}}));
  }
}

void Job::Cancel() {
  {
    absl::MutexLock lock(&mutex_);
    if (job_.end_time_ns != 0) return;
    cancelled_ = true;
  }
  environment_.executor->Post([self = shared_from_this()] {
    self->session_->Stop();
    if (self->second_ != nullptr) self->second_->Stop();
  });
}

void Job::EndCalls() {
  environment_.executor->Post([self = shared_from_this()] {
    for (const JobNode& node : self->nodes_) node.storage->Cancel();
  });
}

absl::Status Job::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    if (job_.end_time_ns != 0) return absl::OkStatus();
    if (!stop_source_) {
      const bool plays = job_.direction == Direction::kPlayback;
      return services::JobNotLive(job_.name,
                                  plays ? "plays" : "records a source with an end of its own");
    }
    if (std::exchange(stopped_, true)) return absl::OkStatus();
    const std::string seconds = absl::StrFormat("%.1f", static_cast<double>(job_.elapsed_ns) / 1e9);
    job_.notes.push_back(
        services::MakeNote("STOPPED", absl::StrCat("stopped on request after ", seconds, " s"),
                           {{"seconds", seconds}}));
  }
  environment_.executor->Post([self = shared_from_this()] { self->stop_source_(); });
  return absl::OkStatus();
}

}  // namespace tapedeck::gpu_worker::job
