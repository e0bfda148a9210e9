#include "services/signal/vita49/context_history.h"

#include <algorithm>
#include <iterator>

#include "services/model/recording/lost.h"
#include "services/signal/vita49/signal_text.h"

namespace tapedeck::services::vita49 {
namespace {

// One with words of its own spans several losses, and samples that are there.
bool IsLoss(const Annotation& annotation) {
  return model::IsMark(annotation, model::kLostLabel) && annotation.comment.empty() &&
         annotation.sample_count > 0 &&
         annotation.sample_start <= UINT64_MAX - annotation.sample_count;
}

template <typename Map>
uint64_t KeyBehind(const Map& map, uint64_t key) {
  const auto next = map.upper_bound(key);
  return next == map.end() ? UINT64_MAX : next->first;
}

}  // namespace

ContextHistory::ContextHistory(std::span<const Annotation> annotations) {
  std::map<uint64_t, uint64_t> losses;
  for (const Annotation& annotation : annotations) {
    if (IsLoss(annotation)) {
      uint64_t& end = losses[annotation.sample_start];
      end = std::max(end, annotation.sample_start + annotation.sample_count);
    } else if (model::IsMark(annotation, kSignalLabel) && annotation.sample_count == 0) {
      const auto context = ContextOf(annotation.comment);
      if (context.has_value()) changes_.insert_or_assign(annotation.sample_start, *context);
    }
  }
  for (const auto& [begin, end] : losses) {
    if (losses_.empty() || std::prev(losses_.end())->second < begin) {
      losses_.emplace(begin, end);
    } else {
      uint64_t& last = std::prev(losses_.end())->second;
      last = std::max(last, end);
    }
  }
}

const Context* ContextHistory::At(uint64_t sample) const {
  const auto next = changes_.upper_bound(sample);
  return next == changes_.begin() ? nullptr : &std::prev(next)->second;
}

uint64_t ContextHistory::ChangeBehind(uint64_t sample) const { return KeyBehind(changes_, sample); }

uint64_t ContextHistory::EndOfLoss(uint64_t sample) const {
  const auto next = losses_.upper_bound(sample);
  return next == losses_.begin() ? sample : std::max(sample, std::prev(next)->second);
}

uint64_t ContextHistory::LossBehind(uint64_t sample) const { return KeyBehind(losses_, sample); }

}  // namespace tapedeck::services::vita49
