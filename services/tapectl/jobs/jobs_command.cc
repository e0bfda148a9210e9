#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/status_macros.h"
#include "services/site/names.h"
#include "services/site/units.h"
#include "services/tapectl/jobs/follow.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/program/fields.h"
#include "services/tapectl/program/lists.h"

namespace tapedeck::services::tapectl {
namespace {

const Row kJobHeads = {"NAME", "STATE", "DONE", "BLOCKS", "MB/S", "LOST", "RECORDING"};

std::string BlocksOf(const Job& job) {
  if (!model::BrokeOff(job)) return absl::StrCat(job.blocks);
  return job.blocks == 0 ? "-" : absl::StrCat(job.blocks, "+");
}

Row RowOf(const Job& job) {
  return {job.name,
          std::string(model::NameOf(job.state)),
          FormatShare(job.progress),
          BlocksOf(job),
          absl::StrFormat("%.1f", MegabytesPerSecond(job.bytes, job.elapsed_ns)),
          model::BrokeOff(job) ? "-" : absl::StrCat(job.lost_blocks),
          job.recording.empty() ? "-" : job.recording};
}

absl::Status ShowJob(Program& program, const NameOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, JobNameOf(options.name));
  const auto client = program.Jobs();
  TD_ASSIGN_OR_RETURN(const Job job, client->GetJob(name));
  // The job's own failure is what was asked for, not a failure of this command.
  program.Print(AnswerOf(job), {"FIELD", "VALUE"}, FieldsOf(job));
  return absl::OkStatus();
}

// An interrupt ends this program alone.
absl::Status AttachJob(Program& program, const NameOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, JobNameOf(options.name));
  InterruptWatch interrupt(absl::StrCat("\ntapectl: detached; ", name,
                                        " keeps running; tapectl jobs attach ", name,
                                        " follows it, ", WaysToEnd(name)));
  const auto client = program.Jobs();
  TD_ASSIGN_OR_RETURN(const Job job, client->GetJob(name));
  TD_ASSIGN_OR_RETURN(const std::vector<Job> ended,
                      Follow(program, interrupt, *client, {job}, Impatience::kLeave));
  return Conclude(program, ended);
}

// After `asked` the job ends by itself; this answers before.
void PrintAsked(const Program& program, const Job& job, absl::string_view asked) {
  program.Print(AnswerOf(job),
                model::HasEnded(job)
                    ? absl::StrCat(job.name, " has ended: ", model::NameOf(job.state))
                    : absl::StrCat(job.name, " is asked to ", asked, "; tapectl jobs attach ",
                                   job.name, " follows it to its end"));
}

absl::Status CancelJob(Program& program, const NameOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, JobNameOf(options.name));
  const auto client = program.Jobs();
  TD_ASSIGN_OR_RETURN(const Job job, client->CancelJob(name));
  PrintAsked(program, job, "cancel");
  return absl::OkStatus();
}

absl::Status StopJob(Program& program, const NameOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, JobNameOf(options.name));
  const auto client = program.Jobs();
  TD_ASSIGN_OR_RETURN(const Job job, client->StopJob(name));
  PrintAsked(program, job, "stop");
  return absl::OkStatus();
}

}  // namespace

absl::Status ListJobs(Program& program, const ListOptions&) {
  const auto client = program.Jobs();
  TD_ASSIGN_OR_RETURN(const std::vector<Job> jobs, client->ListJobs());
  std::vector<Row> rows;
  for (const Job& job : jobs) {
    rows.push_back(RowOf(job));
  }
  program.Print(AnswerOf(jobs), kJobHeads, rows, {"BLOCKS", "MB/S", "RECORDING", "LOST"});
  return absl::OkStatus();
}

void AddJobsCommands(Command tapectl, Program& program) {
  const Command jobs =
      tapectl.AddCommand("jobs", "List, follow, stop and cancel the worker's jobs");
  AddList(jobs.AddCommand("list", "List jobs, newest first"), program, "jobs list", ListJobs);

  const auto add = [&](const std::string& verb, const std::string& help, auto run) {
    auto options = std::make_shared<NameOptions>();
    const Command command = jobs.AddCommand(verb, help);
    command.AddOption("JOB", options->name, "JOB or jobs/JOB").Required();
    SetRun<NameOptions>(command, program, "jobs " + verb, options, run);
  };
  add("show", "Show all fields of a job", ShowJob);
  add("attach", "Follow a job to its end, as record and play do; Ctrl-C leaves it running",
      AttachJob);
  add("stop", "Stop a live recording: seal what has arrived; the job succeeds", StopJob);
  add("cancel", "Cancel a job; its recording keeps the blocks it has", CancelJob);
}

}  // namespace tapedeck::services::tapectl
