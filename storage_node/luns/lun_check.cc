#include "storage_node/luns/lun_check.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/words/invalid.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/config.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::luns {
namespace {

using services::model::Invalid;

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
      return disk::Unusable(
          member, absl::StrCat(inside ? "lies inside " : "contains ", theirs, ", a member of ",
                               other.name, "; use a directory beside it"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPrewrite(const services::Lun& lun, const store::StoreKind& kind) {
  if (lun.prewrite_files == 0 && lun.prewrite_bytes == 0) return absl::OkStatus();
  if (kind.capabilities.prewrites) return absl::OkStatus();
  return Invalid(
      "prewrite_files",
      absl::StrCat("a ", kind.name,
                   " LUN has no files to prewrite; leave it out, or use a LUN of another kind: ",
                   store::StoreKindNames([](const store::StoreKind& other) {
                     return other.capabilities.prewrites;
                   })));
}

absl::Status CheckCopies(const services::Lun& lun, const store::StoreKind& kind) {
  if (!lun.mirrored() || kind.capabilities.keeps_copies) return absl::OkStatus();
  return Invalid("copies",
                 absl::StrCat("a ", kind.name,
                              " LUN keeps one copy; leave it out, or use a LUN of another kind: ",
                              store::StoreKindNames([](const store::StoreKind& other) {
                                return other.capabilities.keeps_copies;
                              })));
}

}  // namespace

absl::Status CheckMembers(services::Lun* lun, const MemberRoots& roots, CheckMember check) {
  std::set<std::string> seen;
  for (std::string& member : lun->members) {
    TD_ASSIGN_OR_RETURN(const store::MemberName checked, check(member));
    member = checked.name;
    if (!seen.insert(checked.leads_to).second) {
      return Invalid("members", absl::StrCat(member, " is given twice"));
    }
  }
  return roots.Check(*lun);
}

absl::Status CheckApartFromAll(const services::Lun& lun, const Luns& luns) {
  for (const auto& [id, other] : luns.All()) {
    TD_RETURN_IF_ERROR(CheckApart(lun, *other->config.now()));
  }
  for (const auto& [id, other] : luns.Offline()) {
    if (other.config.uid != lun.uid) TD_RETURN_IF_ERROR(CheckApart(lun, other.config));
  }
  return absl::OkStatus();
}

absl::Status CheckLunShape(const services::Lun& lun, const store::StoreKind& kind) {
  if (kind.member != nullptr && lun.members.empty()) {
    return Invalid("members", absl::StrCat("a ", kind.name, " LUN needs at least one member"));
  }
  if (kind.member == nullptr && !lun.members.empty()) {
    return Invalid("members", absl::StrCat("a ", kind.name, " LUN has no members"));
  }
  if (kind.capabilities.takes_room_at_once && lun.capacity_bytes == 0) {
    return Invalid("capacity_bytes", absl::StrCat("a ", kind.name, " LUN needs a capacity"));
  }
  TD_RETURN_IF_ERROR(CheckCopies(lun, kind));
  TD_RETURN_IF_ERROR(CheckPrewrite(lun, kind));
  return services::model::CheckLun(lun);
}

absl::Status CheckLunDescription(const services::Lun& lun) {
  if (format::EncodeLun(lun, format::kMaxMembers).size() <= format::kMaxConfigBytes) {
    return absl::OkStatus();
  }
  return Invalid("members", absl::StrCat("their paths make the LUN's description longer than ",
                                         format::kMaxConfigBytes, " bytes; give shorter paths"));
}

absl::Status CheckLunPolicies(const services::Lun& lun, uint64_t limit) {
  const bool ring = lun.full_policy == services::FullPolicy::kRing;
  if (limit > 0 || (!ring && lun.max_fill_percent == 0)) {
    return absl::OkStatus();
  }
  return Invalid("capacity_bytes",
                 ring ? "a ring LUN needs a capacity" : "max_fill_percent needs a capacity");
}

}  // namespace tapedeck::storage_node::luns
