#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/site/names.h"
#include "services/site/units.h"
#include "services/tapectl/nodes/looks.h"
#include "services/tapectl/program/load.h"
#include "services/tapectl/terminal/screen.h"

namespace tapedeck::services::tapectl {
namespace {

std::string RateText(double mb_per_s) { return absl::StrFormat("%.1f", mb_per_s); }

std::string RailsText(const JobLoad& load) {
  std::string out;
  for (size_t i = 0; i < load.job.rails.size(); ++i) {
    const auto& rail = load.job.rails[i];
    absl::StrAppend(&out, out.empty() ? "" : " ", rail.name, "=",
                    rail.up ? RateText(load.rail_mb_per_s[i]) : "down");
  }
  return out.empty() ? "-" : out;
}

std::string FillText(const Lun& lun) {
  if (lun.capacity_bytes == 0) return "-";
  return absl::StrFormat("%.0f%%", 100.0 * static_cast<double>(lun.used_bytes) /
                                       static_cast<double>(lun.capacity_bytes));
}

std::string LeftText(const LunLoad& load) {
  if (!load.until_full.has_value()) return "-";
  return absl::FormatDuration(absl::Trunc(*load.until_full, absl::Seconds(1)));
}

std::string HeadOf(const Load& load) {
  return absl::StrCat(load.jobs.size(), load.jobs.size() == 1 ? " job, " : " jobs, ",
                      RateText(load.mb_per_s), " MB/s, lost ", load.lost_blocks);
}

// Off a terminal the time makes each look a line of its own.
std::string LineOf(const Load& load) {
  std::string line = absl::StrCat(FormatTime(absl::GetCurrentTimeNanos()), "  ", HeadOf(load));
  for (const LunLoad& lun : load.luns) {
    if (lun.mb_per_s > 0)
      absl::StrAppend(&line, "; ", ShortName(lun.lun.name), " ", FillText(lun.lun));
  }
  return line + "\n";
}

std::vector<Table> TablesOf(const Load& load) {
  Table jobs{.heads = {"JOB", "STATE", "WHAT", "DEVICE", "DONE", "MB/S", "BLOCKS", "LOST",
                       "RAILS MB/S", "RECORDING"},
             .optional = {"RAILS MB/S", "DEVICE", "BLOCKS", "WHAT", "RECORDING", "LOST", "STATE"}};
  for (const JobLoad& one : load.jobs) {
    const Job& job = one.job;
    jobs.rows.push_back({job.name, std::string(model::NameOf(job.state)),
                         std::string(model::NameOf(job.direction)), job.device,
                         FormatShare(job.progress), RateText(one.mb_per_s),
                         absl::StrCat(job.blocks), absl::StrCat(job.lost_blocks), RailsText(one),
                         job.recording.empty() ? "-" : job.recording});
  }
  Table luns{.heads = {"LUN", "STATE", "USED", "CAPACITY", "FILL", "MB/S", "FULL IN"},
             .optional = {"USED", "CAPACITY", "STATE"}};
  for (const LunLoad& one : load.luns) {
    const Lun& lun = one.lun;
    luns.rows.push_back({lun.name, std::string(model::NameOf(lun.state)),
                         FormatBytes(lun.used_bytes),
                         lun.capacity_bytes == 0 ? "-" : FormatBytes(lun.capacity_bytes),
                         FillText(lun), RateText(one.mb_per_s), LeftText(one)});
  }
  return {{.heads = {HeadOf(load)}}, std::move(jobs), std::move(luns)};
}

absl::Status Top(Program& program, const LookOptions& options) {
  LoadMeter meter;
  return LookAgain(program, options, [&]() -> absl::StatusOr<std::string> {
    TD_ASSIGN_OR_RETURN(const std::vector<Job> jobs, program.Jobs()->ListJobs());
    TD_ASSIGN_OR_RETURN(const std::vector<Lun> luns, program.Catalog()->ListLuns());
    Load load = meter.Look(jobs, luns, dataplane::SteadyTime());
    load.time_ns = absl::GetCurrentTimeNanos();
    if (program.json()) return AnswerOf(load).json + "\n";
    const Size size = SizeOfStdout();
    const size_t columns = program.wide ? 0 : static_cast<size_t>(size.columns);
    return size.rows > 0 ? TextOf(TablesOf(load), columns) : LineOf(load);
  });
}

}  // namespace

void AddTopCommand(Command tapectl, Program& program) {
  auto options = std::make_shared<LookOptions>();
  const Command top = tapectl.AddCommand("top",
                                         "Show running jobs, their rates and when LUNs are full; "
                                         "without a terminal, a line for each update");
  AddLookOptions(top, *options);
  SetRun<LookOptions>(top, program, "top", options, Top);
}

}  // namespace tapedeck::services::tapectl
