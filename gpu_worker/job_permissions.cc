#include "gpu_worker/job_permissions.h"

#include "dataplane/log.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker {

using dataplane::Log;
using dataplane::LogLevel;
using services::files::FileRoots;
using services::identity::AddressPatterns;

absl::StatusOr<JobPermissions> JobPermissions::Create(const std::vector<std::string>& file_roots,
                                                      const std::vector<std::string>& storage_allow,
                                                      const std::vector<std::string>& send_allow,
                                                      bool local) {
  JobPermissions permissions;
  TD_ASSIGN_OR_RETURN(permissions.files, FileRoots::Parse(file_roots));
  TD_ASSIGN_OR_RETURN(permissions.storages, AllowedStorage::Parse(storage_allow));
  TD_RETURN_IF_ERROR(permissions.files.CheckKernel());
  if (local && file_roots.empty()) permissions.files = FileRoots::Anywhere();
  TD_ASSIGN_OR_RETURN(permissions.destinations, AddressPatterns::Parse("--send-allow", send_allow));
  if (local && send_allow.empty()) permissions.destinations = AddressPatterns::Any();
  Log(LogLevel::kInfo, "reach", "files and addresses that jobs may name",
      {{"files", permissions.files.Described()},
       {"storage", permissions.storages.Described()},
       {"destinations", permissions.destinations.Described()}});
  if (permissions.files.anywhere()) {
    Log(LogLevel::kWarning, "reach",
        "jobs may name any file that this user can read or write; --file-root read:DIR and "
        "--file-root write:DIR keep them to directories");
  }
  if (!local && permissions.storages.any()) {
    Log(LogLevel::kWarning, "reach",
        "jobs may name any storage node; --storage-allow HOST:PORT keeps them to some");
  }
  return permissions;
}

}  // namespace tapedeck::gpu_worker
