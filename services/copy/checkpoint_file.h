// Where a copy's checkpoint is kept between two runs of a program: a file that its owner alone may
// read, since who has the secret may write into the recording. One thread.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "services/copy/copy.h"

namespace tapedeck::services::copying {

class CheckpointFile {
 public:
  // Below `folder`, which is made when it is needed. Empty: nothing is kept. Of each source and
  // channel of a node there is one.
  CheckpointFile(const std::string& folder, const CopyRequest& request);

  // None: there is no such file, or it is not what was written here.
  std::optional<Checkpoint> Read() const;
  // The errors of files (services/base/files/errors.h).
  absl::Status Write(const Checkpoint& checkpoint) const;
  void Remove() const;

  const std::string& path() const { return path_; }

 private:
  const std::string folder_;
  const std::string path_;
};

}  // namespace tapedeck::services::copying
