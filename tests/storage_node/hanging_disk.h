// Makes the calls of the program it is linked into hang that read, write or flush files below a
// folder, or one file, as those of a disk that does not answer.
#pragma once

#include <string>

namespace tapedeck::storage_node {

// One at a time. Any thread.
class HangingDisk {
 public:
  // Of a file it takes those too whose names begin so, as the one that is to replace it.
  explicit HangingDisk(const std::string& path);
  // The calls go on.
  ~HangingDisk();

  // That hang just now.
  static int calls();
};

}  // namespace tapedeck::storage_node
