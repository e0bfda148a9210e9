// tapedeck-long-recording DIRECTORY BLOCKS: makes a closed recording of zeros long, for view.sh;
// DIRECTORY is the recording's, on the one member of its LUN, which no node has open.
#include <cstdio>

#include "absl/strings/numbers.h"
#include "tests/storage_node/view/sparse_recording.h"

int main(int argc, char** argv) {
  uint64_t blocks = 0;
  if (argc != 3 || !absl::SimpleAtoi(argv[2], &blocks)) {
    std::fprintf(stderr, "usage: tapedeck-long-recording DIRECTORY BLOCKS\n");
    return 2;
  }
  const absl::Status made = tapedeck::storage_node::view::MakeLong(argv[1], blocks);
  if (made.ok()) return 0;
  std::fprintf(stderr, "tapedeck-long-recording: %s\n", made.ToString().c_str());
  return 1;
}
