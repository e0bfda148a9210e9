// The seam of a format that recordings become: one file beside this one for each, and its line in
// list.cc.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "services/formats/io/output.h"
#include "services/formats/io/subject.h"

namespace tapedeck::services::formats {

struct WriterOptions {
  std::string file;             // that gets the samples, once it is complete
  bool resumed = false;         // goes on with an export that was broken off
  bool streams = false;         // its output is a stream, in which nothing can be replaced
  std::string collection = {};  // of SigMF, that the file is in; empty: none
  uint64_t packet_samples = 0;  // of formats of packets; 0: as many as suit a network
};

// One thread that may wait. Of a format that can be gone on with, another writer may go on where
// one has stopped: what it writes is then told by the subject and the piece alone.
class Writer {
 public:
  virtual ~Writer() = default;

  // What stands before the samples.
  virtual absl::Status Begin(Output& out) = 0;

  // The next samples.
  virtual absl::Status Write(const Piece& piece, Output& out) = 0;

  // What stands behind them, and in files beside.
  virtual absl::Status Finish(const Seen& seen, Output& out) = 0;
};

}  // namespace tapedeck::services::formats
