#include "tests/services/fake_worker.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::services {

using dataplane::topology::Distance;

namespace {

constexpr int64_t kMillisecond = 1'000'000;

void End(Job& job, JobState state, absl::Status error) {
  job.state = state;
  job.error = std::move(error);
  job.end_time_ns = job.start_time_ns + job.elapsed_ns;
}

void Advance(Job& job) {
  if (model::HasEnded(job)) return;
  job.state = JobState::kRunning;
  job.blocks += 1;
  job.bytes += 1 << 20;
  job.elapsed_ns += kMillisecond;
  job.rails[0].blocks = (job.blocks + 1) / 2;
  job.rails[1].blocks = job.blocks / 2;
  if (job.total_blocks.has_value()) {
    job.progress = static_cast<double>(job.blocks) / static_cast<double>(*job.total_blocks);
  }
  for (auto& rail : job.rails) rail.bytes = rail.blocks << 20;
  if (absl::StrContains(job.recording, "broken")) {
    End(job, JobState::kFailed,
        WithReason(absl::UnavailableError("the control stream broke"), "PEER_LOST",
                   {{"node", "s0"}}));
  } else if (job.blocks == job.total_blocks) {
    End(job, JobState::kSucceeded, absl::OkStatus());
  }
}

}  // namespace

absl::StatusOr<Job> FakeJobs::Start(const TransferSpec& spec, dataplane::Direction direction,
                                    const std::string& recording, uint64_t blocks,
                                    const std::string& group,
                                    const std::vector<OutputSpec>& outputs) {
  absl::MutexLock lock(&mutex_);
  last_transfer_ = spec;
  const int64_t number = static_cast<int64_t>(jobs_.size()) + 1;
  Job job{.name = absl::StrCat("jobs/j", number),
          .direction = direction,
          .recording = recording,
          .device = spec.device.empty() ? "host" : spec.device,
          .group = group,
          .total_blocks = blocks == 0 ? std::nullopt : std::optional(blocks),
          .start_time_ns = 1'700'000'000'000'000'000 + number,
          .target = spec.target,
          .rails = {{.name = "r0", .up = true}, {.name = "r1", .up = true}}};
  for (const OutputSpec& output : outputs) {
    job.outputs.push_back({.channel = output.channel,
                           .recording = absl::StrCat(output.channel, "/recordings/rec2"),
                           .blocks = 1,
                           .bytes = 1 << 20});
  }
  return jobs_[job.name] = job;
}

absl::StatusOr<Job> FakeJobs::StartRecord(const RecordSpec& spec) {
  {
    absl::MutexLock lock(&mutex_);
    last_record_ = spec;
  }
  if (absl::StrContains(spec.transfer.target, "mute")) {
    absl::MutexLock lock(&mutex_);
    ++waiting_;
    mutex_.Await(absl::Condition(&let_go_));
    --waiting_;
  }
  if (absl::StrContains(spec.transfer.target, "absent")) {
    return WithReason(absl::NotFoundError("no channel absent"), "CHANNEL_NOT_FOUND",
                      {{"channel", spec.transfer.target}});
  }
  const bool endless = absl::StrContains(spec.transfer.target, "endless");
  const uint64_t blocks = endless ? 0 : spec.blocks;
  const std::string recordings = absl::StrCat(spec.transfer.target, "/recordings/");
  const bool all = spec.transfer.device == kAllDevices;
  TD_ASSIGN_OR_RETURN(const Job first,
                      Start(spec.transfer, dataplane::Direction::kRecord, recordings + "rec1",
                            blocks, all ? "g" : "", spec.outputs));
  if (!all) return first;
  const bool half = absl::StrContains(spec.transfer.target, "half");
  TD_RETURN_IF_ERROR(Start(spec.transfer, dataplane::Direction::kRecord,
                           recordings + (half ? "broken" : "rec2"), blocks, "g")
                         .status());
  return first;
}

absl::StatusOr<Job> FakeJobs::StartPlayback(const PlaybackSpec& spec) {
  {
    absl::MutexLock lock(&mutex_);
    last_playback_ = spec;
  }
  return Start(spec.transfer, dataplane::Direction::kPlayback, spec.transfer.target, 4);
}

absl::StatusOr<Job> FakeJobs::GetJob(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  const auto found = jobs_.find(name);
  if (found == jobs_.end()) {
    return WithReason(absl::NotFoundError(absl::StrCat("no job ", name)), "JOB_NOT_FOUND",
                      {{"job", name}});
  }
  Advance(found->second);
  return found->second;
}

void FakeJobs::Add(const Job& job) {
  absl::MutexLock lock(&mutex_);
  jobs_[job.name] = job;
}

std::vector<Job> FakeJobs::ListJobs() {
  absl::MutexLock lock(&mutex_);
  std::vector<Job> out;
  for (const auto& [name, job] : jobs_) out.push_back(job);
  return out;
}

absl::StatusOr<Job> FakeJobs::EndJob(const std::string& name, JobEnd how) {
  absl::MutexLock lock(&mutex_);
  Job& job = jobs_.at(name);
  const bool plays = job.direction == dataplane::Direction::kPlayback;
  if (how == JobEnd::kStop && (plays || last_record_.source.name == "file")) {
    return JobNotLive(name, "has an end");
  }
  if (job.end_time_ns != 0 || slow_) return job;
  if (how == JobEnd::kStop) {
    End(job, JobState::kSucceeded, absl::OkStatus());
  } else {
    End(job, JobState::kCancelled,
        WithReason(absl::CancelledError("the job was cancelled"), "JOB_CANCELLED",
                   {{"job", name}}));
  }
  return job;
}

TransferSpec FakeJobs::last_transfer() const {
  absl::MutexLock lock(&mutex_);
  return last_transfer_;
}

RecordSpec FakeJobs::last_record() const {
  absl::MutexLock lock(&mutex_);
  return last_record_;
}

void FakeJobs::EndSlowly() {
  absl::MutexLock lock(&mutex_);
  slow_ = true;
}

void FakeJobs::LetGo() {
  absl::MutexLock lock(&mutex_);
  let_go_ = true;
}

int FakeJobs::waiting() const {
  absl::MutexLock lock(&mutex_);
  return waiting_;
}

PlaybackSpec FakeJobs::last_playback() const {
  absl::MutexLock lock(&mutex_);
  return last_playback_;
}

NodeInfo FakeNode::Describe() const {
  return {
      .name = "fake",
      .role = role_,
      .version = "0.1.0",
      .pid = 7,
      .rails = {{.rail = {.name = "r0",
                          .transport = "tcp",
                          .address = "10.0.0.1",
                          .port = 9,
                          .device = "eth0"},
                 .place = {"0000:19:00.0", 0}},
                {.rail = {.name = "r1", .transport = "tcp", .address = "127.0.0.1", .port = 9}}},
      .memory = {{.device = "cuda:0",
                  .description = "GPU",
                  .bytes = 1,
                  .status = "usable",
                  .place = {"0000:18:00.0", 0},
                  .distances = {{"r0", Distance::kSwitch}, {"r1", Distance::kUnknown}},
                  .rungs = {"r0 record: dma-buf: moved"}},
                 {.device = "host",
                  .description = "RAM",
                  .bytes = 1,
                  .status = "usable",
                  .distances = {{"r0", Distance::kUnknown}, {"r1", Distance::kUnknown}}}},
      .sessions = 2,
      .stages = {"source synth", "sink null"},
      .stores = {{.name = "posix", .description = "files"}}};
}

NodeStats FakeNode::Stats() const { return {.sessions = 2, .sessions_opened = 5, .blocks = 11}; }

}  // namespace tapedeck::services
