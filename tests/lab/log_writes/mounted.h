// A device with a file system, mounted as long as the object lives; mounting replays the journal.
// Or a device without one, seen at another path.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tapedeck::lab {

// From now on the calling thread, and threads it starts, mount for themselves alone; to be called
// before the process has others.
absl::Status MountPrivately();

// One thread.
class Mounted {
 public:
  // Without `type`, `path` is a file that stands for the device; else a directory.
  static absl::StatusOr<std::unique_ptr<Mounted>> Create(const std::string& device,
                                                         const std::string& type,
                                                         const std::string& path);
  ~Mounted();  // aborts if it cannot be unmounted: everything after it would be wrong

 private:
  explicit Mounted(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

}  // namespace tapedeck::lab
