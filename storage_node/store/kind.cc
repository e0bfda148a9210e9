#include "storage_node/store/kind.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "services/model/words/invalid.h"
#include "services/model/words/member_name.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::store {
namespace {

absl::Status NoPath(const std::string& member, const std::string& why) {
  return services::model::Invalid("members", absl::StrCat("'", member, "': ", why));
}

}  // namespace

absl::StatusOr<MemberName> MemberPath(const std::string& member) {
  if (member.empty() || services::HasScheme(member)) {
    return NoPath(member, "must be a path on the storage node");
  }
  std::error_code error;
  const auto given = std::filesystem::absolute(member);
  const auto path = std::filesystem::weakly_canonical(given, error);
  if (error) return NoPath(member, error.message());
  // The names that udev gives a device stay, the device they lead to may have another one soon.
  const bool device = std::filesystem::is_block_file(path, error);
  return MemberName{.name = (device ? given.lexically_normal() : path).string(),
                    .leads_to = path.string()};
}

absl::Status CheckMemberPaths(const services::Lun& lun) {
  for (const std::string& member : lun.members) {
    if (IsMemberPath(member)) continue;
    return disk::MemberUnusable(
        member, absl::StrCat("member ", dataplane::Printable(member), ": a ", lun.store,
                             " LUN needs absolute paths as members; attach it with its members"));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::store
