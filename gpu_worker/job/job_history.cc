#include "gpu_worker/job/job_history.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dataplane/clock.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/base/files/input_file.h"
#include "services/base/files/part_file.h"
#include "services/model/seams/inlets.h"

namespace tapedeck::gpu_worker::job {
namespace {

// Lines: this, the number, a job each (its message and its target, both in base64), and the end.
constexpr absl::string_view kHead = "tapedeck jobs 1";
constexpr absl::string_view kEnd = "end";
constexpr absl::string_view kPrefix = "jobs/";

void Warn(absl::string_view what, const std::string& path, const absl::Status& why) {
  dataplane::Log(dataplane::LogLevel::kWarning, "job", what,
                 {{"file", path}, {"cause", std::string(why.message())}});
}

absl::Status NoHistory(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("it is not a list of jobs: ", what));
}

std::string TextOf(const PastJobs& now, const services::JobCodec& codec) {
  std::string text = absl::StrCat(kHead, "\n", now.number, "\n");
  for (const services::Job& job : now.jobs) {
    absl::StrAppend(&text, absl::Base64Escape(codec.encode(job)), " ",
                    absl::Base64Escape(job.target), "\n");
  }
  return absl::StrCat(text, kEnd, "\n");
}

// Of what was written last before the worker died.
std::string KnownOf(const services::Job& job) {
  const std::string least = absl::StrCat("at least ", job.blocks, " blocks");
  if (job.direction == dataplane::Direction::kPlayback) {
    return absl::StrCat("how far it played is not known",
                        job.blocks > 0 ? absl::StrCat(": ", least) : "");
  }
  if (job.recording.empty()) {
    return absl::StrCat("its recording is not known: tapectl recordings list ", job.target);
  }
  const std::string has = job.blocks > 0 ? least : "an unknown number of blocks";
  if (services::IsInletName(job.recording)) return absl::StrCat("sent: ", has);
  return absl::StrCat("recorded: ", has, "; tapectl recordings show ", job.recording,
                      " shows what it has");
}

// Nobody knows when it ended, nor how far it was.
void BreakOff(services::Job& job) {
  job.state = services::JobState::kFailed;
  job.progress.reset();
  job.error = absl::AbortedError(absl::StrCat("the worker died while the job ran; ", KnownOf(job)));
}

absl::StatusOr<services::Job> JobOf(absl::string_view line, uint64_t most,
                                    const services::JobCodec& codec) {
  const std::pair<absl::string_view, absl::string_view> words = absl::StrSplit(line, ' ');
  std::string message, target;
  if (!absl::Base64Unescape(words.first, &message) ||
      !absl::Base64Unescape(words.second, &target)) {
    return NoHistory("a line is broken");
  }
  TD_ASSIGN_OR_RETURN(services::Job job, codec.decode(message));
  job.target = std::move(target);
  absl::string_view digits = job.name;
  uint64_t number = 0;
  if (!absl::ConsumePrefix(&digits, kPrefix) || !absl::SimpleAtoi(digits, &number) || number == 0 ||
      number > most) {
    return NoHistory("a job has no number that was given");
  }
  if (!services::model::HasEnded(job)) BreakOff(job);
  return job;
}

}  // namespace

std::unique_ptr<JobHistory> JobHistory::Open(const std::string& directory,
                                             services::JobCodec codec) {
  const std::string path = directory.empty() ? "" : absl::StrCat(directory, "/jobs");
  std::unique_ptr<JobHistory> history(new JobHistory(path, std::move(codec)));
  if (directory.empty()) {
    dataplane::Log(dataplane::LogLevel::kInfo, "job",
                   "job numbers begin with 1; with --state they continue after a restart");
    return history;
  }
  if (mkdir(directory.c_str(), 0750) != 0 && errno != EEXIST) {
    Warn("keeps no list of jobs", path,
         absl::InternalError(absl::StrCat("mkdir: ", std::strerror(errno))));
    return history;
  }
  auto thread = services::TaskThread::Create("td-jobs");
  if (!thread.ok()) {
    Warn("keeps no list of jobs", path, thread.status());
    return history;
  }
  history->thread_ = *std::move(thread);
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 && errno == ENOENT) return history;
  auto past = history->Read();
  if (past.ok()) {
    history->past_ = *std::move(past);
  } else {
    history->KeepAside(past.status());
  }
  return history;
}

