#include "dataplane/transfer/arriving_payload.h"

namespace tapedeck::dataplane {

void ArrivingPayload::Add(std::span<const std::byte> more) {
  if (!part_.has_value()) part_.emplace(more.data(), piece_bytes_);
  const int64_t begun_ns = clock_.NowNs();
  part_->crcs.Add(more);
  part_->busy_ns += clock_.NowNs() - begun_ns;
}

ArrivingPayload::Checked ArrivingPayload::Complete(std::span<const std::byte> payload) {
  if (part_.has_value() &&
      (part_->begin != payload.data() || part_->crcs.bytes() > payload.size())) {
    part_.reset();
  }
  const size_t checked = part_.has_value() ? part_->crcs.bytes() : 0;
  if (checked < payload.size()) Add(payload.subspan(checked));
  if (!part_.has_value()) return {};  // nothing came
  Checked values{.pieces = part_->crcs.pieces(), .busy_ns = part_->busy_ns};
  part_.reset();
  return values;
}

}  // namespace tapedeck::dataplane
