// What jobs may name beside their channel or recording: files of the worker's machine, and storage
// nodes. Whoever may start a job has the worker's own rights there, so that its options bound them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/allowed_storage.h"
#include "services/files/file_roots.h"

namespace tapedeck::gpu_worker {

// A value; by default no file and any storage node. Any thread.
struct Reach {
  services::files::FileRoots files;
  AllowedStorage storages;

  // As the options say, and in the log. `local`: nobody but users of this machine can ask, and
  // nobody is told apart: then any file may be named unless an option says which. INVALID_ARGUMENT,
  // or FAILED_PRECONDITION where the kernel cannot keep jobs to directories.
  static absl::StatusOr<Reach> Create(const std::vector<std::string>& file_roots,
                                      const std::vector<std::string>& storage_allow, bool local);
};

}  // namespace tapedeck::gpu_worker
