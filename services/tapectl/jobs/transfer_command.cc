#include <iostream>
#include <optional>
#include <vector>

#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/site/names.h"
#include "services/site/node_lists.h"
#include "services/site/positions.h"
#include "services/site/several_nodes.h"
#include "services/site/streams.h"
#include "services/site/units.h"
#include "services/tapectl/jobs/follow.h"
#include "services/tapectl/jobs/pacing_text.h"
#include "services/tapectl/jobs/pipe_ends.h"
#include "services/tapectl/jobs/stage_option.h"
#include "services/tapectl/jobs/transfer_options.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/program/field_options.h"

namespace tapedeck::services::tapectl {
namespace {

absl::StatusOr<TransferSpec> SpecOf(const Program& program, const TransferOptions& options,
                                    const std::string& target) {
  TransferSpec spec = options.transfer.to;
  spec.storage = program.storage;
  spec.target = target;
  spec.rails = options.rails;
  spec.device = options.device;
  TD_RETURN_IF_ERROR(AddTransforms(options, spec.transforms));
  spec.op = options.op;
  return spec;
}

absl::Status SetSource(const RecordOptions& options, StageSpec& source) {
  if (options.seed.has_value()) TD_RETURN_IF_ERROR(SetParameter(source, "seed", *options.seed));
  if (options.loop) TD_RETURN_IF_ERROR(SetParameter(source, "loop", true));
  return absl::OkStatus();
}

// A member may have a source of its own, which those options are not about.
absl::Status RecordMembers(Program& program, InterruptWatch& interrupt,
                           const RecordOptions& options, RecordSpec spec) {
  if (!options.name.empty() || !options.to.empty() || !options.also.empty()) {
    return absl::InvalidArgumentError(
        "--group records into the channels of --member: give no CHANNEL, --to or --also");
  }
  TD_ASSIGN_OR_RETURN(spec.transfer, SpecOf(program, options, ""));
  spec.transfer.standbys = options.standbys;
  if (!spec.source.name.empty()) TD_RETURN_IF_ERROR(SetSource(options, spec.source));
  return RecordGroup(program, interrupt, options.group, options, std::move(spec));
}

absl::Status CheckWhat(const RecordOptions& options) {
  if (options.name.empty() && options.to.empty()) {
    return absl::InvalidArgumentError("name a CHANNEL to record into, or --to HOST:PORT/INLET");
  }
  if (options.end.name.empty()) return absl::InvalidArgumentError("--source is required");
  return absl::OkStatus();
}

// What the nodes remark on the LUN of a channel, such as a capacity larger than its disks.
void TellOfLun(const Program& program, const std::string& channel) {
  const std::string lun = channel.substr(0, channel.find("/channels/"));
  for (const Program& node : EachNode(program)) {
    const auto luns = node.Catalog()->ListLuns();
    if (!luns.ok()) continue;  // it may not be this caller's to see
    for (const Lun& one : *luns) {
      if (one.name != lun || one.cause.empty()) continue;
      std::cerr << "note: " << ShortName(lun) << ": " << dataplane::Printable(one.cause) << "\n";
    }
  }
}

absl::Status Record(Program& program, const RecordOptions& options) {
  if (options.end.name == kPipeEnd) return RecordPipe(program, options);
  InterruptWatch interrupt(kWhileAsking);
  RecordSpec spec = options.record.to;
  spec.source = options.end;
  if (!options.group.name.empty()) return RecordMembers(program, interrupt, options, spec);
  TD_RETURN_IF_ERROR(CheckWhat(options));
  if (options.to.empty()) {
    TD_ASSIGN_OR_RETURN(const std::string placed, TakeNode(program, options.name, 2));
    TD_ASSIGN_OR_RETURN(const std::string channel, ChannelNameOf(placed));
    TD_ASSIGN_OR_RETURN(spec.transfer, SpecOf(program, options, channel));
  } else {
    TD_ASSIGN_OR_RETURN(const InletAddress inlet, InletAddressOf(options.to));
    TD_ASSIGN_OR_RETURN(spec.transfer, SpecOf(program, options, inlet.name));
    spec.transfer.storage = inlet.worker;
  }
  spec.transfer.standbys = options.standbys;
  TD_RETURN_IF_ERROR(SetSource(options, spec.source));
  if (!options.also.empty()) {
    OutputSpec& output = spec.outputs.emplace_back();
    TD_ASSIGN_OR_RETURN(output.channel, ChannelNameOf(options.also));
    TD_RETURN_IF_ERROR(AddStages(options.also_transforms, output.transforms));
  }
  const auto jobs = program.Jobs();
  TD_ASSIGN_OR_RETURN(const Job first, jobs->StartRecord(spec));
  if (options.to.empty()) TellOfLun(program, spec.transfer.target);
  TD_ASSIGN_OR_RETURN(const std::vector<Job> started, GroupOf(*jobs, first));
  return LeaveOrFollow(program, interrupt, *jobs, started, options, Impatience::kStop);
}

// The recording that is opened so that the playback begins at the playhead, at the nodes that have
// it. Where several have parts of it, it begins at the session's sample 0.
absl::StatusOr<std::string> BeginAt(Program& program, const PlayOptions& options,
                                    PlaybackSpec& spec) {
  TD_ASSIGN_OR_RETURN(const std::string name, PlaceRecording(program, options.name));
  if (NamesSeveral(program)) return name;
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Stream stream,
                      StreamNamed(model::Use::kPlay, {name, options.segment}, *catalog));
  TD_ASSIGN_OR_RETURN(const std::string note,
                      CountInSession(stream, *program.View(), spec.playhead, spec.pacing));
  if (!note.empty()) std::cerr << "note: " << dataplane::Printable(note) << "\n";
  return BeginOf(stream, spec.playhead);
}

// The loop is all that is played.
absl::Status LoopFrom(model::Playhead& playhead, model::Pacing& pacing) {
  if (playhead.unit != model::Playhead::Unit::kSample && playhead.start != 0) {
    return absl::InvalidArgumentError("--loop starts at --from-sample: give no other start");
  }
  pacing.loop = {static_cast<uint64_t>(playhead.start), *pacing.end_sample};
  pacing.end_sample.reset();
  playhead.unit = model::Playhead::Unit::kBlock;
  playhead.start = 0;
  return absl::OkStatus();
}

absl::Status Play(Program& program, const PlayOptions& options) {
  if (options.replace && options.end.name != "file") {
    return absl::InvalidArgumentError("--replace needs --sink file:PATH");
  }
  if (options.end.name == kPipeEnd) return PlayPipe(program, options);
  InterruptWatch interrupt(kWhileAsking);
  PlaybackSpec spec{.sink = options.end, .playhead = options.playhead, .pacing = options.pacing};
  if (options.loop) TD_RETURN_IF_ERROR(LoopFrom(spec.playhead, spec.pacing));
  if (!options.group.name.empty()) {
    if (!options.name.empty() || options.segment.has_value()) {
      return absl::InvalidArgumentError("give either --group or a RECORDING");
    }
    TD_ASSIGN_OR_RETURN(spec.transfer, SpecOf(program, options, ""));
    if (options.replace) TD_RETURN_IF_ERROR(SetParameter(spec.sink, "replace", true));
    return PlayGroup(program, interrupt, options.group, options, std::move(spec));
  }
  if (options.name.empty()) return absl::InvalidArgumentError("RECORDING is required");
  TD_ASSIGN_OR_RETURN(const std::string recording, BeginAt(program, options, spec));
  TD_ASSIGN_OR_RETURN(spec.transfer, SpecOf(program, options, recording));
  if (options.replace) TD_RETURN_IF_ERROR(SetParameter(spec.sink, "replace", true));
  const auto jobs = program.Jobs();
  TD_ASSIGN_OR_RETURN(const Job started, jobs->StartPlayback(spec));
  return LeaveOrFollow(program, interrupt, *jobs, {started}, options, Impatience::kCancel);
}

void AddShared(Command command, TransferOptions& options) {
  AddJobOptions(command, options);
  command
      .AddOption("--rails", options.rails,
                 "Rails of the worker, e.g. r0,r1; default those nearest to its memory")
      .SeparatedBy(',');
  command
      .AddParsed("--op", options.op, model::EnumNamed<dataplane::TransferOp>,
                 "READ, WRITE or SEND; default the channel's")
      .Suggest(WordsOf<dataplane::TransferOp>());
}

// One of three ways to say where to begin.
void AddPlayhead(Command command, model::Playhead& playhead) {
  using Unit = model::Playhead::Unit;
  const auto from = [&playhead](Unit unit, auto parse) {
    return [&playhead, unit, parse](absl::string_view text) -> absl::StatusOr<int64_t> {
      TD_ASSIGN_OR_RETURN(const auto start, parse(text));
      playhead.unit = unit;
      return static_cast<int64_t>(start);
    };
  };
  const Option block =
      command.AddParsed("--from-block", playhead.start, from(Unit::kBlock, ParseNumber),
                        "Start at this block, counted from 0");
  const Option sample = command.AddParsed(
      "--from-sample", playhead.start, from(Unit::kSample, ParseNumber),
      "Start at this sample, counted from 0 at the start of RECORDING; it may lie within a block");
  const Option time =
      command.AddParsed("--from-time", playhead.start, from(Unit::kTime, ParseTimeNs),
                        "Start at this capture time: 2026-01-31T12:00:00Z, or -30s for 30 s ago");
  block.Excludes(sample).Excludes(time);
  sample.Excludes(time);
  command.AddFlag("--stream", playhead.stream,
                  "Continue into the following segments, as the whole stream does; the start may "
                  "lie in any of them");
  command.AddFlag("--follow", playhead.follow,
                  "Play a recording that is still being written, until it is closed");
  command.AddParsed("--behind", playhead.behind_ns, ParseDurationNs,
                    "Delay each block to at least this long after its capture, e.g. 200ms");
}

void AddAlso(Command record, RecordOptions& options) {
  const Option also = record.AddOption("--also", options.also,
                                       "LUN/CHANNEL to record the same samples into as well");
  record
      .AddOption("--also-transform", options.also_transforms,
                 "Transform for --also alone, after those of --transform; repeat it for more, in "
                 "this order")
      .OneEach()
      .Check([](const std::string& text) { return ParseStage(text).status(); }, kStageForm)
      .Needs(also);
}

// Of a command that runs a job for each member.
Option AddGroup(Command command, GroupOptions& group, const std::string& help) {
  const Option option = command.AddOption("--group", group.name, help);
  command
      .AddParsed("--start-in", group.start_in_ns, ParseDurationNs,
                 "Start a group this long from now, if --at is not given; default 2s")
      .Needs(option);
  return option;
}

void AddMembers(Command command, GroupOptions& group, const std::string& help,
                const std::string& member_help) {
  const Option option = AddGroup(command, group, help);
  command.AddOption("--member", group.members, member_help).OneEach().Needs(option);
}

void AddPacing(Command command, PlayOptions& options) {
  model::Pacing& pacing = options.pacing;
  command.AddParsed("--rate", pacing.rate_factor, ParseRateFactor,
                    "Pace of the samples: recorded, a multiple of the recorded rate, e.g. 0.5, or "
                    "max (the default)");
  const Option end =
      command.AddParsed("--to-sample", pacing.end_sample, ParseCount,
                        "Stop before this sample, counted from 0; it may lie within a block");
  command
      .AddFlag("--loop", options.loop,
               "Repeat the samples from --from-sample to before --to-sample, without a seam")
      .Needs(end);
  command.AddParsed("--loop-count", pacing.loop_count, ParseCount,
                    "Number of turns of the loop; default until cancelled");
  command.AddParsed(
      "--at", pacing.at_ns, ParseTimeNs,
      "Deliver the first sample at this UTC time, within a day: 2026-01-31T12:00:00.5Z");
}

void AddRecord(Command tapectl, Program& program) {
  auto record_options = std::make_shared<RecordOptions>();
  const Command record = tapectl.AddCommand("record", "Record into a channel");
  const Option channel = record.AddOption(
      "CHANNEL", record_options->name, "LUN/CHANNEL; NODE/LUN/CHANNEL picks one of several nodes");
  record
      .AddOption("--to", record_options->to,
                 "HOST:PORT/INLET of another worker (tapectl receive), instead of a channel; "
                 "HOST:PORT,HOST:PORT/INLET deals blocks to several")
      .Excludes(channel);
  record.AddParsed("--source", record_options->end, ParseEnd,
                   "synth, file:PATH (raw or .sigmf-meta), ingest:udp=HOST:PORT (packets received "
                   "there), or another source of the worker. Example: synth:seed=5,noise=0. - is "
                   "standard input of tapectl");
  const Option blocks = record.AddParsed("--blocks", record_options->record.to.blocks, ParseCount,
                                         "Stop after this many blocks");
  record
      .AddParsed("--duration", record_options->record.to.duration_ns, ParseDurationNs,
                 "Stop after this time, e.g. 10s")
      .Excludes(blocks);
  AddFieldOptions(record, Purpose::kCreate, record_options->record);
  record.AddOption("--standby", record_options->standbys,
                   "HOST:PORT of a standby node (tapedeck-storage --standby-for) to continue on if "
                   "the first is lost; repeat it, at most 8");
  record.AddOption("--seed", record_options->seed, "Seed of the synth source; default 1");
  record.AddFlag("--loop", record_options->loop, "Repeat the file");
  AddShared(record, *record_options);
  AddMembers(record, record_options->group,
             "Record several channels on one clock, as a group of this name",
             "WORKER=STORAGE/LUN/CHANNEL of a member, then after a comma its source if not "
             "--source; repeat it for each");
  AddAlso(record, *record_options);
  record.AddOption("--device", record_options->device,
                   "Device of the worker, e.g. cuda:1, or all (one recording each); default the "
                   "one with the fewest jobs");
  SetRun<RecordOptions>(record, program, "record", record_options, Record);
}

void AddPlay(Command tapectl, Program& program) {
  auto play_options = std::make_shared<PlayOptions>();
  const Command play = tapectl.AddCommand("play", "Play a recording back");
  play.AddOption("RECORDING", play_options->name, kWhichRecordingOfNodes);
  play.AddOption("--segment", play_options->segment,
                 "Only this segment of a stream, counted from 0");
  play.AddParsed("--sink", play_options->end, ParseEnd,
                 "verify, null, file:PATH, or another sink of the worker. - is standard output of "
                 "tapectl")
      .Required();
  play.AddFlag("--replace", play_options->replace,
               "Replace an existing file once the new one is complete");
  AddPlayhead(play, play_options->playhead);
  AddMembers(play, play_options->group,
             "Play all members of this group (name or ID), aligned to the sample; %m in --sink is "
             "the member's number",
             "WORKER=NUMBER: worker that plays this member; more numbers follow after commas; "
             "default --worker plays all");
  AddPacing(play, *play_options);
  AddShared(play, *play_options);
  play.AddOption("--device", play_options->device,
                 "Device of the worker, e.g. cuda:1; default the one with the fewest jobs");
  SetRun<PlayOptions>(play, program, "play", play_options, Play);
}

}  // namespace

void AddTransferCommands(Command tapectl, Program& program) {
  AddRecord(tapectl, program);
  AddPlay(tapectl, program);
}

}  // namespace tapedeck::services::tapectl
