#include "storage_node/store/stripe/absent_part.h"

#include <utility>

#include "dataplane/reason.h"

namespace tapedeck::storage_node::store::stripe {

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
