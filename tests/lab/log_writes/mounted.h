// A mounted file system, for as long as the object lives. Mounting replays the journal.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tapedeck::lab {

// One thread.
class Mounted {
 public:
  static absl::StatusOr<std::unique_ptr<Mounted>> Create(const std::string& device,
                                                         const std::string& type,
                                                         const std::string& directory);
  ~Mounted();  // aborts if it cannot be unmounted: everything after it would be wrong

 private:
  explicit Mounted(std::string directory) : directory_(std::move(directory)) {}

  const std::string directory_;
};

}  // namespace tapedeck::lab
