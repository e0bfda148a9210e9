#include "storage_node/opening/attach.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/words/invalid.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/config.h"
#include "storage_node/luns/config_files.h"
#include "storage_node/luns/lun_check.h"
#include "storage_node/opening/reconcile.h"

namespace tapedeck::storage_node::opening {
namespace {

constexpr absl::Duration kProgressPeriod = absl::Seconds(5);

// What was found at the paths that were named.
struct FoundMembers {
  services::Lun said;                     // as one of them has it
  std::map<uint32_t, std::string> paths;  // by number
  std::vector<uint32_t> missing;          // numbers of those not named
};

// What is to become of it.
struct Plan {
  FoundMembers found;
  services::Lun lun;         // as it will be on this node
  bool was_offline = false;  // here, under this name
  bool renamed() const { return lun.name != found.said.name; }
};

absl::StatusOr<format::LunMember> ReadMember(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const store::MemberKind* const kind, store::FindMemberKind(path));
  auto member = kind->described_by(path);
  if (!member.ok()) {
    if (services::ReasonOf(member.status()).has_value()) return member;
    return disk::Unusable(path, absl::StrCat("the description of its LUN cannot be read: ",
                                             member.status().message()));
  }
  const auto store = store::FindStoreKind(member->lun.store);
  if (store.ok()) return member;
  return disk::Unusable(path, absl::StrCat("it belongs to ", member->lun.name,
                                           " and stays unchanged: ", store.status().message()));
}

absl::Status CheckMembers(services::Lun* lun, const luns::Luns& luns) {
  const auto check = [](const std::string& member) -> absl::StatusOr<store::MemberName> {
    TD_ASSIGN_OR_RETURN(const store::MemberKind* const kind, store::FindMemberKind(member));
    return kind->check(member);
  };
  return luns::CheckMembers(lun, luns.member_roots(), check);
}

absl::Status Add(const std::string& path, const format::LunMember& member, bool as_new,
                 FoundMembers* found) {
  if (found->paths.empty()) found->said = member.lun;
  services::Lun& said = found->said;
  // Of a copy that was becoming a LUN when the node stopped, some members may have its new uid.
  const bool same =
      as_new ? member.lun.recorded_uid() == said.recorded_uid() : member.lun.uid == said.uid;
  if (!same || member.lun.store != said.store) {
    return disk::Unusable(
        path, absl::StrCat("it belongs to ", member.lun.name, " (", member.lun.uid, "), and ",
                           found->paths.begin()->second, " to ", said.name, " (", said.uid,
                           "); attach one LUN at a time"));
  }
  // One that says fewer changes, or fewer members, was not told yet.
  const auto age = [](const services::Lun& lun) {
    return std::make_pair(lun.members.size(), lun.revision);
  };
  if (age(member.lun) > age(said)) said = member.lun;
  const auto [at, added] = found->paths.emplace(member.member, path);
  if (added) return absl::OkStatus();
  return disk::Unusable(
      path, absl::StrCat("it and ", at->second, " are both member ", member.member, " of ",
                         said.name, ": one is a copy; name only one of them"));
}

absl::StatusOr<FoundMembers> FindMembers(const std::vector<std::string>& paths, bool as_new) {
  FoundMembers found;
  for (const std::string& path : paths) {
    TD_ASSIGN_OR_RETURN(const format::LunMember member, ReadMember(path));
    TD_RETURN_IF_ERROR(Add(path, member, as_new, &found));
  }
  for (uint32_t number = 0; number < found.said.members.size(); ++number) {
    if (!found.paths.contains(number)) found.missing.push_back(number);
  }
  return found;
}

// Of the LUN as it was before.
std::string Missing(const Plan& plan) {
  const auto formatter = [&](std::string* out, uint32_t number) {
    absl::StrAppend(out, "member ", number, " (last at ", plan.lun.members[number], ")");
  };
  return absl::StrJoin(plan.found.missing, ", ", formatter);
}

absl::Status MissingError(const Plan& plan) {
  return disk::MemberUnusable(plan.lun.members[plan.found.missing[0]],
                              absl::StrCat(plan.lun.name, " lacks ", Missing(plan),
                                           "; attach it again with all its members"));
}

absl::Status CheckNotInUse(const std::vector<std::string>& paths, const luns::Luns& luns) {
  for (const auto& [id, lun] : luns.All()) {
    for (const std::string& path : paths) {
      if (std::ranges::count(lun->config->members, path) == 0) continue;
      return disk::LunExists(
          id, absl::StrCat(path, " is a member of ", lun->config->name, ", which is open here"));
    }
  }
  return absl::OkStatus();
}

// The LUN of that uid that is open here has its members elsewhere.
absl::Status CheckNoCopy(const Plan& plan, const luns::Luns& luns) {
  for (const auto& [id, lun] : luns.All()) {
    if (lun->config->uid != plan.lun.uid) continue;
    return disk::LunExists(
        id, absl::StrCat("the LUN at ", plan.found.paths.begin()->second, " is a copy of ",
                         lun->config->name, " (", lun->config->uid, "), which is open here with ",
                         absl::StrJoin(lun->config->members, ", "),
                         "; to attach it as a separate LUN: --as-new --name NAME"));
  }
  return absl::OkStatus();
}

// A LUN that is offline here keeps its name, and what was not named its place.
absl::Status TakeOfflineOnes(const std::string& asked_name, const luns::Luns& luns, Plan* plan) {
  for (const auto& [id, lun] : luns.Offline()) {
    if (lun.config.uid != plan->lun.uid) continue;
    if (!asked_name.empty() && asked_name != lun.config.name) {
      return disk::LunExists(id,
                             absl::StrCat(lun.config.name, " (", lun.config.uid,
                                          ") is offline here under that name; attach it without "
                                          "--name, or detach it first"));
    }
    plan->was_offline = true;
    plan->lun.name = lun.config.name;
    for (const uint32_t number : plan->found.missing) {
      if (number < lun.config.members.size()) {
        plan->lun.members[number] = lun.config.members[number];
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Plan> MakePlan(recordings::Recordings& recordings,
                              const services::LunAttachment& asked) {
  services::Lun given{.members = asked.members};
  if (given.members.empty()) {
    return services::model::Invalid(
        "members", "name the members of the LUN; a LUN without members ends with its storage node");
  }
  TD_RETURN_IF_ERROR(CheckMembers(&given, recordings.luns()));
  TD_RETURN_IF_ERROR(CheckNotInUse(given.members, recordings.luns()));
  Plan plan;
  TD_ASSIGN_OR_RETURN(plan.found, FindMembers(given.members, asked.as_new));
  plan.lun = plan.found.said;
  for (const auto& [number, path] : plan.found.paths) plan.lun.members[number] = path;
  if (asked.as_new) {
    if (asked.name.empty())
      return services::model::Invalid("name", "a new LUN needs a name of its own");
    plan.lun.origin_uid = plan.lun.recorded_uid();
    plan.lun.uid = format::Uuid::Make(recordings.luns().random()).ToString();
  }
  if (!asked.name.empty()) plan.lun.name = asked.name;
  TD_RETURN_IF_ERROR(CheckNoCopy(plan, recordings.luns()));
  TD_RETURN_IF_ERROR(TakeOfflineOnes(asked.name, recordings.luns(), &plan));
  // Else some of the members would say another name or uid than the others.
  if ((asked.as_new || plan.renamed()) && !plan.found.missing.empty()) return MissingError(plan);
  return plan;
}

absl::Status CheckPlan(recordings::Recordings& recordings, const Plan& plan,
                       const store::StoreKind& kind) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseLunName(plan.lun.name));
  if (!plan.was_offline && recordings.luns().Has(name.lun)) {
    return disk::LunExists(name.lun, absl::StrCat(plan.lun.name,
                                                  " is the name of another LUN here (this "
                                                  "one is ",
                                                  plan.lun.uid, "); choose one with --name"));
  }
  TD_RETURN_IF_ERROR(CheckNoCopy(plan, recordings.luns()));  // it may have come online by itself
  TD_RETURN_IF_ERROR(luns::CheckLunShape(plan.lun, kind));
  TD_RETURN_IF_ERROR(luns::CheckApartFromAll(plan.lun, recordings.luns()));
  return luns::CheckLunDescription(plan.lun);
}

// The members say all that this node knows before it relies on it.
absl::Status TellMembers(recordings::Recordings& recordings, const Plan& plan,
                         const store::StoreKind& kind) {
  if (plan.renamed() && kind.capabilities.keeps_channel_files) {
    services::Lun before = plan.lun;
    before.name = plan.found.said.name;
    const luns::OpenLun lun{
        .config = before, .channel_root = luns::ChannelRoot(recordings.luns().state_dir(), before)};
    TD_ASSIGN_OR_RETURN(const auto channels, luns::ReadChannelFiles(lun, {}));
    TD_RETURN_IF_ERROR(luns::DescribeOnMembers(lun, channels));
  }
  if (format::EncodeLun(plan.lun, 0) == format::EncodeLun(plan.found.said, 0)) {
    return absl::OkStatus();
  }
  for (const auto& [number, path] : plan.found.paths) {
    TD_RETURN_IF_ERROR(kind.member->describe(plan.lun, number));
  }
  return absl::OkStatus();
}

// Lists say meanwhile how far it is.
absl::Status OpenWhole(recordings::Recordings& recordings, const Plan& plan,
                       const std::string& id) {
  absl::Time said = dataplane::SteadyTime();
  const auto progress = [&](uint64_t done, uint64_t all) {
    const std::string how_far =
        absl::StrCat("it is being attached: ", done, " of ", all, " recordings checked");
    recordings.luns().SetOffline(id,
                                 {.config = plan.lun, .cause = absl::UnavailableError(how_far)});
    if (dataplane::SteadyTime() - said < kProgressPeriod) return;
    said = dataplane::SteadyTime();
    dataplane::Log(dataplane::LogLevel::kInfo, "attach", "LUN is being attached",
                   {{"lun", plan.lun.name},
                    {"recordings", absl::StrCat(all)},
                    {"seen_to", absl::StrCat(done)}});
  };
  return OpenLunAndReconcile(recordings, plan.lun, progress);
}

absl::Status OpenAttached(recordings::Recordings& recordings, const Plan& plan) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseLunName(plan.lun.name));
  TD_RETURN_IF_ERROR(luns::WriteLunFile(recordings.luns().state_dir(), plan.lun));
  const absl::Status status =
      plan.found.missing.empty() ? OpenWhole(recordings, plan, name.lun) : MissingError(plan);
  if (status.ok()) return status;
  if (plan.was_offline || !plan.found.missing.empty()) {
    recordings.luns().SetOffline(name.lun, {.config = plan.lun, .cause = status});
    return absl::OkStatus();
  }
  recordings.luns().Erase(name.lun);
  TD_RETURN_IF_ERROR(luns::ForgetLunFile(recordings.luns().state_dir(), name.lun));
  ForgetLuns(recordings);
  return status;
}

}  // namespace

