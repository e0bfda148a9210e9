// A recording of a posix store: pread(2) and pwrite(2) on the member's I/O thread.
#pragma once

#include "storage_node/store/directory/recording.h"

namespace tapedeck::storage_node::store::posix {

// Lives on the executor it was opened for.
class PosixRecording final : public store::directory::DirectoryRecording {
 public:
  using DirectoryRecording::DirectoryRecording;

  void WriteBlock(format::Place place, dataplane::Block block, BlockDone done) override;
  bool ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                 BlockRead done) override;
};

}  // namespace tapedeck::storage_node::store::posix
