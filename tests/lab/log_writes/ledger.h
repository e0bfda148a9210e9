// What a storage node had acknowledged at a place of a log of writes: read from the marks that the
// recording machine put there, each after the node had said so.
//   begin                                  from here on a node must start from any prefix
//   at:RECORDING:STATE:BLOCKS:DURABLE      as the node showed it; BLOCKS once it is closed
//   deleting:RECORDING  deleted:RECORDING  before the call, and after it
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::lab {

struct Promise {
  uint64_t blocks = 0;      // that are durable, from the first on
  std::string closed;       // SEALED or SALVAGED, once it is; then for good
  uint64_t all_blocks = 0;  // of a closed recording
  bool may_be_gone = false;
  bool gone = false;
};

// One thread.
class Ledger {
 public:
  // Marks of others are passed over. INVALID_ARGUMENT for one of ours that makes no sense.
  absl::Status Read(absl::string_view mark);

  bool begun() const { return begun_; }
  // By the recording's name.
  const std::map<std::string, Promise>& promises() const { return promises_; }

 private:
  absl::Status ReadAt(absl::string_view text);

  bool begun_ = false;
  std::map<std::string, Promise> promises_;
};

}  // namespace tapedeck::lab
