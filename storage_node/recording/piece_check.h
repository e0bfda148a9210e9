// The check of payloads on arrival, made by pieces and remembered: the CRCs that the index keeps
// cost no second pass over the bytes.
#pragma once

#include <span>
#include <unordered_map>
#include <utility>

#include "dataplane/payload_crc.h"
#include "storage_node/format/pieces.h"

namespace tapedeck::storage_node::recording {

// Shared by a record session, which checks what arrives, and its writer. On the session's executor.
class PieceCheck final : public dataplane::PayloadCrc {
 public:
  explicit PieceCheck(uint32_t piece_bytes) : piece_bytes_(piece_bytes) {}

  void Compute(std::span<const std::byte> payload, Done done) override {
    format::PieceCrcs& pieces = arrived_[payload.data()];
    pieces = format::CrcOfPieces(payload, piece_bytes_);
    done(format::JoinPieces(pieces, payload.size(), piece_bytes_));
  }

  // Of the payload that arrived last at this address; computed now if it was not checked.
  format::PieceCrcs Take(std::span<const std::byte> payload) {
    auto node = arrived_.extract(payload.data());
    return node.empty() ? format::CrcOfPieces(payload, piece_bytes_) : std::move(node.mapped());
  }

 private:
  const uint32_t piece_bytes_;
  // By address: as many as the ring has slots, at most.
  std::unordered_map<const std::byte*, format::PieceCrcs> arrived_;
};

}  // namespace tapedeck::storage_node::recording
