#include "dataplane/transfer/arrival_crcs.h"

#include <algorithm>
#include <utility>

namespace tapedeck::dataplane {

void ArrivalCrcs::Arrived(std::span<const std::byte> payload, PieceCrcs pieces,
                          const Executor* poller, int64_t busy_ns) {
  arrived_[payload.data()] = {.pieces = std::move(pieces), .fresh = true};
  busy_ns_[poller] += busy_ns;
}

void ArrivalCrcs::Compute(std::span<const std::byte> payload, Done done) {
  Entry& entry = arrived_[payload.data()];
  if (!std::exchange(entry.fresh, false)) entry.pieces = CrcOfPieces(payload, piece_bytes_);
  done(JoinPieces(entry.pieces, payload.size(), piece_bytes_));
}

PieceCrcs ArrivalCrcs::Take(std::span<const std::byte> payload) {
  auto entry = arrived_.extract(payload.data());
  return entry.empty() ? CrcOfPieces(payload, piece_bytes_) : std::move(entry.mapped().pieces);
}

int64_t ArrivalCrcs::busy_ns() const {
  int64_t most_ns = 0;
  for (const auto& [poller, ns] : busy_ns_) most_ns = std::max(most_ns, ns);
  return most_ns;
}

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
