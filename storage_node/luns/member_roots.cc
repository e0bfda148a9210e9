#include "storage_node/luns/member_roots.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "services/base/files/root_path.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/kind.h"

namespace tapedeck::storage_node::luns {
namespace {

using services::files::PathBeneath;
using std::filesystem::path;

// Where it leads to, as far as it is there.
std::string Canonical(const path& given) {
  std::error_code error;
  const path found = std::filesystem::weakly_canonical(given, error);
  return error ? given.lexically_normal().string() : found.string();
}

bool LiesBeneath(const store::MemberName& member, const std::string& directory) {
  const std::string root = Canonical(directory);
  if (PathBeneath(member.leads_to, root).has_value()) return true;
  // A link of udev's: only root makes names beneath /dev.
  std::error_code error;
  if (!PathBeneath(root + "/", "/dev").has_value() ||
      !std::filesystem::is_block_file(member.leads_to, error)) {
    return false;
  }
  const std::string folder = Canonical(path(member.name).parent_path());
  return PathBeneath(folder + "/", root).has_value();
}

}  // namespace

absl::Status MemberRoots::Check(const services::Lun& lun) const {
  if (directories_.empty()) return absl::OkStatus();
  for (const std::string& member : lun.members) TD_RETURN_IF_ERROR(CheckMember(member));
  return absl::OkStatus();
}

absl::Status MemberRoots::CheckMember(const std::string& member) const {
  if (!store::IsMemberPath(member)) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const store::MemberName name, store::MemberPath(member));
  const auto holds = [&](const std::string& directory) { return LiesBeneath(name, directory); };
  if (std::ranges::any_of(directories_, holds)) return absl::OkStatus();
  return disk::Unusable(
      member,
      absl::StrCat("it lies, or its link leads, outside this node's directories for members (",
                   absl::StrJoin(directories_, ", ").substr(0, 1000),
                   "); use one there, or start the node with --member-root ",
                   path(name.leads_to).parent_path().string(), ", too"));
}

}  // namespace tapedeck::storage_node::luns
