#include "storage_node/node/lun_catalog.h"

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "storage_node/format/config.h"
#include "storage_node/format/limits.h"
#include "storage_node/node/config_files.h"
#include "storage_node/node/reconcile.h"
#include "storage_node/node/recordings.h"

namespace tapedeck::storage_node {
namespace {

using format::kMaxPrewriteFiles;
using format::kPrewriteMultiple;

absl::Status InvalidField(absl::string_view field, absl::string_view why) {
  return services::WithReason(absl::InvalidArgumentError(absl::StrCat(field, ": ", why)),
                              "ARGUMENT_INVALID", {{"field", std::string(field)}});
}

// Members as absolute paths, each once.
absl::Status NormalizeMembers(services::Lun* lun) {
  std::set<std::string> seen;
  for (std::string& member : lun->members) {
    std::error_code error;
    const auto given = std::filesystem::absolute(member);
    const auto path = std::filesystem::weakly_canonical(given, error);
    if (error || member.empty()) {
      return InvalidField("members", absl::StrCat("'", member, "': ", error.message()));
    }
    // The names that udev gives a device stay, the device they lead to may have another one soon.
    const bool device = std::filesystem::is_block_file(path, error);
    member = (device ? given.lexically_normal() : path).string();
    if (!seen.insert(path.string()).second) {
      return InvalidField("members", absl::StrCat(member, " is given twice"));
    }
  }
  return absl::OkStatus();
}

bool LiesInside(const std::string& path, const std::string& directory) {
  return path.size() > directory.size() && absl::StartsWith(path, directory) &&
         (absl::EndsWith(directory, "/") || path[directory.size()] == '/');
}

// Two LUNs of which one's member lies in the other's would find each other's files there.
absl::Status CheckApart(const services::Lun& lun, const services::Lun& other) {
  for (const std::string& member : lun.members) {
    for (const std::string& theirs : other.members) {
      const bool inside = LiesInside(member, theirs);
      if (!inside && !LiesInside(theirs, member)) continue;
      return services::WithReason(
          absl::FailedPreconditionError(
              absl::StrCat("member ", member, inside ? ": lies inside " : ": contains ", theirs,
                           ", a member of ", other.name, "; use a directory beside it")),
          "MEMBER_UNUSABLE", {{"member", member}});
    }
  }
  return absl::OkStatus();
}

absl::Status CheckApartFromAll(const services::Lun& lun, const LunTable& luns) {
  for (const auto& [id, other] : luns.All()) TD_RETURN_IF_ERROR(CheckApart(lun, other->config));
  for (const auto& [id, other] : luns.Offline()) TD_RETURN_IF_ERROR(CheckApart(lun, other.config));
  return absl::OkStatus();
}

absl::Status CheckPrewrite(const services::Lun& lun, const store::StoreKindInfo& kind) {
  if (lun.prewrite_files == 0 && lun.prewrite_bytes == 0) return absl::OkStatus();
  if (!kind.has_directories) {
    return InvalidField(
        "prewrite_files",
        absl::StrCat("a ", kind.name,
                     " LUN has no files to write before they are needed; leave it out, "
                     "or use a direct or posix LUN"));
  }
  if (lun.prewrite_files == 0 || lun.prewrite_files > kMaxPrewriteFiles) {
    return InvalidField("prewrite_files",
                        absl::StrCat("must be 1 to ", kMaxPrewriteFiles, " with prewrite_bytes"));
  }
  if (lun.prewrite_bytes == 0 || lun.prewrite_bytes % kPrewriteMultiple != 0 ||
      lun.prewrite_bytes > format::kMaxRecordingBytes) {
    return InvalidField("prewrite_bytes", absl::StrCat("must be a multiple of ", kPrewriteMultiple,
                                                       " above 0 with prewrite_files"));
  }
  return absl::OkStatus();
}

absl::Status CheckShape(const services::Lun& lun, const store::StoreKindInfo& kind) {
  if (kind.has_members && lun.members.empty()) {
    return InvalidField("members", absl::StrCat("a ", kind.name, " LUN needs at least one member"));
  }
  if (!kind.has_members && !lun.members.empty()) {
    return InvalidField("members", absl::StrCat("a ", kind.name, " LUN has no members"));
  }
  if (kind.needs_capacity && lun.capacity_bytes == 0) {
    return InvalidField("capacity_bytes", absl::StrCat("a ", kind.name, " LUN needs a capacity"));
  }
  if (lun.max_age_ns < 0 || lun.max_age_ns > format::kMaxDurationNs) {
    return InvalidField("max_age", "must be 0 to 73 years");
  }
  if (lun.max_fill_percent > 100) return InvalidField("max_fill_percent", "must be 0 to 100");
  return CheckPrewrite(lun, kind);
}

// What is written into lun.json must be what is read from it.
absl::Status CheckDescription(const services::Lun& lun) {
  if (lun.members.size() > format::kMaxMembers) {
    return InvalidField("members", absl::StrCat("are more than ", format::kMaxMembers));
  }
  if (format::EncodeLun(lun, format::kMaxMembers).size() <= format::kMaxConfigBytes) {
    return absl::OkStatus();
  }
  return InvalidField("members",
                      absl::StrCat("their paths make the LUN's description longer than ",
                                   format::kMaxConfigBytes, " bytes; give shorter paths"));
}

// A share of the capacity means something only if there is one.
absl::Status CheckPolicies(const OpenLun& lun) {
  const bool ring = lun.config.full_policy == services::FullPolicy::kRing;
  if (lun.capacity->limit() > 0 || (!ring && lun.config.max_fill_percent == 0)) {
    return absl::OkStatus();
  }
  return InvalidField("capacity_bytes", ring
                                            ? "a ring LUN needs a capacity"
                                            : "max_fill_percent needs a capacity to be a share of");
}

void LogLun(absl::string_view event, const std::string& name, const std::string& why) {
  dataplane::Log(dataplane::LogLevel::kInfo, "lun_catalog", event, {{"lun", name}, {"why", why}});
}

absl::Status InUse(const std::string& name) {
  return services::WithReason(
      absl::FailedPreconditionError(
          absl::StrCat(name, " is in use by a session or another request; end that first")),
      "LUN_NOT_EMPTY", {{"lun", name}});
}

}  // namespace

absl::StatusOr<services::Lun> LunService::CreateLun(const services::Lun& lun,
                                                    const std::string& request_id) {
  return Once<services::Lun>(
      parts_, request_id, "LUN", lun.name, [&] { return GetLun(lun.name); },
      [&] { return Create(lun); });
}

absl::StatusOr<services::Lun> LunService::Create(services::Lun lun) {
  TD_ASSIGN_OR_RETURN(const ResourceName name, ParseLunName(lun.name));
  TD_ASSIGN_OR_RETURN(store::StoreKindInfo kind, store::FindStoreKind(lun.store));
  TD_RETURN_IF_ERROR(CheckShape(lun, kind));
  TD_RETURN_IF_ERROR(NormalizeMembers(&lun));
  const auto lease = parts_.leases->TakeExclusive(lun.name);
  if (lease == nullptr || parts_.luns.Has(name.lun)) {
    return services::WithReason(
        absl::AlreadyExistsError(absl::StrCat(lun.name, " exists; choose another name")),
        "LUN_EXISTS", {{"lun", name.lun}});
  }
  TD_RETURN_IF_ERROR(CheckApartFromAll(lun, parts_.luns));
  lun.uid = format::Uuid::Make(parts_.settings.random).ToString();
  lun.create_time_ns = parts_.settings.clock->WallNs();
  TD_RETURN_IF_ERROR(CheckDescription(lun));
  auto open = std::make_shared<OpenLun>(
      OpenLun{.config = lun, .channel_root = ChannelRoot(parts_.settings.state_dir, lun)});
  TD_ASSIGN_OR_RETURN(open->store, kind.create(lun));
  open->capacity = CapacityOf(lun, *open->store);
  if (absl::Status status = CheckPolicies(*open); !status.ok()) {
    open->store = nullptr;
    kind.remove(lun).IgnoreError();
    return status;
  }
  open->kind = std::move(kind);
  if (absl::Status status = WriteLunFile(parts_.settings.state_dir, lun); !status.ok()) {
    // The LUN is not there yet for anybody: whatever is left on the members says whose it was.
    open->store = nullptr;
    open->kind.remove(lun).IgnoreError();
    return status;
  }
  parts_.luns.Insert(name.lun, open);
  return Present(name.lun, *open);
}

absl::StatusOr<services::Lun> LunService::Present(const std::string& id, const OpenLun& lun) {
  services::Lun out = lun.config;
  out.capacity_bytes = lun.capacity->limit();
  out.used_bytes = lun.capacity->used();
  TD_ASSIGN_OR_RETURN(out.recordings, parts_.catalog->CountRecordings({.lun = id, .channel = "-"}));
  return out;
}

absl::StatusOr<services::Lun> LunService::PresentOffline(const std::string& id,
                                                         const OfflineLun& lun) {
  services::Lun out = lun.config;
  out.state = services::LunState::kOffline;
  out.cause = std::string(lun.cause.message());
  TD_ASSIGN_OR_RETURN(out.recordings, parts_.catalog->CountRecordings({.lun = id, .channel = "-"}));
  return out;
}

absl::StatusOr<services::Lun> LunService::GetLun(const std::string& name) {
  TD_ASSIGN_OR_RETURN(const ResourceName parsed, ParseLunName(name));
  const auto offline = parts_.luns.Offline();
  if (const auto it = offline.find(parsed.lun); it != offline.end()) {
    return PresentOffline(parsed.lun, it->second);
  }
  TD_ASSIGN_OR_RETURN(const auto lun, parts_.luns.Find(parsed.lun));
  return Present(parsed.lun, *lun);
}

absl::StatusOr<std::vector<services::Lun>> LunService::ListLuns() {
  // The offline ones first: one that comes online in between is not left out.
  std::map<std::string, services::Lun> by_id;
  for (const auto& [id, lun] : parts_.luns.Offline()) {
    TD_ASSIGN_OR_RETURN(by_id[id], PresentOffline(id, lun));
  }
  for (const auto& [id, lun] : parts_.luns.All()) {
    TD_ASSIGN_OR_RETURN(by_id[id], Present(id, *lun));
  }
  std::vector<services::Lun> luns;
  for (auto& [id, lun] : by_id) luns.push_back(std::move(lun));
  return luns;
}

absl::Status LunService::DeleteLun(const std::string& name, bool force) {
  TD_ASSIGN_OR_RETURN(const ResourceName parsed, ParseLunName(name));
  TD_RETURN_IF_ERROR(parts_.luns.CheckExists(parsed.lun));
  const auto lease = parts_.leases->TakeExclusive(name);
  if (lease == nullptr) return InUse(name);
  if (force && parts_.luns.Offline().contains(parsed.lun)) return Forget(parsed.lun);
  TD_ASSIGN_OR_RETURN(auto lun, parts_.luns.Find(parsed.lun));
  TD_ASSIGN_OR_RETURN(const uint64_t recordings,
                      parts_.catalog->CountRecordings({.lun = parsed.lun, .channel = "-"}));
  if (recordings > 0 && !force) {
    return services::WithReason(
        absl::FailedPreconditionError(absl::StrCat(
            name, " holds ", recordings, " recordings; delete them first or use --force")),
        "LUN_NOT_EMPTY", {{"lun", parsed.lun}, {"recordings", absl::StrCat(recordings)}});
  }
  TD_RETURN_IF_ERROR(DeleteContents(parsed.lun, *lun));
  // Without its file the node no longer looks for the LUN: then its members may go.
  TD_RETURN_IF_ERROR(RemoveLunFile(parts_.settings.state_dir, parsed.lun));
  parts_.luns.Erase(parsed.lun);
  const auto remove = lun->kind.remove;
  const services::Lun config = lun->config;
  lun = nullptr;  // closes the store, which may hold its members locked
  LogLun("LUN deleted", name, force ? "asked for, with all its recordings" : "asked for");
  return remove(config);
}

absl::Status LunService::Forget(const std::string& id) {
  TD_RETURN_IF_ERROR(ForgetLunFile(parts_.settings.state_dir, id));
  parts_.luns.Erase(id);
  LogLun("LUN forgotten", "luns/" + id,
         "asked for while it was offline; its members are as they were");
  return ForgetLuns(parts_);
}

absl::Status LunService::DeleteContents(const std::string& id, const OpenLun& lun) {
  TD_ASSIGN_OR_RETURN(const auto rows, parts_.catalog->ListRecordings({.lun = id, .channel = "-"}));
  for (const catalog::RecordingRow& row : rows) {
    TD_RETURN_IF_ERROR(
        lun.store->DeleteRecording({.channel = row.name.channel, .recording = row.name.recording}));
    LogDeleted(row.name, "its LUN is being deleted");
    TD_RETURN_IF_ERROR(parts_.catalog->DeleteRecording(row.name));
  }
  TD_ASSIGN_OR_RETURN(const auto channels, parts_.catalog->ListChannels(id));
  for (const services::Channel& channel : channels) {
    TD_ASSIGN_OR_RETURN(const ResourceName name, ParseChannelName(channel.name));
    TD_RETURN_IF_ERROR(RemoveChannelFile(lun, name.channel));
    TD_RETURN_IF_ERROR(parts_.catalog->DeleteChannel(name));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node
