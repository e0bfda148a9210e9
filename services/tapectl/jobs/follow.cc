#include "services/tapectl/jobs/follow.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <optional>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "dataplane/deadline.h"
#include "dataplane/printable.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/limits.h"
#include "services/site/names.h"
#include "services/site/units.h"
#include "services/tapectl/jobs/pacing_text.h"
#include "services/tapectl/terminal/failure.h"
#include "services/tapectl/terminal/progress.h"

namespace tapedeck::services::tapectl {
namespace {

// A worker that takes longer to hear of a cancellation is not there.
constexpr absl::Duration kCancelTimeout = absl::Seconds(5);
// A second Ctrl-C waits for this call.
constexpr absl::Duration kStopTimeout = absl::Seconds(2);

ProgressNow ProgressOf(const Job& job) {
  return {.fraction = job.progress.value_or(-1),
          .blocks = job.blocks,
          .mb_per_s = MegabytesPerSecond(job.bytes, job.elapsed_ns),
          .elapsed_s = static_cast<double>(job.elapsed_ns) / 1e9,
          .phase = job.state == JobState::kPreparing ? "preparing memory" : ""};
}

std::string NamesOf(const std::vector<Job>& jobs) {
  return absl::StrJoin(jobs, ", ",
                       [](std::string* out, const Job& job) { absl::StrAppend(out, job.name); });
}

// True: at least one has a live source, which ends. The others are cancelled then.
bool StopAll(const Program& program, const std::vector<Job>& started) {
  client::JobsClient jobs(client::MakeChannel(program.worker, program.trace, program.credentials),
                          kStopTimeout);
  std::vector<Job> stopping;
  std::vector<Job> others;
  for (const Job& job : started) {
    (jobs.StopJob(job.name).ok() ? stopping : others).push_back(job);
  }
  if (stopping.empty()) return false;
  // A job that goes on all the same is cancelled by the next Ctrl-C.
  for (const Job& other : others) jobs.CancelJob(other.name).IgnoreError();
  std::cerr << "\ntapectl: stopping " << NamesOf(stopping) << "; press Ctrl-C again to cancel\n";
  return true;
}

// False if the worker took none of it.
bool CancelAll(const Program& program, const std::vector<Job>& started) {
  std::cerr << "\ntapectl: cancelling " << NamesOf(started)
            << (started.size() == 1 ? "; press Ctrl-C again to leave it running\n"
                                    : "; press Ctrl-C again to leave them running\n");
  client::JobsClient jobs(client::MakeChannel(program.worker, program.trace, program.credentials),
                          kCancelTimeout);
  bool any = false;
  for (const Job& job : started) {
    const absl::Status asked = jobs.CancelJob(job.name).status();
    any = any || asked.ok();
    if (!asked.ok())
      std::cerr << "tapectl: " << job.name
                << " may still run: " << dataplane::Printable(asked.message()) << "\n";
  }
  return any;
}

// A job that is to be cancelled still ends in order.
absl::Status NotInTime(const std::vector<Job>& jobs, bool cancelled) {
  const bool one = jobs.size() == 1;
  const std::string names = NamesOf(jobs);
  const std::string follow = one ? absl::StrCat("tapectl jobs attach ", names, " follows it")
                                 : "tapectl jobs list shows them";
  return absl::DeadlineExceededError(
      absl::StrCat(names, " did not end within --timeout and ",
                   cancelled ? (one ? "is being cancelled" : "are being cancelled")
                             : (one ? "keeps running" : "go on"),
                   "; ", follow));
}

std::string LostOf(const Job& job) {
  return model::BrokeOff(job) ? "an unknown number of" : absl::StrCat(job.lost_blocks);
}

std::string SummaryOf(const Job& job) {
  std::string out = absl::StrFormat("%s  %s\n%d blocks, %s in %.2f s, %.1f MB/s; lost %s blocks",
                                    job.recording.empty() ? "-" : ShortName(job.recording),
                                    model::NameOf(job.state), job.blocks, FormatBytes(job.bytes),
                                    static_cast<double>(job.elapsed_ns) / 1e9,
                                    MegabytesPerSecond(job.bytes, job.elapsed_ns), LostOf(job));
  for (const auto& counter : dataplane::kCounters) {
    absl::StrAppend(&out, ", ", counter.words, " ", job.counters.*counter.member);
  }
  out += '\n';
  for (const auto& rail : job.rails) {
    absl::StrAppend(&out,
                    absl::StrFormat("  %-8s %8d blocks %10.1f MB/s%s\n", rail.name, rail.blocks,
                                    MegabytesPerSecond(rail.bytes, job.elapsed_ns),
                                    rail.cause.empty() ? "" : "  " + rail.cause));
  }
  for (const JobOutput& output : job.outputs) {
    absl::StrAppend(&out, "and ",
                    ShortName(output.recording.empty() ? output.channel : output.recording),
                    absl::StrFormat("\n%d blocks, %s; lost %d blocks%s\n", output.blocks,
                                    FormatBytes(output.bytes), output.lost_blocks,
                                    output.error.ok() ? "" : "; failed"));
  }
  for (const std::string& name : job.captures)
    absl::StrAppend(&out, "captured ", ShortName(name), "\n");
  if (job.timing.has_value()) absl::StrAppend(&out, TimingText(*job.timing));
  for (const Note& note : job.notes)
    absl::StrAppend(&out, "note: ", WithShortNames(note.text), "\n");
  return std::string(absl::StripSuffix(out, "\n"));
}

absl::Status FailureOf(const Job& job) {
  if (job.state == JobState::kSucceeded) return absl::OkStatus();
  if (job.state == JobState::kNotCompared) return absl::OkStatus();  // it has a status of its own
  if (!job.error.ok()) return job.error;
  return absl::InternalError(absl::StrCat(job.name, " ended as ", model::NameOf(job.state)));
}

constexpr absl::Duration kBetweenTries = absl::Milliseconds(200);
// A worker may have been silent for so long when its connection breaks.
constexpr absl::Duration kSilence = absl::Milliseconds(kKeepaliveTimeMs + kKeepaliveTimeoutMs);

// The worker has ended: no patience brings its jobs back.
bool IsRefused(const absl::Status& status) {
  return absl::StrContains(status.message(), "Connection refused");
}

absl::Status OutOfSight(const Program& program, const std::string& name,
                        const absl::Status& status) {
  return dataplane::Prefixed(
      absl::StrCat(name, " may still run without tapectl; follow it with: tapectl --worker ",
                   program.worker, " jobs attach ", name, "; cause: "),
      status);
}

}  // namespace

std::string WaysToEnd(const std::string& job) {
  return absl::StrCat("tapectl jobs stop ", job, " seals a live recording, tapectl jobs cancel ",
                      job, " ends any job at once");
}

void Leave(const Program& program, const std::vector<Job>& started) {
  std::string text;
  for (const Job& job : started) {
    const bool records = job.direction == dataplane::Direction::kRecord;
    absl::StrAppend(
        &text, text.empty() ? "" : "\n", "started ", job.name, "; tapectl jobs attach ", job.name,
        " follows it, ",
        records ? WaysToEnd(job.name) : absl::StrCat("tapectl jobs cancel ", job.name, " ends it"));
  }
  program.Print(started.size() == 1 ? AnswerOf(started.front()) : AnswerOf(started), text);
}

absl::StatusOr<std::vector<Job>> GroupOf(client::JobsClient& jobs, const Job& first) {
  if (first.group.empty()) return std::vector<Job>{first};
  TD_ASSIGN_OR_RETURN(std::vector<Job> group, jobs.ListJobs());
  std::erase_if(group, [&](const Job& job) { return job.group != first.group; });
  std::ranges::reverse(group);  // they came newest first
  return group;
}

absl::StatusOr<std::vector<Job>> Follow(const Program& program, InterruptWatch& interrupt,
                                        client::JobsClient& jobs, const std::vector<Job>& started,
                                        Impatience impatience) {
  const bool cancels = impatience != Impatience::kLeave;
  std::function<bool()> stop;
  if (impatience == Impatience::kStop) stop = [&] { return StopAll(program, started); };
  if (cancels) interrupt.OnInterrupt([&] { return CancelAll(program, started); }, stop);
  const absl::Cleanup done = [&] { interrupt.OnInterrupt(nullptr); };
  const auto deadline = dataplane::Deadline::In(program.job_timeout());
  std::vector<Job> ended;
  for (const Job& job : started) {
    ProgressBar bar(started.size() == 1 ? program.what : absl::StrCat(program.what, " ", job.name));
    const auto last = WatchToEnd(program, jobs, job.name, deadline,
                                 [&](const Job& now) { bar.Show(ProgressOf(now)); });
    if (absl::IsDeadlineExceeded(last.status())) {
      if (cancels) {
        // A job that has ended needs none; how one is that was not reached, tapectl jobs list says.
        for (const Job& other : started) jobs.CancelJob(other.name).IgnoreError();
      }
      return NotInTime(started, cancels);
    }
    TD_RETURN_IF_ERROR(last.status());
    ended.push_back(*last);
  }
  return ended;
}

absl::Status Conclude(Program& program, const std::vector<Job>& jobs) {
  absl::Status worst;
  for (const Job& job : jobs) {
    const absl::Status failure = FailureOf(job);
    if (job.state == JobState::kNotCompared) program.exit_status = kNotComparedStatus;
    if (worst.ok() || (absl::IsCancelled(worst) && !absl::IsCancelled(failure) && !failure.ok())) {
      worst = failure;
    }
  }
  if (jobs.front().group.empty()) {
    program.Print(AnswerOf(jobs.front()), SummaryOf(jobs.front()));
  } else {
    program.Print(AnswerOf(jobs), absl::StrJoin(jobs, "\n", [](std::string* out, const Job& job) {
                    absl::StrAppend(out, job.name, "  ", job.device, "\n", SummaryOf(job));
                  }));
  }
  program.failure_printed = true;
  return worst;
}

absl::StatusOr<Job> WatchToEnd(const Program& program, client::JobsClient& jobs,
                               const std::string& name, dataplane::Deadline deadline,
                               const std::function<void(const Job&)>& report) {
  std::optional<dataplane::Deadline> patience;
  while (true) {
    const auto last = jobs.WatchJob(name, deadline.left(), [&](const Job& now) {
      patience.reset();
      report(now);
    });
    if (!absl::IsUnavailable(last.status())) return last;
    if (!patience.has_value()) {
      patience = dataplane::Deadline::In(program.call_timeout() - kSilence);
    }
    if (IsRefused(last.status()) || patience->passed()) {
      return OutOfSight(program, name, last.status());
    }
    absl::SleepFor(kBetweenTries);
  }
}

}  // namespace tapedeck::services::tapectl
