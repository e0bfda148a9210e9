#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "services/model/words/member_name.h"
#include "services/site/names.h"
#include "services/site/units.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/program/field_options.h"
#include "services/tapectl/program/fields.h"
#include "services/tapectl/program/lists.h"

namespace tapedeck::services::tapectl {
namespace {

struct LunOptions {
  std::string name;
  LunUpdate fields;
  std::vector<std::string> more_members;
};

struct AttachLunOptions {
  std::vector<std::string> members;
  std::string name;
  bool as_new = false;
};

struct DetachLunOptions {
  std::string name;
};

struct DeleteLunOptions {
  std::string name;
  bool force = false;
};

// Paths as the shell means them; the storage node takes absolute ones only.
std::vector<std::string> AsNamedHere(const std::vector<std::string>& members) {
  std::vector<std::string> names;
  for (const std::string& member : members) {
    names.push_back(
        HasScheme(member) ? member : std::filesystem::absolute(member).lexically_normal().string());
  }
  return names;
}

// Under what a command says of a LUN: what is wrong with it, or will be.
std::string NoteOf(const Lun& lun) {
  return lun.cause.empty() ? "" : absl::StrCat("\nnote: ", lun.cause);
}

absl::Status CreateLun(Program& program, const LunOptions& options) {
  Lun lun = Updated(Lun(), options.fields);
  TD_ASSIGN_OR_RETURN(lun.name, LunNameOf(options.name));
  lun.store = options.fields.to.store;
  lun.members = AsNamedHere(options.fields.to.members);
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Lun created, catalog->CreateLun(lun));
  program.Print(AnswerOf(created),
                absl::StrCat("created ", ShortName(created.name), NoteOf(created)));
  return absl::OkStatus();
}

// Those that the LUN has come first. What is wrong with the name, the update says.
absl::StatusOr<std::vector<std::string>> WithMembers(client::CatalogClient& catalog,
                                                     const std::string& lun,
                                                     const std::vector<std::string>& more) {
  TD_ASSIGN_OR_RETURN(const std::vector<Lun> luns, catalog.ListLuns());
  const auto at = std::ranges::find(luns, lun, &Lun::name);
  std::vector<std::string> members;
  if (at != luns.end()) members = at->members;
  for (std::string& member : AsNamedHere(more)) members.push_back(std::move(member));
  return members;
}

absl::Status UpdateLun(Program& program, const LunOptions& options) {
  LunUpdate update = options.fields;
  TD_ASSIGN_OR_RETURN(update.name, LunNameOf(options.name));
  const auto catalog = program.Catalog();
  if (!options.more_members.empty()) {
    TD_ASSIGN_OR_RETURN(auto members, WithMembers(*catalog, update.name, options.more_members));
    update.Set(&Lun::members, std::move(members));
  }
  TD_ASSIGN_OR_RETURN(const Lun updated, catalog->UpdateLun(update));
  program.Print(AnswerOf(updated),
                absl::StrCat("changed ", ShortName(updated.name), NoteOf(updated)));
  return absl::OkStatus();
}

absl::Status ShowLun(Program& program, const NameOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, LunNameOf(options.name));
  TD_ASSIGN_OR_RETURN(const Lun lun, program.Catalog()->GetLun(name));
  program.Print(AnswerOf(lun), {"FIELD", "VALUE"}, FieldsOf(lun));
  return absl::OkStatus();
}

absl::Status DeleteLun(Program& program, const DeleteLunOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, LunNameOf(options.name));
  const auto catalog = program.Catalog();
  TD_RETURN_IF_ERROR(catalog->DeleteLun(name, options.force));
  program.Print(AnswerOf("deleted", name), absl::StrCat("deleted ", ShortName(name)));
  return absl::OkStatus();
}

absl::Status AttachLun(Program& program, const AttachLunOptions& options) {
  LunAttachment asked{.members = AsNamedHere(options.members), .as_new = options.as_new};
  if (!options.name.empty()) {
    TD_ASSIGN_OR_RETURN(asked.name, LunNameOf(options.name));
  }
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Lun attached, catalog->AttachLun(asked, program.job_timeout()));
  const std::string state =
      attached.state == LunState::kReady
          ? NoteOf(attached)
          : absl::StrCat(", which is ", model::NameOf(attached.state), ": ", attached.cause);
  program.Print(AnswerOf(attached),
                attached.state == LunState::kOffline
                    ? absl::StrCat("attached ", ShortName(attached.name), state)
                    : absl::StrCat("attached ", ShortName(attached.name), " with ",
                                   attached.recordings, " recordings", state));
  return absl::OkStatus();
}

absl::Status DetachLun(Program& program, const DetachLunOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, LunNameOf(options.name));
  const auto catalog = program.Catalog();
  TD_RETURN_IF_ERROR(catalog->DetachLun(name));
  program.Print(AnswerOf("detached", name),
                absl::StrCat("detached ", ShortName(name), "; its members are as they were"));
  return absl::OkStatus();
}

