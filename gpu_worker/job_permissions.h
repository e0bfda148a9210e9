// What jobs may name beside their channel or recording: files of the worker's machine, storage
// nodes, and addresses to send samples to. Whoever may start a job has the worker's own rights
// there, so that its options bound them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/allowed_storage.h"
#include "services/base/files/file_roots.h"
#include "services/rpc/identity/address_patterns.h"

namespace tapedeck::gpu_worker {

// A value; by default any storage node, and nothing else. Any thread.
struct JobPermissions {
  services::files::FileRoots files;
  AllowedStorage storages;
  services::identity::AddressPatterns destinations;  // IP addresses

  // As the options say, and in the log. `local`: nobody but users of this machine can ask, and
  // nobody is told apart: then any file, and any address to send to, may be named unless an option
  // says which. INVALID_ARGUMENT,
  // or FAILED_PRECONDITION where the kernel cannot keep jobs to directories.
  static absl::StatusOr<JobPermissions> Create(const std::vector<std::string>& file_roots,
                                               const std::vector<std::string>& storage_allow,
                                               const std::vector<std::string>& send_allow,
                                               bool local);
};

}  // namespace tapedeck::gpu_worker
