#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "services/catalog_update.h"
#include "services/tapectl/commands.h"
#include "services/tapectl/names.h"
#include "services/tapectl/units.h"

namespace tapedeck::services::tapectl {
namespace {

struct CreateLunOptions {
  std::string name;
  StoreKind store = StoreKind::kPosix;
  std::vector<std::string> members;
  uint64_t capacity_bytes = 0;
  FullPolicy full_policy = FullPolicy::kStop;
  int64_t max_age_ns = 0;
  uint32_t max_fill_percent = 0;
  uint32_t prewrite_files = 0;
  uint64_t prewrite_bytes = 0;
};

struct UpdateLunOptions {
  std::string name;
  std::optional<uint64_t> max_fill_percent;
  LunUpdate update;
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

// As the shell means them; the storage node takes absolute paths only.
std::vector<std::string> AbsolutePaths(const std::vector<std::string>& members) {
  std::vector<std::string> paths;
  for (const std::string& member : members) {
    paths.push_back(std::filesystem::absolute(member).lexically_normal());
  }
  return paths;
}

absl::Status CreateLun(Program& program, const CreateLunOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, LunNameOf(options.name));
  const Lun lun{.name = name,
                .store = options.store,
                .members = AbsolutePaths(options.members),
                .capacity_bytes = options.capacity_bytes,
                .full_policy = options.full_policy,
                .max_age_ns = options.max_age_ns,
                .max_fill_percent = options.max_fill_percent,
                .prewrite_files = options.prewrite_files,
                .prewrite_bytes = options.prewrite_bytes};
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Lun created, catalog->CreateLun(lun));
  program.Print(AnswerOf(created), absl::StrCat("created ", created.name));
  return absl::OkStatus();
}

absl::Status UpdateLun(Program& program, const UpdateLunOptions& options) {
  LunUpdate update = options.update;
  TD_ASSIGN_OR_RETURN(update.name, LunNameOf(options.name));
  if (options.max_fill_percent.has_value()) {
    update.max_fill_percent = static_cast<uint32_t>(*options.max_fill_percent);
  }
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Lun updated, catalog->UpdateLun(update));
  program.Print(AnswerOf(updated), absl::StrCat("changed ", updated.name));
  return absl::OkStatus();
}

absl::Status ListLuns(Program& program) {
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const std::vector<Lun> luns, catalog->ListLuns());
  std::vector<Row> rows;
  for (const Lun& lun : luns) {
    rows.push_back({lun.name, StateName(lun.state), std::string(StoreName(lun.store)),
                    FormatBytes(lun.used_bytes),
                    lun.capacity_bytes == 0 ? "-" : FormatBytes(lun.capacity_bytes),
                    absl::StrCat(lun.recordings), absl::StrJoin(lun.members, ",")});
  }
  program.Print(AnswerOf(luns),
                {"NAME", "STATE", "STORE", "USED", "CAPACITY", "RECORDINGS", "MEMBERS"}, rows);
  return absl::OkStatus();
}

absl::Status DeleteLun(Program& program, const DeleteLunOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, LunNameOf(options.name));
  const auto catalog = program.Catalog();
  TD_RETURN_IF_ERROR(catalog->DeleteLun(name, options.force));
  program.Print(AnswerOf("deleted", name), absl::StrCat("deleted ", name));
  return absl::OkStatus();
}

absl::Status AttachLun(Program& program, const AttachLunOptions& options) {
  LunAttachment asked{.members = AbsolutePaths(options.members), .as_new = options.as_new};
  if (!options.name.empty()) {
    TD_ASSIGN_OR_RETURN(asked.name, LunNameOf(options.name));
  }
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Lun attached, catalog->AttachLun(asked, program.job_timeout()));
  const bool ready = attached.state == LunState::kReady;
  program.Print(
      AnswerOf(attached),
      ready ? absl::StrCat("attached ", attached.name, " with ", attached.recordings, " recordings")
            : absl::StrCat("attached ", attached.name, ", which is OFFLINE: ", attached.cause));
  return absl::OkStatus();
}

absl::Status DetachLun(Program& program, const DetachLunOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string name, LunNameOf(options.name));
  const auto catalog = program.Catalog();
  TD_RETURN_IF_ERROR(catalog->DetachLun(name));
  program.Print(AnswerOf("detached", name),
                absl::StrCat("detached ", name, "; its members are as they were"));
  return absl::OkStatus();
}

