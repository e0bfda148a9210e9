#include "gpu_worker/stages/ingest/news.h"

#include <iterator>

#include "gpu_worker/packets/vita49/signal_text.h"

namespace tapedeck::gpu_worker::stages::ingest {

using packets::vita49::kSignalLabel;

void News::Tell(uint64_t position, const std::string& text) {
  const auto next = told_.upper_bound(position);
  if (next != told_.begin() && std::prev(next)->second == text) return;
  if (told_.size() >= kMost) {
    ++counts_->untold;
    return;
  }
  told_.insert_or_assign(position, text);
  remarks_->Mark({.sample_start = position, .label = kSignalLabel, .comment = text});
}

}  // namespace tapedeck::gpu_worker::stages::ingest
