// Where a store whose members are no directories keeps what they say of their LUN, so that it is
// found again without the node that made it.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::storage_node::store {

struct Note {
  uint64_t generation = 0;  // 0: none was written yet
  std::string text;         // format::LunNote
};

// One text on every member. Any thread, one at a time; waits for the disk.
class Notebook {
 public:
  virtual ~Notebook() = default;
  // The newest there is. DATA_LOSS: there is one, and it cannot be read.
  virtual absl::StatusOr<Note> ReadNote() = 0;
  // Durable; after a crash the old one or this. `generation` is one more than that which was read.
  virtual absl::Status WriteNote(const Note& note) = 0;
};

// Notes what the member's LUN is from now on; its channels stay, below the LUN's name of now.
// Errors of both calls; DATA_LOSS: the note is damaged.
absl::Status Describe(Notebook& notebook, const services::Lun& lun);

}  // namespace tapedeck::storage_node::store
