#include "services/session/transfer/resumable_source.h"

#include <iterator>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services::session {

using dataplane::Block;
using dataplane::Flow;

namespace {

void Count(const dataplane::BlockHeader& header, PumpCounts* counts) {
  ++counts->blocks;
  counts->bytes += header.payload_bytes;
  if ((header.flags & dataplane::kBlockMissing) != 0) ++counts->missing;
}

}  // namespace

struct ResumableSource::Shared {
  absl::Mutex mutex;
  dataplane::Waker waker ABSL_GUARDED_BY(mutex);
};

ResumableSource::ResumableSource(std::unique_ptr<dataplane::Source> source)
    : source_(std::move(source)), shared_(std::make_shared<Shared>()) {}

absl::StatusOr<Flow> ResumableSource::Pull(Block* block) {
  if (!again_.empty()) {
    *block = std::move(again_.front());
    again_.pop_front();
    return Flow::kMoved;
  }
  TD_ASSIGN_OR_RETURN(const Flow flow, source_->Pull(block));
  if (flow == Flow::kMoved) Count(block->header(), &given_);
  if (flow == Flow::kEnd) total_ = given_.blocks;
  return flow;
}

void ResumableSource::SetWaker(dataplane::Waker waker) {
  bool first;
  {
    absl::MutexLock lock(&shared_->mutex);
    first = shared_->waker == nullptr;
    shared_->waker = std::move(waker);
  }
  if (!first) return;
  source_->SetWaker([shared = shared_] {
    absl::MutexLock lock(&shared->mutex);
    shared->waker();
  });
}

void ResumableSource::GiveBack(std::vector<Block> blocks) {
  again_.insert(again_.begin(), std::make_move_iterator(blocks.begin()),
                std::make_move_iterator(blocks.end()));
}

void ResumableSource::Forget(uint64_t next) {
  while (!again_.empty() && again_.front().header().sequence < next) again_.pop_front();
}

PumpCounts ResumableSource::settled() const {
  PumpCounts open;
  for (const Block& block : again_) Count(block.header(), &open);
  return {.blocks = given_.blocks - open.blocks,
          .bytes = given_.bytes - open.bytes,
          .missing = given_.missing - open.missing};
}

}  // namespace tapedeck::services::session
