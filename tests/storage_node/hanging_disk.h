// Makes the calls of the program it is linked into hang that read, write or flush files below a
// folder, as those of a disk that does not answer.
#pragma once

#include <string>

namespace tapedeck::storage_node {

// One at a time. Any thread.
class HangingDisk {
 public:
  explicit HangingDisk(const std::string& folder);
  // The calls go on.
  ~HangingDisk();

  // That hang just now.
  static int calls();
};

}  // namespace tapedeck::storage_node
