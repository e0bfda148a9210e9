#include "gpu_worker/stages/ingest/signal_marks.h"

#include <iterator>

#include "services/signal/vita49/signal_text.h"

namespace tapedeck::gpu_worker::stages::ingest {

using services::vita49::kSignalLabel;

void SignalMarks::Tell(uint64_t position, const std::string& text) {
  recent_.emplace_back(position, text);
  if (recent_.size() > kRecent) recent_.pop_front();
  const auto next = told_.upper_bound(position);
  if (next != told_.begin() && std::prev(next)->second == text) return;
  const uint64_t end = next == told_.end() ? UINT64_MAX : next->first;
  Mark(position, text);
  // One that came before this one, and seemed to be what still held, ends it.
  const std::pair<uint64_t, std::string>* back = nullptr;
  for (const auto& one : recent_) {
    const bool behind = one.first > position && one.first < end && one.second != text;
    if (behind && (back == nullptr || one.first < back->first)) back = &one;
  }
  if (back != nullptr) Mark(back->first, back->second);
}

void SignalMarks::TellClockStep(uint64_t position, double step_s) {
  if (told_.size() + steps_ >= kMost) {
    ++counts_->untold;
    return;
  }
  ++steps_;
  report_->Mark({.sample_start = position,
                 .label = services::vita49::kClockStepLabel,
                 .comment = services::vita49::StepTextOf(step_s)});
}

void SignalMarks::Mark(uint64_t position, const std::string& text) {
  if (told_.size() + steps_ >= kMost) {
    ++counts_->untold;
    return;
  }
  told_.insert_or_assign(position, text);
  report_->Mark({.sample_start = position, .label = kSignalLabel, .comment = text});
}

}  // namespace tapedeck::gpu_worker::stages::ingest
