#include "services/tapectl/jobs/pipe_ends.h"

#include "services/tapectl/program/commands.h"

namespace tapedeck::services::tapectl {
namespace {

// Whether an option is given that only a job has.
bool NeedsWorker(const TransferOptions& options) {
  return options.fft_points != 0 || !options.transforms.empty() || !options.device.empty() ||
         options.transfer.to.slots != 0 || options.detach || !options.rails.empty() ||
         options.op.has_value();
}

}  // namespace

absl::Status RecordPipe(Program& program, const RecordOptions& options) {
  const RecordSpec none;
  const RecordSpec& given = options.record.to;
  const bool alone = options.to.empty() && options.also.empty() && options.group.name.empty() &&
                     options.standbys.empty() && !options.seed.has_value() && !options.loop &&
                     !given.limited() && given.at_ns == none.at_ns &&
                     given.resume_for_ns == none.resume_for_ns && given.copies == none.copies;
  if (NeedsWorker(options) || !alone) {
    return absl::InvalidArgumentError(
        "--source - takes no other option of record: no worker has part in it. tapectl recordings "
        "import CHANNEL - does the same, and takes --start and --frequency");
  }
  if (options.name.empty()) return absl::InvalidArgumentError("name a CHANNEL to record into");
  return ImportFromPipe(program, options.name);
}

absl::Status PlayPipe(Program& program, const PlayOptions& options) {
  using model::Playhead;
  const Playhead& from = options.playhead;
  const bool by_samples =
      from == Playhead{} || from == Playhead{.unit = Playhead::Unit::kSample, .start = from.start};
  const bool in_range = options.pacing == model::Pacing{.end_sample = options.pacing.end_sample};
  if (NeedsWorker(options) || options.replace || !options.group.name.empty() || options.loop ||
      !by_samples || !in_range) {
    return absl::InvalidArgumentError(
        "--sink - takes --segment, --from-sample and --to-sample alone: no worker has part in it");
  }
  return ExportToPipe(program, {.name = options.name, .segment = options.segment},
                      {.from = from.start, .to = options.pacing.end_sample.value_or(0)});
}

}  // namespace tapedeck::services::tapectl
