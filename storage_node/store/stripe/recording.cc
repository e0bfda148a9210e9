#include "storage_node/store/stripe/recording.h"

#include <algorithm>
#include <utility>

#include "dataplane/reason.h"

namespace tapedeck::storage_node::store::stripe {
namespace {

// One callback for each of `parts`: the last to be called calls `done` with the first error. All
// parts answer on the same executor.
std::vector<Done> Joins(size_t parts, Done done) {
  struct State {
    size_t left;
    Done done;
    absl::Status status;
  };
  auto state = std::make_shared<State>(State{.left = parts, .done = std::move(done), .status = {}});
  std::vector<Done> joins;
  for (size_t i = 0; i < parts; ++i) {
    joins.emplace_back([state](const absl::Status& status) {
      state->status.Update(status);
      if (--state->left == 0) state->done(state->status);
    });
  }
  return joins;
}

// The place as the part sees it, which has one member.
format::Place Within(format::Place place) { return {.member = 0, .offset = place.offset}; }

}  // namespace

void StripedRecording::WriteBlock(format::Place place, dataplane::Block block, BlockDone done) {
  parts_[place.member]->WriteBlock(Within(place), std::move(block), std::move(done));
}

bool StripedRecording::ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                                 BlockRead done) {
  return parts_[place.member]->ReadBlock(Within(place), bytes, ring, std::move(done));
}

void StripedRecording::Flush(Done done) {
  auto joins = Joins(parts_.size(), std::move(done));
  for (size_t m = 0; m < parts_.size(); ++m) parts_[m]->Flush(std::move(joins[m]));
}

void StripedRecording::Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) {
  auto joins = Joins(parts_.size(), std::move(done));
  for (size_t m = 0; m < parts_.size(); ++m) {
    const uint64_t index_end = m < index_copies() ? index_bytes : 0;
    parts_[m]->Trim({data_bytes[m]}, index_end, std::move(joins[m]));
  }
}

uint32_t StripedRecording::index_copies() const {
  return std::min(static_cast<uint32_t>(parts_.size()), format::kMaxIndexCopies);
}

void StripedRecording::WriteIndex(uint32_t copy, uint64_t offset, Bytes bytes, Done done) {
  parts_[copy]->WriteIndex(0, offset, std::move(bytes), std::move(done));
}

void StripedRecording::ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, BytesRead done) {
  parts_[copy]->ReadIndex(0, offset, bytes, std::move(done));
}

void StripedRecording::WriteManifest(std::string text, Done done) {
  auto joins = Joins(parts_.size(), std::move(done));
  for (size_t m = 0; m < parts_.size(); ++m) parts_[m]->WriteManifest(text, std::move(joins[m]));
}

void StripedRecording::ReadManifest(uint32_t copy, TextRead done) {
  parts_[copy]->ReadManifest(0, std::move(done));
}

void StripedRecording::OnLost(Done lost) {
  const auto first = std::make_shared<Done>(std::move(lost));
  for (const auto& part : parts_) {
    part->OnLost([first](const absl::Status& why) {
      if (Done tell = std::exchange(*first, nullptr)) tell(why);
    });
  }
}

void AbsentPart::WriteBlock(format::Place /*place*/, dataplane::Block block, BlockDone done) {
  executor_.Post(lifetime_.Guard([done = std::move(done), block = std::move(block),
                                  why = why_]() mutable { done(why, std::move(block)); }));
}

// Without a payload there is nothing to read.
bool AbsentPart::ReadBlock(format::Place /*place*/, uint32_t bytes, dataplane::SlotPool& ring,
                           BlockRead done) {
  absl::StatusOr<dataplane::Block> read = why_;
  if (bytes == 0) {
    auto block = ring.Take();
    if (!block.has_value()) return false;
    block->header().payload_bytes = 0;
    read = *std::move(block);
  }
  Answer(std::move(done), std::move(read));
  return true;
}

void AbsentPart::ReadIndex(uint32_t /*copy*/, uint64_t /*offset*/, size_t /*bytes*/,
                           BytesRead done) {
  const absl::Status gone = dataplane::Recoded(absl::StatusCode::kDataLoss, why_);
  Answer(std::move(done), absl::StatusOr<Bytes>(gone));
}

void AbsentPart::ReadManifest(uint32_t /*copy*/, TextRead done) {
  Answer(std::move(done), absl::StatusOr<std::string>(absl::NotFoundError(why_.message())));
}

}  // namespace tapedeck::storage_node::store::stripe
