#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/status_macros.h"
#include "services/catalog_update.h"
#include "services/tapectl/commands.h"
#include "services/tapectl/names.h"
#include "services/tapectl/units.h"

namespace tapedeck::services::tapectl {
namespace {

struct CreateChannelOptions {
  std::string name;
  uint64_t block_bytes = 1 << 20;
  std::string datatype = "cf32_le";
  double sample_rate = 0;
  int op = 0;  // 0: no choice
  int commit = static_cast<int>(dataplane::CommitLevel::kDurable);
  int64_t pre_trigger_ns = 0;
  int64_t post_trigger_ns = 0;
  uint64_t segment_bytes = 0;
};

struct UpdateChannelOptions {
  std::string name;
  ChannelUpdate update;
};

absl::Status CreateChannel(Program& program, const CreateChannelOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, ChannelNameOf(options.name));
  Channel channel{.name = name,
                  .block_bytes = options.block_bytes,
                  .datatype = options.datatype,
                  .sample_rate = options.sample_rate,
                  .op_chosen = options.op != 0,
                  .commit = static_cast<dataplane::CommitLevel>(options.commit),
                  .pre_trigger_ns = options.pre_trigger_ns,
                  .post_trigger_ns = options.post_trigger_ns,
                  .segment_bytes = options.segment_bytes};
  if (channel.op_chosen) channel.op = static_cast<dataplane::TransferOp>(options.op);
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Channel created, catalog->CreateChannel(channel));
  program.Print(AnswerOf(created), absl::StrCat("created ", created.name));
  return absl::OkStatus();
}

absl::Status UpdateChannel(Program& program, const UpdateChannelOptions& options) {
  ChannelUpdate update = options.update;
  TD_ASSIGN_OR_RETURN(update.name, ChannelNameOf(options.name));
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Channel updated, catalog->UpdateChannel(update));
  program.Print(AnswerOf(updated), absl::StrCat("changed ", updated.name));
  return absl::OkStatus();
}

absl::Status ListChannels(Program& program, const NameOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string parent,
                      options.name.empty() ? "luns/-" : LunNameOf(options.name));
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const std::vector<Channel> channels, catalog->ListChannels(parent));
  std::vector<Row> rows;
  for (const Channel& channel : channels) {
    rows.push_back({channel.name, FormatBytes(channel.block_bytes), channel.datatype,
                    absl::StrFormat("%g", channel.sample_rate),
                    channel.op_chosen ? OpName(static_cast<int>(channel.op)) : "-",
                    CommitName(static_cast<int>(channel.commit))});
  }
  program.Print(AnswerOf(channels), {"NAME", "BLOCK", "DATATYPE", "RATE", "OP", "COMMIT"}, rows);
  return absl::OkStatus();
}

absl::Status DeleteChannel(Program& program, const NameOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, ChannelNameOf(options.name));
  const auto catalog = program.Catalog();
  TD_RETURN_IF_ERROR(catalog->DeleteChannel(name));
  program.Print(AnswerOf("deleted", name), absl::StrCat("deleted ", name));
  return absl::OkStatus();
}

absl::StatusOr<std::string> AnyText(const std::string& text) { return text; }

absl::StatusOr<OpChoice> ParseOpOrNone(const std::string& text) {
  if (text == "none") return OpChoice();
  TD_ASSIGN_OR_RETURN(const int op, ParseOp(text));
  return OpChoice(static_cast<dataplane::TransferOp>(op));
}

absl::StatusOr<dataplane::CommitLevel> ParseLevel(const std::string& text) {
  TD_ASSIGN_OR_RETURN(const int level, ParseCommit(text));
  return static_cast<dataplane::CommitLevel>(level);
}

void AddChannelUpdate(Command channel, Program& program) {
  auto options = std::make_shared<UpdateChannelOptions>();
  ChannelUpdate& change = options->update;
  const Command update = channel.AddCommand(
      "update", "Change what the next recordings of a channel are; those there are stay");
  update.AddOption("NAME", options->name, "LUN/CHANNEL").Required();
  update.AddParsed("--block-bytes", change.block_bytes, ParseBytes,
                   "Payload per block, 64KiB to 8MiB");
  update.AddParsed("--datatype", change.datatype, AnyText, "SigMF datatype, e.g. cf32_le");
  update.AddParsed("--sample-rate", change.sample_rate, ParseRate,
                   "Samples per second, e.g. 1e9; 0: unknown");
  update.AddParsed("--transfer-op", change.op, ParseOpOrNone,
                   "READ, WRITE or SEND; none: READ to record, WRITE to play");
  update.AddParsed("--commit", change.commit, ParseLevel, "received, written or durable");
  update.AddParsed("--pre-trigger", change.pre_trigger_ns, ParseDurationOrZeroNs,
                   "Keep this much until a trigger, e.g. 2s; 0: nothing");
  update.AddParsed("--post-trigger", change.post_trigger_ns, ParseDurationOrZeroNs,
                   "Keep this much after a trigger; 0: nothing");
  update.AddParsed("--segment", change.segment_bytes, ParseBytes,
                   "Go on in a new recording after so much payload, e.g. 10GiB; 0: never, in a "
                   "ring LUN after 1/64 of it");
  SetRun<UpdateChannelOptions>(update, program, "channel update", options, UpdateChannel);
}

}  // namespace

void AddChannelCommands(Command tapectl, Program& program) {
  const Command channel = tapectl.AddCommand("channel", "Configured streams of a LUN");

  auto create_options = std::make_shared<CreateChannelOptions>();
  const Command create = channel.AddCommand("create", "Make a channel");
  create.AddOption("NAME", create_options->name, "LUN/CHANNEL").Required();
  create.AddParsed("--block-bytes", create_options->block_bytes, ParseBytes,
                   "Payload per block, 64KiB to 8MiB; default 1MiB");
  create.AddOption("--datatype", create_options->datatype, "SigMF datatype; default cf32_le");
  create.AddParsed("--sample-rate", create_options->sample_rate, ParseRate,
                   "Samples per second, e.g. 1e9; default unknown");
  create.AddParsed("--transfer-op", create_options->op, ParseOp,
                   "READ, WRITE or SEND; default READ to record, WRITE to play");
  create.AddParsed("--commit", create_options->commit, ParseCommit,
                   "received, written or durable; default durable");
  create.AddParsed(
      "--pre-trigger", create_options->pre_trigger_ns, ParseDurationNs,
      "Keep this much until a trigger, e.g. 2s; with --commit received in memory, else in "
      "the segments of a ring LUN");
  create.AddParsed("--post-trigger", create_options->post_trigger_ns, ParseDurationNs,
                   "Keep this much after a trigger");
  create.AddParsed(
      "--segment", create_options->segment_bytes, ParseBytes,
      "Go on in a new recording after so much payload, e.g. 10GiB; default never, in a ring "
      "LUN 1/64 of it");
  SetRun<CreateChannelOptions>(create, program, "channel create", create_options, CreateChannel);

  AddChannelUpdate(channel, program);

  auto list_options = std::make_shared<NameOptions>();
  const Command list = channel.AddCommand("list", "Show the channels");
  list.AddOption("LUN", list_options->name, "Of this LUN only");
  SetRun<NameOptions>(list, program, "channel list", list_options, ListChannels);

  auto delete_options = std::make_shared<NameOptions>();
  const Command remove = channel.AddCommand("delete", "Delete an empty channel");
  remove.AddOption("NAME", delete_options->name, "LUN/CHANNEL").Required();
  SetRun<NameOptions>(remove, program, "channel delete", delete_options, DeleteChannel);
}

}  // namespace tapedeck::services::tapectl
