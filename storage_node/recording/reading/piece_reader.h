// Reads the good pieces of a block whose payload cannot be read whole, or has changed. It reads
// each piece by itself, from each copy. A piece is good if it has its CRC from the index.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "dataplane/block/block.h"
#include "dataplane/memory/slot_pool.h"
#include "storage_node/format/identity.h"
#include "storage_node/format/index.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::recording {

// One block at a time, with one slot of the ring at a time, and meanwhile memory of its own for the
// block, 8 MiB at most. Lives on the executor of its files.
class PieceReader {
 public:
  // A block with the good pieces, zeros in place of the others, and in its header the payload's
  // size and CRC; or none, if no piece is good.
  using Done = absl::AnyInvocable<void(std::optional<dataplane::Block>)>;

  // `files` and `ring` outlive it. The ring's owner calls Pump when a slot is free again.
  PieceReader(store::DataFiles& files, dataplane::SlotPool& ring, uint32_t piece_bytes)
      : files_(files), ring_(ring), piece_bytes_(piece_bytes) {}

  bool busy() const { return done_ != nullptr; }

  // Not while it is busy. `done` is called once, not before this has returned.
  void Read(format::Place place, const format::IndexEntry& entry, Done done);

  // Goes on where there was no slot.
  void Pump();

 private:
  void OnPiece(absl::StatusOr<dataplane::Block> piece);
  void Finish();

  store::DataFiles& files_;
  dataplane::SlotPool& ring_;
  const uint32_t piece_bytes_;
  format::Place place_;
  format::IndexEntry entry_;
  Done done_;
  std::vector<std::byte> payload_;
  size_t next_ = 0;    // piece
  uint32_t copy_ = 0;  // of it
  size_t good_ = 0;
  bool reading_ = false;
};

}  // namespace tapedeck::storage_node::recording
