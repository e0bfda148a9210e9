// A recording that is about to be read, closed or while it is written, and what keeps it there.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::recordings {

// The LUN goes last: its store must outlive the files.
struct Readable {
  FoundRecording recording;
  std::shared_ptr<recording::LiveRecording> live;  // null: it is closed
  std::unique_ptr<Leases::Lease> lease;

  // That can be read now.
  uint64_t blocks() const { return live == nullptr ? recording.manifest.blocks : live->written(); }
};

// With `growing` also one that is being written: beside its writer, which keeps the recording from
// being deleted until this lease does. The errors of Find; FAILED_PRECONDITION (RECORDING_BUSY).
absl::StatusOr<Readable> FindReadable(Recordings& recordings, const std::string& name,
                                      bool growing);

}  // namespace tapedeck::storage_node::recordings
