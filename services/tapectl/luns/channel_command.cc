#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/status_macros.h"
#include "services/site/names.h"
#include "services/site/units.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/program/field_options.h"
#include "services/tapectl/program/fields.h"
#include "services/tapectl/program/lists.h"

namespace tapedeck::services::tapectl {
namespace {

struct ChannelOptions {
  std::string name;
  ChannelUpdate fields;
};

// What is no LUN's name goes as it is: what is wrong with it, the storage node says.
void ExpandMoveTo(Channel* channel) {
  if (channel->move_to.empty()) return;
  if (const auto lun = LunNameOf(channel->move_to); lun.ok()) channel->move_to = *lun;
}

absl::Status CreateChannel(Program& program, const ChannelOptions& options) {
  Channel channel = Updated(Channel(), options.fields);
  ExpandMoveTo(&channel);
  TD_ASSIGN_OR_RETURN(channel.name, ChannelNameOf(options.name));
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Channel created, catalog->CreateChannel(channel));
  program.Print(AnswerOf(created), absl::StrCat("created ", ShortName(created.name)));
  return absl::OkStatus();
}

absl::Status UpdateChannel(Program& program, const ChannelOptions& options) {
  ChannelUpdate update = options.fields;
  ExpandMoveTo(&update.to);
  TD_ASSIGN_OR_RETURN(update.name, ChannelNameOf(options.name));
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Channel updated, catalog->UpdateChannel(update));
  program.Print(AnswerOf(updated), absl::StrCat("changed ", ShortName(updated.name)));
  return absl::OkStatus();
}

absl::Status ShowChannel(Program& program, const NameOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, ChannelNameOf(options.name));
  TD_ASSIGN_OR_RETURN(const Channel channel, program.Catalog()->GetChannel(name));
  program.Print(AnswerOf(channel), {"FIELD", "VALUE"}, FieldsOf(channel));
  return absl::OkStatus();
}

absl::Status DeleteChannel(Program& program, const NameOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, ChannelNameOf(options.name));
  const auto catalog = program.Catalog();
  TD_RETURN_IF_ERROR(catalog->DeleteChannel(name));
  program.Print(AnswerOf("deleted", name), absl::StrCat("deleted ", ShortName(name)));
  return absl::OkStatus();
}

// "deep after 1h"
std::string MovesTo(const Channel& channel) {
  if (channel.move_to.empty()) return "-";
  return absl::StrCat(channel.move_to.substr(channel.move_to.rfind('/') + 1), " after ",
                      absl::FormatDuration(absl::Nanoseconds(channel.move_after_ns)));
}

}  // namespace

absl::Status ListChannels(Program& program, const ListOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string parent,
                      options.of.empty() ? "luns/-" : LunNameOf(options.of));
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const std::vector<Channel> channels, catalog->ListChannels(parent));
  std::vector<Row> rows;
  for (const Channel& channel : channels) {
    rows.push_back({channel.name, FormatBytes(channel.block_bytes), channel.datatype,
                    FormatSampleRate(channel.sample_rate),
                    channel.op.has_value() ? std::string(model::NameOf(*channel.op)) : "-",
                    std::string(model::NameOf(channel.commit)), MovesTo(channel)});
  }
  program.Print(AnswerOf(channels),
                {"NAME", "BLOCK", "DATATYPE", "RATE", "OP", "COMMIT", "MOVES TO"}, rows,
                {"OP", "MOVES TO", "COMMIT", "BLOCK"});
  return absl::OkStatus();
}

void AddChannelCommands(Command tapectl, Program& program) {
  const Command channel =
      tapectl.AddCommand("channel", "Create, change, list and delete the channels of LUNs");

  auto create_options = std::make_shared<ChannelOptions>();
  const Command create = channel.AddCommand("create", "Create a channel");
  create.AddOption("NAME", create_options->name, "LUN/CHANNEL").Required();
  AddFieldOptions(create, Purpose::kCreate, create_options->fields);
  SetRun<ChannelOptions>(create, program, "channel create", create_options, CreateChannel);

  auto update_options = std::make_shared<ChannelOptions>();
  const Command update = channel.AddCommand(
      "update", "Change a channel for its next recordings; existing ones stay as they are");
  update.AddOption("NAME", update_options->name, "LUN/CHANNEL").Required();
  AddFieldOptions(update, Purpose::kUpdate, update_options->fields);
  SetRun<ChannelOptions>(update, program, "channel update", update_options, UpdateChannel);

  auto list_options = std::make_shared<ListOptions>();
  const Command list = channel.AddCommand("list", "List channels");
  list.AddOption("LUN", list_options->of, "Only of this LUN");
  SetRun<ListOptions>(list, program, "channel list", list_options, ListChannels);

  auto show_options = std::make_shared<NameOptions>();
  const Command show = channel.AddCommand("show", "Show every setting of a channel");
  show.AddOption("NAME", show_options->name, "LUN/CHANNEL").Required();
  SetRun<NameOptions>(show, program, "channel show", show_options, ShowChannel);

  auto delete_options = std::make_shared<NameOptions>();
  const Command remove = channel.AddCommand("delete", "Delete an empty channel");
  remove.AddOption("NAME", delete_options->name, "LUN/CHANNEL").Required();
  SetRun<NameOptions>(remove, program, "channel delete", delete_options, DeleteChannel);
}

}  // namespace tapedeck::services::tapectl
