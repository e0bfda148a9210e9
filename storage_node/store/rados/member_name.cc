#include "storage_node/store/rados/member_name.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/model/words/invalid.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::store::rados {
namespace {

constexpr absl::string_view kScheme = "rados:";
constexpr char kDefaultSpace[] = "tapedeck";
// What Ceph's own tools take as one word, and no longer than errors that name it should be.
constexpr size_t kMaxPartBytes = 128;

bool IsPart(absl::string_view part) {
  return !part.empty() && part.size() <= kMaxPartBytes && part[0] != '-' &&
         std::ranges::all_of(part, [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  absl::string_view("._-").find(c) != absl::string_view::npos;
         });
}

}  // namespace

bool IsMember(const std::string& member) { return absl::StartsWith(member, kScheme); }

absl::StatusOr<PoolName> ParseMember(const std::string& member) {
  std::vector<std::string> parts;
  if (IsMember(member)) parts = absl::StrSplit(member.substr(kScheme.size()), '/');
  if (parts.size() == 1) parts.emplace_back(kDefaultSpace);
  std::vector<std::string> pools;
  if (!parts.empty()) pools = absl::StrSplit(parts[0], '+');
  if (parts.size() != 2 || pools.size() > 2 || !std::ranges::all_of(pools, IsPart) ||
      !IsPart(parts[1])) {
    return services::model::Invalid(
        "members",
        absl::StrCat("'", dataplane::Printable(member),
                     "': must be rados:POOL/NAMESPACE or rados:POOL+DATA_POOL/NAMESPACE, "
                     "each of letters, digits and ._-, ",
                     kMaxPartBytes, " of them at most"));
  }
  return PoolName{.pool = pools[0],
                  .data_pool = pools.size() == 2 ? pools[1] : "",
                  .space = std::move(parts[1])};
}

absl::StatusOr<MemberName> CheckMember(const std::string& member) {
  TD_ASSIGN_OR_RETURN(const PoolName name, ParseMember(member));
  const std::string data = name.data_pool.empty() ? "" : absl::StrCat("+", name.data_pool);
  return MemberName{.name = absl::StrCat(kScheme, name.pool, data, "/", name.space),
                    .leads_to = absl::StrCat(kScheme, name.pool, "/", name.space)};
}

absl::Status CheckMemberNames(const services::Lun& lun) {
  for (const std::string& member : lun.members) {
    if (ParseMember(member).ok()) continue;
    return disk::MemberUnusable(member,
                                absl::StrCat("member ", dataplane::Printable(member),
                                             ": a rados LUN needs members of the form "
                                             "rados:POOL/NAMESPACE; attach it with its members"));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::store::rados
