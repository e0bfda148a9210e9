#include "storage_node/recording/reading/piece_reader.h"

#include <algorithm>
#include <utility>

#include "dataplane/crc/crc32c.h"

namespace tapedeck::storage_node::recording {

void PieceReader::Read(format::Place place, const format::IndexEntry& entry, Done done) {
  place_ = place;
  entry_ = entry;
  done_ = std::move(done);
  payload_.assign(entry.payload_bytes, std::byte{0});
  next_ = good_ = 0;
  copy_ = 0;
  Pump();
}

void PieceReader::Pump() {
  if (!busy() || reading_) return;
  const uint64_t begin = next_ * piece_bytes_;
  if (begin >= entry_.payload_bytes) return Finish();
  const format::Place place{.member = place_.member, .offset = place_.offset + begin};
  const uint64_t bytes = std::min<uint64_t>(piece_bytes_, entry_.payload_bytes - begin);
  reading_ = files_.ReadBlockCopy(
      copy_, place, static_cast<uint32_t>(bytes), ring_,
      [this](absl::StatusOr<dataplane::Block> piece) { OnPiece(std::move(piece)); });
}

void PieceReader::OnPiece(absl::StatusOr<dataplane::Block> piece) {
  reading_ = false;
  const size_t number = next_;
  const bool good = piece.ok() && number < entry_.pieces.size() &&
                    dataplane::Crc32c(piece->payload()) == entry_.pieces[number];
  if (good || ++copy_ >= files_.block_copies()) {
    copy_ = 0;
    ++next_;
  }
  if (good) {
    std::ranges::copy(piece->payload(), payload_.begin() + number * piece_bytes_);
    ++good_;
  }
  if (piece.ok()) piece->Reset();  // the next needs the slot
  Pump();
}

void PieceReader::Finish() {
  std::optional<dataplane::Block> block;
  if (good_ > 0) {
    block = ring_.Take();
    if (!block.has_value()) return;  // until a slot is free
    std::ranges::copy(payload_, block->memory().begin());
    block->header().payload_bytes = entry_.payload_bytes;
    block->header().crc32c = dataplane::Crc32c(payload_);
  }
  payload_ = {};
  std::exchange(done_, nullptr)(std::move(block));
}

}  // namespace tapedeck::storage_node::recording