void AddAttachAndDetach(Command lun, Program& program) {
  auto options = std::make_shared<AttachLunOptions>();
  const Command attach = lun.AddCommand(
      "attach", "Take a LUN that another storage node made, or this one before it lost --state");
  attach
      .AddOption("--member", options->members,
                 "On the storage node: one of its directories or devices; repeat for all, in any "
                 "order")
      .Required();
  const Option name =
      attach.AddOption("--name", options->name, "Name it has from now on; default: its own");
  attach
      .AddFlag("--as-new", options->as_new,
               "The members are a copy: it becomes a LUN of its own, with a new UUID")
      .Needs(name);
  SetRun<AttachLunOptions>(attach, program, "lun attach", options, AttachLun);

  auto detach_options = std::make_shared<DetachLunOptions>();
  const Command detach = lun.AddCommand(
      "detach", "Let go of a LUN, which keeps all it holds and can be attached elsewhere");
  detach.AddOption("NAME", detach_options->name, "LUN").Required();
  SetRun<DetachLunOptions>(detach, program, "lun detach", detach_options, DetachLun);
}

std::map<std::string, FullPolicy> FullPolicies() {
  std::map<std::string, FullPolicy> policies;
  for (const auto& [policy, word] : kFullPolicyNames) policies.emplace(word, policy);
  return policies;
}

void AddLunUpdate(Command lun, Program& program) {
  auto options = std::make_shared<UpdateLunOptions>();
  LunUpdate& change = options->update;
  const Command update =
      lun.AddCommand("update", "Change a LUN, also while it is recorded into and played");
  update.AddOption("NAME", options->name, "LUN").Required();
  update.AddParsed("--capacity", change.capacity_bytes, ParseBytes,
                   "Payload it may hold, as much as it holds at least, e.g. 10GiB; 0: what its "
                   "members hold");
  update.AddChoice("--when-full", change.full_policy, FullPolicies(),
                   "stop: recordings end; ring: the oldest are deleted");
  update.AddParsed("--max-age", change.max_age_ns, ParseDurationOrZeroNs,
                   "Delete recordings this long after their end, e.g. 72h; 0: never");
  update
      .AddOption("--max-fill", options->max_fill_percent,
                 "Delete the oldest recordings while more than this percentage is used; 0: never")
      .Within(0, 100);
  SetRun<UpdateLunOptions>(update, program, "lun update", options, UpdateLun);
}

void AddCreate(Command lun, Program& program) {
  auto options = std::make_shared<CreateLunOptions>();
  const Command create = lun.AddCommand("create", "Make a LUN");
  create.AddOption("NAME", options->name, "LUN").Required();
  std::map<std::string, StoreKind> stores;
  for (const auto& [kind, store] : kStoreNames) stores.emplace(store, kind);
  create.AddChoice("--store", options->store, stores, "posix, direct, block or memory").Required();
  create.AddOption(
      "--member", options->members,
      "On the storage node: a directory (posix, direct), or a device or disk image that holds "
      "nothing else (block); repeat for more");
  create.AddParsed("--capacity", options->capacity_bytes, ParseBytes,
                   "Payload it may hold, e.g. 10GiB; default: what its members hold");
  create.AddChoice("--when-full", options->full_policy, FullPolicies(),
                   "stop: recordings end; ring: the oldest are deleted; default stop");
  create.AddParsed("--max-age", options->max_age_ns, ParseDurationNs,
                   "Delete recordings this long after their end, e.g. 72h; default never");
  create
      .AddOption("--max-fill", options->max_fill_percent,
                 "Delete the oldest recordings while more than this percentage is used")
      .Within(1, 100);
  const Option files =
      create
          .AddOption("--prewrite-files", options->prewrite_files,
                     "Files that each member (posix, direct) keeps ready for new recordings, "
                     "every byte written before: faster to record into; default none")
          .Within(1, 1000);
  const Option bytes =
      create
          .AddParsed("--prewrite-bytes", options->prewrite_bytes, ParseBytes,
                     "Bytes of each, best those of a segment on a member, e.g. 1GiB")
          .Needs(files);
  files.Needs(bytes);
  SetRun<CreateLunOptions>(create, program, "lun create", options, CreateLun);
}

}  // namespace

void AddLunCommands(Command tapectl, Program& program) {
  const Command lun = tapectl.AddCommand("lun", "Storage containers of the storage node");
  AddCreate(lun, program);
  AddLunUpdate(lun, program);
  AddAttachAndDetach(lun, program);
  lun.AddCommand("list", "Show the LUNs").WhenGiven([&program] {
    program.what = "lun list";
    program.run = ListLuns;
  });

  auto delete_options = std::make_shared<DeleteLunOptions>();
  const Command remove = lun.AddCommand("delete", "Delete a LUN and its channels");
  remove.AddOption("NAME", delete_options->name, "LUN").Required();
  remove.AddFlag(
      "--force", delete_options->force,
      "Delete its recordings too; one that is OFFLINE is forgotten, its members stay as they are");
  SetRun<DeleteLunOptions>(remove, program, "lun delete", delete_options, DeleteLun);
}

}  // namespace tapedeck::services::tapectl
