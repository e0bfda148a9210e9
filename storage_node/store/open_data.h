// Where the samples of a recording are a file of its own, which other programs open in place.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "storage_node/store/known.h"

namespace tapedeck::storage_node::store {

// Any thread, one at a time for one recording; waits for the disk.
class OpenData {
 public:
  virtual ~OpenData() = default;

  // Puts a text of SigMF beside a closed recording's samples, so that both have the names that
  // SigMF asks for. It replaces an earlier one, but
  // for one that others have changed since, or made: FAILED_PRECONDITION.
  virtual absl::Status WriteSigmf(const RecordingPath& path, absl::string_view text) = 0;
};

}  // namespace tapedeck::storage_node::store