absl::StatusOr<std::string> AttachLun(recordings::Recordings& recordings,
                                      const services::LunAttachment& asked) {
  const auto turn = recordings.luns().turns().ForAttaching();
  TD_ASSIGN_OR_RETURN(const Plan first, MakePlan(recordings, asked));
  const auto busy = [&] {
    return disk::LunExists(first.lun.name, absl::StrCat(first.lun.name,
                                                        " is in use by another request; "
                                                        "try again when that has ended"));
  };
  // Of two requests for copies of one LUN the second finds the first one's.
  const auto uid_lease = recordings.leases().TakeExclusive("uids/" + first.lun.recorded_uid());
  if (uid_lease == nullptr) return busy();
  TD_ASSIGN_OR_RETURN(const Plan plan, MakePlan(recordings, asked));
  const OpeningLease lease = TakeOpening(recordings, plan.lun.name);
  if (!lease) return busy();
  TD_ASSIGN_OR_RETURN(const store::StoreKind kind, store::FindStoreKind(plan.lun.store));
  TD_RETURN_IF_ERROR(CheckPlan(recordings, plan, kind));
  TD_RETURN_IF_ERROR(TellMembers(recordings, plan, kind));
  TD_RETURN_IF_ERROR(OpenAttached(recordings, plan));
  dataplane::Log(dataplane::LogLevel::kInfo, "attach", "LUN attached",
                 {{"lun", plan.lun.name},
                  {"uid", plan.lun.uid},
                  {"members", absl::StrJoin(plan.lun.members, ", ")},
                  {"missing", Missing(plan)}});
  return plan.lun.name;
}

absl::StatusOr<services::Lun> DescribedLun(const std::vector<std::string>& members) {
  TD_ASSIGN_OR_RETURN(const FoundMembers found, FindMembers(members, /*as_new=*/false));
  services::Lun lun = found.said;
  for (const auto& [number, path] : found.paths) lun.members[number] = path;
  return lun;
}

absl::Status AttachAll(recordings::Recordings& recordings,
                       const std::vector<std::string>& members) {
  services::Lun given{.members = members};
  TD_RETURN_IF_ERROR(CheckMembers(&given, recordings.luns()));
  std::map<std::string, services::LunAttachment> by_uid;
  for (const std::string& path : given.members) {
    if (!CheckNotInUse({path}, recordings.luns()).ok()) continue;
    TD_ASSIGN_OR_RETURN(const format::LunMember member, ReadMember(path));
    by_uid[member.lun.uid].members.push_back(path);
  }
  for (const auto& [uid, attachment] : by_uid) {
    TD_RETURN_IF_ERROR(AttachLun(recordings, attachment).status());
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::opening
