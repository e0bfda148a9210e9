#include "services/tapectl/jobs/group_jobs.h"

#include <atomic>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/deadline.h"
#include "dataplane/executor/thread.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/words/resource_name.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/calls/unary_call.h"
#include "services/site/names.h"
#include "services/tapectl/jobs/follow.h"

namespace tapedeck::services::tapectl {
namespace {

// A worker that takes longer to hear of a cancellation is not there.
constexpr absl::Duration kMemberCancelTimeout = absl::Seconds(5);

// One job of the group, at its worker.
struct GroupJob {
  Program at;
  model::GroupMember member;
  std::string target;
  dataplane::Direction direction = dataplane::Direction::kRecord;
  std::function<absl::StatusOr<Job>(client::JobsClient&)> start;

  bool stops = false;  // its source ends; one thread at a time

  absl::Mutex mutex;
  Job job ABSL_GUARDED_BY(mutex);  // as it was last seen
  bool over ABSL_GUARDED_BY(mutex) = false;
  bool unwanted ABSL_GUARDED_BY(mutex) = false;

  std::string Name() const {
    return absl::StrCat("member ", member.number, " of ", member.members, " of ", member.name, ", ",
                        ShortName(target), " at ", at.worker);
  }
  void Set(Job seen) {
    absl::MutexLock lock(&mutex);
    over = model::HasEnded(seen);
    if (!seen.error.ok()) seen.error = dataplane::Prefixed(absl::StrCat(Name(), ": "), seen.error);
    seen.group = member.id;
    job = std::move(seen);
  }
  // It is not known what becomes of it.
  void Lose(const absl::Status& why) {
    Job lost = Seen();
    lost.direction = direction;
    lost.state = JobState::kFailed;
    lost.error = why;
    lost.end_time_ns = absl::GetCurrentTimeNanos();
    Set(std::move(lost));
  }
  // True: nobody has answered yet whether there is a job, which is cancelled then.
  bool StopWanting() {
    absl::MutexLock lock(&mutex);
    unwanted = true;
    return !over && job.name.empty();
  }
  bool Unwanted() {
    absl::MutexLock lock(&mutex);
    return unwanted;
  }
  Job Seen() {
    absl::MutexLock lock(&mutex);
    return job;
  }
  bool Begins() {
    absl::MutexLock lock(&mutex);
    return !over && job.name.empty();
  }
  bool Goes() {
    absl::MutexLock lock(&mutex);
    return !over && !job.name.empty();
  }
};

using GroupJobs = std::vector<std::unique_ptr<GroupJob>>;

// Waits for all.
void ForEach(GroupJobs& jobs, const std::function<void(GroupJob&)>& run) {
  std::vector<std::thread> threads;
  for (const auto& job : jobs) {
    auto thread = dataplane::StartThread("td-member", [&run, one = job.get()] { run(*one); });
    if (thread.ok()) {
      threads.push_back(*std::move(thread));
    } else {
      job->Lose(thread.status());
    }
  }
  for (std::thread& thread : threads) thread.join();
}

client::JobsClient Impatient(const Program& at) {
  return client::JobsClient(client::MakeChannel(at.worker, at.trace, at.credentials),
                            kMemberCancelTimeout);
}

bool Cancel(GroupJob& job) {
  return job.Goes() && Impatient(job.at).CancelJob(job.Seen().name).ok();
}

// Whether it has a live source, which ends now.
bool Stop(GroupJob& job) {
  job.stops = job.Goes() && Impatient(job.at).StopJob(job.Seen().name).ok();
  return job.stops;
}

void Start(GroupJob& job) {
  if (job.Unwanted())
    return job.Lose(absl::CancelledError("cancelled before the worker was asked"));
  const auto client = job.at.Jobs();
  auto started = job.start(*client);
  if (!started.ok()) return job.Lose(started.status());
  job.Set(*std::move(started));
  if (job.Unwanted()) Cancel(job);
}

// All at once, as one of them may not answer. False: none of them takes it, and none will be asked.
bool CancelAll(GroupJobs& jobs) {
  std::cerr << "\ntapectl: cancelling all members; press Ctrl-C again to leave them running\n";
  std::atomic<bool> any = false;
  for (const auto& job : jobs) any = job->StopWanting() || any;
  ForEach(jobs, [&](GroupJob& job) {
    if (!job.Goes()) return;
    if (Cancel(job)) {
      any = true;
    } else {
      std::cerr << absl::StrCat("tapectl: ", job.Name(), " may still run\n");
    }
  });
  return any;
}

// True: at least one member stops; those with no live source are cancelled then. False: none does,
// or not all have begun.
bool StopAll(GroupJobs& jobs) {
  for (const auto& job : jobs) {
    if (job->Begins()) return false;
  }
  std::atomic<bool> any = false;
  ForEach(jobs, [&](GroupJob& job) { any = Stop(job) || any; });
  if (!any) return false;
  ForEach(jobs, [&](GroupJob& job) {
    if (!job.stops) Cancel(job);
  });
  std::cerr << "\ntapectl: stopping all members; press Ctrl-C again to cancel them\n";
  return true;
}

void FollowOne(GroupJob& job, dataplane::Deadline deadline) {
  if (!job.Goes()) return;
  auto last = WatchToEnd(job.at, *job.at.Jobs(), job.Seen().name, deadline,
                         [&](const Job& now) { job.Set(now); });
  if (last.ok()) return job.Set(*std::move(last));
  if (absl::IsDeadlineExceeded(last.status())) Cancel(job);
  job.Lose(last.status());
}

std::vector<Job> AllSeen(const GroupJobs& jobs) {
  std::vector<Job> seen;
  seen.reserve(jobs.size());
  for (const auto& job : jobs) seen.push_back(job->Seen());
  return seen;
}

// Jobs of different workers may have the same name.
void LeaveAll(const Program& program, const GroupJobs& jobs) {
  std::string text;
  for (const auto& job : jobs) {
    const std::string name = job->Seen().name;
    const std::string tapectl = absl::StrCat("tapectl --worker ", job->at.worker, " jobs ");
    absl::StrAppend(&text, text.empty() ? "" : "\n", "started ", name, ", ", job->Name(), "; ",
                    tapectl, "attach ", name, " follows it, ", tapectl, "cancel ", name,
                    " ends it");
  }
  program.Print(AnswerOf(AllSeen(jobs)), text);
}

absl::Status Run(Program& program, InterruptWatch& interrupt, const JobOptions& options,
                 GroupJobs jobs, Impatience impatience) {
  std::function<bool()> stop;
  if (impatience == Impatience::kStop) stop = [&] { return StopAll(jobs); };
  interrupt.OnInterrupt([&] { return CancelAll(jobs); }, stop);
  const absl::Cleanup done = [&] { interrupt.OnInterrupt(nullptr); };
  ForEach(jobs, Start);
  if (options.detach) {
    for (const auto& job : jobs) {
      if (!job->Goes()) return Conclude(program, AllSeen(jobs));
    }
    LeaveAll(program, jobs);
    return absl::OkStatus();
  }
  const auto deadline = dataplane::Deadline::In(program.job_timeout());
  ForEach(jobs, [&](GroupJob& job) { FollowOne(job, deadline); });
  return Conclude(program, AllSeen(jobs));
}

// Else the same sample is of another time in each.
absl::Status CheckOneRate(const std::vector<GroupRecording>& members) {
  for (const GroupRecording& one : members) {
    if (one.recording.sample_rate == members.front().recording.sample_rate) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("members 1 to ", members.front().member.members, " of ", one.member.name,
                     " have different sample rates, so sample K has a different time in each: give "
                     "no --from-sample, --to-sample or --loop"));
  }
  return absl::OkStatus();
}

int64_t StartOf(const GroupOptions& group, int64_t at_ns) {
  return at_ns != 0 ? at_ns : absl::GetCurrentTimeNanos() + group.start_in_ns;
}

}  // namespace

