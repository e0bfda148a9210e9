// A file that is written beside its target, as TARGET.part-XXXXXXXX, and becomes the target when it
// is complete: until then whatever is there stays as it is. On one thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/fd.h"

namespace tapedeck::services::files {

class PartFile {
 public:
  // ALREADY_EXISTS (FILE_EXISTS) if the target is there and not to be replaced, INVALID_ARGUMENT
  // (FILE_INVALID) if it is there and no regular file, NOT_FOUND (FILE_NOT_FOUND) if its folder
  // takes no new file.
  static absl::StatusOr<std::unique_ptr<PartFile>> Create(const std::string& target, bool replace);
  // The same in the target's folder, which the caller has opened.
  static absl::StatusOr<std::unique_ptr<PartFile>> CreateIn(dataplane::Fd folder,
                                                            const std::string& target,
                                                            bool replace);

  // Removes the part, unless it was published or kept.
  ~PartFile() { Remove(); }

  int fd() const { return fd_.get(); }
  // Of the part, while it has a name of its own.
  const std::string& path() const { return path_; }

  // Makes it durable under the target's name. A target that came meanwhile stays, unless it was to
  // be replaced.
  absl::Status Publish();

  // Makes it durable under the name it has.
  absl::Status Keep();

  void Remove();

 private:
  // Where the target lies: its name in its folder.
  struct Place {
    dataplane::Fd folder;
    std::string name;
  };

  PartFile(std::string target, bool replace, Place place)
      : target_(std::move(target)), replace_(replace), place_(std::move(place)) {}

  absl::Status CheckTarget();
  absl::Status Open();
  absl::Status Rename() const;

  const std::string target_;
  const bool replace_;
  const Place place_;
  mode_t mode_ = 0;   // of the file that is replaced; 0: there is none
  std::string name_;  // in the folder; empty once it is not ours to remove
  std::string path_;
  dataplane::Fd fd_;
};

}  // namespace tapedeck::services::files