void AddAttachAndDetach(Command lun, Program& program) {
  auto options = std::make_shared<AttachLunOptions>();
  const Command attach = lun.AddCommand(
      "attach", "Attach a LUN that another storage node made, or this node before it lost --state");
  attach
      .AddOption(
          "--member", options->members,
          "Directory or device of the LUN on the storage node; repeat it for all, in any order")
      .Required();
  const Option name = attach.AddOption("--name", options->name, "New name; default: its own");
  attach
      .AddFlag("--as-new", options->as_new,
               "The members are a copy: attach them as a separate LUN with a new UUID")
      .Needs(name);
  SetRun<AttachLunOptions>(attach, program, "lun attach", options, AttachLun);

  auto detach_options = std::make_shared<DetachLunOptions>();
  const Command detach = lun.AddCommand(
      "detach", "Detach a LUN: it keeps its recordings and can be attached elsewhere");
  detach.AddOption("NAME", detach_options->name, "LUN").Required();
  SetRun<DetachLunOptions>(detach, program, "lun detach", detach_options, DetachLun);
}

void AddCreateAndUpdate(Command lun, Program& program) {
  auto create_options = std::make_shared<LunOptions>();
  const Command create = lun.AddCommand("create", "Create a LUN");
  create.AddOption("NAME", create_options->name, "LUN").Required();
  create
      .AddOption("--store", create_options->fields.to.store,
                 "Kind of store, e.g. posix; tapectl nodes lists those of the storage node")
      .Required();
  create.AddOption(
      "--member", create_options->fields.to.members,
      "Empty directory or device on the storage node, as the store needs; repeat it for more");
  AddFieldOptions(create, Purpose::kCreate, create_options->fields);
  SetRun<LunOptions>(create, program, "lun create", create_options, CreateLun);

  auto update_options = std::make_shared<LunOptions>();
  const Command update = lun.AddCommand("update", "Change a LUN, even while sessions use it");
  update.AddOption("NAME", update_options->name, "LUN").Required();
  update.AddOption("--add-member", update_options->more_members,
                   "Empty directory or device on the storage node to stripe new recordings over as "
                   "well; repeat it for more. Members cannot be removed");
  AddFieldOptions(update, Purpose::kUpdate, update_options->fields);
  SetRun<LunOptions>(update, program, "lun update", update_options, UpdateLun);
}

}  // namespace

absl::Status ListLuns(Program& program, const ListOptions&) {
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const std::vector<Lun> luns, catalog->ListLuns());
  Table list{{"NAME", "STATE", "STORE", "USED", "CAPACITY", "RECORDINGS", "MEMBERS"},
             {},
             {"MEMBERS", "STORE", "RECORDINGS", "CAPACITY"}};
  Table notes{{"NAME", "NOTE"}, {}};
  for (const Lun& lun : luns) {
    if (!lun.cause.empty()) notes.rows.push_back({lun.name, lun.cause});
    list.rows.push_back({lun.name, std::string(model::NameOf(lun.state)), lun.store,
                         FormatBytes(lun.used_bytes),
                         lun.capacity_bytes == 0 ? "-" : FormatBytes(lun.capacity_bytes),
                         absl::StrCat(lun.recordings), absl::StrJoin(lun.members, ",")});
  }
  std::vector<Table> tables = {std::move(list)};
  if (!notes.rows.empty()) tables.push_back(std::move(notes));
  program.Print(AnswerOf(luns), tables);
  return absl::OkStatus();
}

void AddLunCommands(Command tapectl, Program& program) {
  const Command lun =
      tapectl.AddCommand("lun", "Create, change, attach, list and delete LUNs (volumes)");
  AddCreateAndUpdate(lun, program);
  AddAttachAndDetach(lun, program);
  AddList(lun.AddCommand("list", "List LUNs"), program, "lun list", ListLuns);

  auto show_options = std::make_shared<NameOptions>();
  const Command show = lun.AddCommand("show", "Show every setting and figure of a LUN");
  show.AddOption("NAME", show_options->name, "LUN").Required();
  SetRun<NameOptions>(show, program, "lun show", show_options, ShowLun);

  auto delete_options = std::make_shared<DeleteLunOptions>();
  const Command remove = lun.AddCommand("delete", "Delete a LUN and its channels");
  remove.AddOption("NAME", delete_options->name, "LUN").Required();
  remove.AddFlag(
      "--force", delete_options->force,
      "Delete its recordings too; an OFFLINE LUN is only forgotten, its members stay as they are");
  SetRun<DeleteLunOptions>(remove, program, "lun delete", delete_options, DeleteLun);
}

}  // namespace tapedeck::services::tapectl
