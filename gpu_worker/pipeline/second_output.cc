#include "gpu_worker/pipeline/second_output.h"

#include <algorithm>
#include <utility>

#include "dataplane/crc/crc32c.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::pipeline {

using dataplane::Block;
using dataplane::BlockHeader;

namespace {

bool IsMissing(const BlockHeader& header) { return (header.flags & dataplane::kBlockMissing) != 0; }

}  // namespace

SecondOutput::~SecondOutput() {
  plan_.ring->SetWaker(nullptr);
  plan_.outlet->End(absl::OkStatus());
}

void SecondOutput::Start(std::shared_ptr<services::TaskQueue> tasks,
                         std::function<void()> on_done) {
  tasks_ = std::move(tasks);
  on_done_ = std::move(on_done);
  plan_.ring->SetWaker([this, tasks = tasks_] { tasks->Post([this] { on_done_(); }); });
}

absl::StatusOr<bool> SecondOutput::Take(const BlockHeader& header,
                                        std::span<const std::byte> device) {
  const bool missing = IsMissing(header);
  const size_t bytes = missing ? plan_.main_bytes : header.payload_bytes;
  while (taken_ < bytes && !plan_.outlet->closed()) {
    if (!piece_.has_value() && !TakeSlots(header.capture_ns)) return false;
    const size_t some = std::min(bytes - taken_, plan_.bytes_before - piece_->taken);
    if (missing) {
      block_->header().flags |= dataplane::kBlockMissing;
    } else {
      TD_RETURN_IF_ERROR(plan_.work->queue().CopyOnDevice(
          piece_->loan.stage.device.data() + piece_->taken, device.data() + taken_, some));
    }
    piece_->taken += some;
    taken_ += some;
    if (piece_->taken == plan_.bytes_before) TD_RETURN_IF_ERROR(Send(/*end=*/false));
  }
  taken_ = 0;
  return true;
}

bool SecondOutput::End(const absl::Status& status) {
  // status_ has the error, too, and the end below says it.
  if (block_.has_value()) Send(/*end=*/true).IgnoreError();
  if (!underway_.empty()) return false;
  plan_.outlet->End(status.ok() ? status_ : status);
  return true;
}

bool SecondOutput::TakeSlots(int64_t capture_ns) {
  if (!block_.has_value()) {
    block_ = plan_.ring->Take();
    if (!block_.has_value()) return false;
    block_->header().capture_ns = capture_ns;
  }
  auto loan = plan_.work->Lend(block_->memory().subspan(filled_, plan_.piece_bytes));
  if (!loan.has_value()) return false;
  piece_ = Piece{.loan = *std::move(loan)};
  return true;
}

absl::Status SecondOutput::Send(bool end) {
  Piece piece = std::exchange(piece_, std::nullopt).value_or(Piece());
  absl::StatusOr<size_t> payload = piece.taken == 0 ? 0 : plan_.piece_bytes;
  if (piece.taken > 0 && !IsMissing(block_->header())) {
    payload = Enqueue(piece);
    if (payload.ok()) piece.payload = *payload;
  }
  status_.Update(payload.status());
  filled_ += payload.value_or(0);
  if (end || filled_ == plan_.block_bytes) piece.block = EndBlock();
  // Also after a failure: the device may still be at work on the slots.
  underway_.push_back(std::move(piece));
  plan_.work->queue().Then([this, tasks = tasks_](absl::Status status) {
    tasks->Post([this, status = std::move(status)] { Complete(status); });
  });
  return payload.status();
}

absl::StatusOr<size_t> SecondOutput::Enqueue(const Piece& piece) {
  return plan_.work->Enqueue(piece.loan, piece.taken, /*from_host=*/false,
                             /*to_host=*/!plan_.work->direct());
}

Block SecondOutput::EndBlock() {
  Block block = *std::exchange(block_, std::nullopt);
  BlockHeader& header = block.header();
  header.sequence = next_sequence_++;
  header.sample_index = header.sequence * (plan_.block_bytes / plan_.sample_bytes);
  const size_t filled = std::exchange(filled_, 0);
  if (IsMissing(header)) return block;
  header.payload_bytes = static_cast<uint32_t>(filled);
  if (filled < plan_.block_bytes) header.flags |= dataplane::kBlockPartial;
  return block;
}

void SecondOutput::Complete(const absl::Status& status) {
  std::optional<Piece> piece = std::move(underway_.front());
  underway_.pop_front();
  status_.Update(status);
  if (!status_.ok()) {
    plan_.outlet->End(status_);
  } else {
    // The payload is in the ring only now.
    const uint32_t crc = plan_.work->CrcOf(piece->loan, 0, piece->payload);
    crc_ = dataplane::Crc32cCombine(crc_, crc, piece->payload);
    if (piece->block.has_value()) Give(*std::move(piece->block));
  }
  piece.reset();  // its slots are free before the next one
  on_done_();
}

void SecondOutput::Give(Block block) {
  const uint32_t crc = std::exchange(crc_, 0);
  if (!IsMissing(block.header())) block.header().crc32c = crc;
  plan_.outlet->Give(std::move(block));
}

}  // namespace tapedeck::gpu_worker::pipeline