absl::Status RecordGroup(Program& program, InterruptWatch& interrupt, const GroupOptions& group,
                         const JobOptions& options, RecordSpec spec) {
  TD_RETURN_IF_ERROR(model::CheckId(group.name));
  if (group.members.empty() || group.members.size() > model::kMaxGroupMembers) {
    return absl::InvalidArgumentError(absl::StrCat("--group takes 1 to ", model::kMaxGroupMembers,
                                                   " members: --member ", kMemberForm));
  }
  const std::string id = client::NewRequestId();
  spec.at_ns = StartOf(group, spec.at_ns);
  GroupJobs jobs;
  std::set<std::string> targets;
  for (const std::string& text : group.members) {
    TD_ASSIGN_OR_RETURN(const MemberSpec asked, ParseMember(text));
    RecordSpec one = spec;
    if (asked.source.has_value()) one.source = *asked.source;
    if (one.source.name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(text, " has no source; give --source"));
    }
    auto& job = *jobs.emplace_back(std::make_unique<GroupJob>());
    job.at = program;
    job.at.worker = asked.worker;
    job.member = {.id = id,
                  .name = group.name,
                  .number = static_cast<uint32_t>(jobs.size()),
                  .members = static_cast<uint32_t>(group.members.size())};
    job.target = absl::StrCat(asked.storage, "/", asked.channel);
    if (!targets.insert(job.target).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two members record into ", job.target, ": give each its own channel"));
    }
    one.source = ForMember(std::move(one.source), job.member.number);
    one.transfer.storage = asked.storage;
    one.transfer.target = asked.channel;
    one.transfer.group = job.member;
    job.start = [one](client::JobsClient& client) { return client.StartRecord(one); };
  }
  return Run(program, interrupt, options, std::move(jobs), Impatience::kStop);
}