absl::StatusOr<PastJobs> JobHistory::Read() const {
  TD_ASSIGN_OR_RETURN(const std::string text, services::files::ReadText(path_, kMaxFileBytes));
  std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  PastJobs past;
  if (lines.size() < 4 || lines.size() > kKept + 4 || lines[0] != kHead ||
      lines[lines.size() - 2] != kEnd || !lines.back().empty() ||
      !absl::SimpleAtoi(lines[1], &past.number)) {
    return NoHistory("its beginning or its end is missing");
  }
  std::set<std::string> names;
  for (size_t i = 2; i + 2 < lines.size(); ++i) {
    TD_ASSIGN_OR_RETURN(services::Job job, JobOf(lines[i], past.number, codec_));
    if (!names.insert(job.name).second) return NoHistory("two jobs have one number");
    past.jobs.push_back(std::move(job));
  }
  return past;
}

void JobHistory::KeepAside(const absl::Status& why) {
  const int64_t now_s = dataplane::SystemClock().WallNs() / dataplane::kSecondNs;
  const std::string aside = absl::StrCat(path_, ".unreadable-", now_s);
  if (rename(path_.c_str(), aside.c_str()) != 0) {
    thread_.reset();
    return Warn("cannot read the list of jobs; it stays as it is, and new jobs are not added",
                path_, why);
  }
  past_.number = static_cast<uint64_t>(now_s);
  Warn(absl::StrCat("cannot read the list of jobs, which is kept as ", aside,
                    "; job numbers continue from ", now_s),
       path_, why);
}

void JobHistory::Watch(std::function<PastJobs()> look) {
  look_ = std::move(look);
  if (thread_ != nullptr) Write(kAhead);
}

void JobHistory::Changed() {
  if (thread_ == nullptr) return;
  {
    absl::MutexLock lock(&mutex_);
    if (std::exchange(waits_, true)) return;
  }
  thread_->Run([this] { Write(kAhead); });
}

void JobHistory::Progressed() {
  const int64_t now_ns = clock_.NowNs();
  int64_t due_ns = progress_due_ns_.load(std::memory_order_relaxed);
  if (now_ns < due_ns) return;
  if (progress_due_ns_.compare_exchange_strong(due_ns, now_ns + kProgressNs)) Changed();
}

void JobHistory::Close() {
  if (thread_ == nullptr) return;
  thread_->Stop();
  Write(0);
  thread_.reset();
}

void JobHistory::Write(uint64_t ahead) {
  {
    absl::MutexLock lock(&mutex_);
    waits_ = false;
  }
  if (look_ == nullptr) return;
  PastJobs now = look_();
  now.number += ahead;
  if (now.jobs.size() > kKept) now.jobs.resize(kKept);
  const absl::Status written = WriteFile(now);
  if (!written.ok() && !std::exchange(failed_, true)) {
    Warn("cannot write the list of jobs", path_, written);
  }
  if (written.ok()) failed_ = false;
}

absl::Status JobHistory::WriteFile(const PastJobs& now) const {
  const std::string text = TextOf(now, codec_);
  TD_ASSIGN_OR_RETURN(const auto part, services::files::PartFile::Create(path_, /*replace=*/true));
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(part->fd(), text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return services::files::WriteFailed(part->path(), "write", errno);
    at += static_cast<size_t>(written);
  }
  return part->Publish();
}

}  // namespace tapedeck::gpu_worker::job
