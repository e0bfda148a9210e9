#include "gpu_worker/job_permissions.h"

#include "dataplane/log.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker {

using dataplane::Log;
using dataplane::LogLevel;
using services::files::FileRoots;
using services::identity::AddressPatterns;

absl::StatusOr<Reach> Reach::Create(const std::vector<std::string>& file_roots,
                                    const std::vector<std::string>& storage_allow,
                                    const std::vector<std::string>& send_allow, bool local) {
  Reach reach;
  TD_ASSIGN_OR_RETURN(reach.files, FileRoots::Parse(file_roots));
  TD_ASSIGN_OR_RETURN(reach.storages, AllowedStorage::Parse(storage_allow));
  TD_RETURN_IF_ERROR(reach.files.CheckKernel());
  if (local && file_roots.empty()) reach.files = FileRoots::Anywhere();
  TD_ASSIGN_OR_RETURN(reach.destinations, AddressPatterns::Parse("--send-allow", send_allow));
  if (local && send_allow.empty()) reach.destinations = AddressPatterns::Any();
  Log(LogLevel::kInfo, "reach", "what jobs may name",
      {{"files", reach.files.Described()},
       {"storage", reach.storages.Described()},
       {"destinations", reach.destinations.Described()}});
  if (reach.files.anywhere()) {
    Log(LogLevel::kWarning, "reach",
        "jobs may name any file that this user can read or write; --file-root read:DIR and "
        "--file-root write:DIR keep them to directories");
  }
  if (!local && reach.storages.any()) {
    Log(LogLevel::kWarning, "reach",
        "jobs may name any storage node; --storage-allow HOST:PORT keeps them to some");
  }
  return reach;
}

}  // namespace tapedeck::gpu_worker