absl::Status PlayGroup(Program& program, InterruptWatch& interrupt, const GroupOptions& group,
                       const JobOptions& options, PlaybackSpec spec) {
  const bool by_sample = spec.playhead.unit == model::Playhead::Unit::kSample;
  if ((!by_sample && spec.playhead.start != 0) || spec.playhead.follow) {
    return absl::InvalidArgumentError(
        "a group plays once it is closed, and from a sample: give no --follow, --from-block or "
        "--from-time");
  }
  TD_ASSIGN_OR_RETURN(const std::vector<GroupRecording> members, FindGroup(program, group.name));
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> workers,
                      PlayersOf(members, group.members, program.worker));
  if (spec.playhead.start != 0 || spec.pacing.end_sample.has_value() ||
      spec.pacing.loop.has_value()) {
    TD_RETURN_IF_ERROR(CheckOneRate(members));
  }
  const StageSpec first = ForMember(spec.sink, 1);
  if (spec.sink.name == "file" && members.size() > 1 && first == spec.sink) {
    return absl::InvalidArgumentError(
        "each member needs its own file: put %m, the member's number, into the name");
  }
  spec.pacing.at_ns = StartOf(group, spec.pacing.at_ns);
  GroupJobs jobs;
  for (const GroupRecording& found : members) {
    PlaybackSpec one = spec;
    auto& job = *jobs.emplace_back(std::make_unique<GroupJob>());
    job.at = program;
    job.at.worker = workers[jobs.size() - 1];
    job.member = found.member;
    job.direction = dataplane::Direction::kPlayback;
    job.target = absl::StrCat(found.node.storage, "/", found.recording.name);
    one.sink = ForMember(spec.sink, found.member.number);
    one.transfer.storage = found.node.storage;
    one.transfer.target = found.recording.name;
    job.start = [one](client::JobsClient& client) { return client.StartPlayback(one); };
  }
  return Run(program, interrupt, options, std::move(jobs), Impatience::kCancel);
}

}  // namespace tapedeck::services::tapectl
