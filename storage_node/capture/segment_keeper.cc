#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "storage_node/capture/segment_sink.h"

namespace tapedeck::storage_node::capture {
namespace {

// Of the past; what is older cannot be kept by a trigger.
constexpr size_t kMaxRanges = 4096;

// Triggers whose samples are to come.
constexpr size_t kMaxAhead = 64;

services::Annotation MarkOf(uint64_t sample, const services::Trigger& trigger) {
  return {.sample_start = sample, .label = trigger.label, .comment = trigger.comment};
}

}  // namespace

void SegmentKeeper::OnSegment(uint64_t number, const std::string& recording,
                              std::shared_ptr<recording::LiveRecording> live) {
  ranges_.push_back({.number = number, .recording = recording, .live = std::move(live)});
  if (ranges_.size() > kMaxRanges) ranges_.pop_front();
}

void SegmentKeeper::OnBlock(uint64_t number, const dataplane::BlockHeader& header) {
  if (ranges_.empty() || number < ranges_.front().number) return;
  Range& range = ranges_[number - ranges_.front().number];
  if (newest_end_ == 0) PlaceAtFirst(header.sample_index);
  range.first_sample = std::min(range.first_sample, header.sample_index);
  range.end_sample = std::max(range.end_sample, options_.window.EndOf(header));
  newest_end_ = std::max(newest_end_, range.end_sample);
  if (range.first_sample < keep_until_ && !range.live->kept()) range.live->Keep(true);
  auto one = ahead_.lower_bound(header.sample_index);
  while (one != ahead_.end() && one->first < options_.window.EndOf(header)) {
    range.live->Annotate(MarkOf(one->first, one->second));
    one = ahead_.erase(one);
  }
}

void SegmentKeeper::OnClosed(uint64_t number) {
  if (ranges_.empty() || number < ranges_.front().number) return;
  ranges_[number - ranges_.front().number].live = nullptr;
  uint64_t passed = 0;
  for (const Range& range : ranges_) {
    if (range.live != nullptr) break;
    passed = std::max(passed, range.end_sample);
  }
  ForgetUntil(ahead_.lower_bound(passed));
}

void SegmentKeeper::OnEnd() { ForgetUntil(ahead_.end()); }

void SegmentKeeper::ForgetUntil(std::multimap<uint64_t, services::Trigger>::iterator end) {
  const auto triggers = static_cast<size_t>(std::distance(ahead_.begin(), end));
  if (triggers > 0) LogNotCome(ahead_.begin()->first, triggers);
  ahead_.erase(ahead_.begin(), end);
}

void SegmentKeeper::PlaceAtFirst(uint64_t sample) {
  for (auto one = ahead_.begin(); one != ahead_.end() && one->first < sample;) {
    const auto placed = one++;
    if (placed->second.sample.has_value()) continue;
    ahead_.emplace(sample, std::move(placed->second));
    ahead_.erase(placed);
    keep_until_ = std::max(keep_until_, options_.window.Around(sample).end_sample);
  }
}

// False if it is gone.
bool SegmentKeeper::KeepOne(const Range& range, const services::Trigger& trigger,
                            Caught* caught) const {
  const bool writing = range.live != nullptr && range.live->closed() == nullptr;
  auto pin = options_.pin(range.recording, writing);
  if (pin == nullptr) return false;
  caught->pins.push_back(std::move(pin));
  services::Capture& capture = caught->capture;
  if (range.live != nullptr && range.live->Keep(true)) {
    caught->told.emplace_back(range.recording, range.live);
  } else {
    caught->to_keep.push_back(range.recording);
  }
  const uint64_t sample = capture.trigger_sample;
  if (range.first_sample <= sample && sample < range.end_sample) {
    const bool marked = range.live != nullptr && range.live->Annotate(MarkOf(sample, trigger));
    if (!marked) caught->to_mark = range.recording;
  }
  if (capture.recordings.empty()) {
    capture.first_sample = range.first_sample;
    capture.recording = range.recording;
  }
  capture.recordings.push_back(range.recording);
  caught->ends.push_back(range.end_sample);
  return true;
}

absl::Status SegmentKeeper::CheckTakes(const services::Trigger& trigger) const {
  if (trigger.sample.value_or(0) < newest_end_ || ahead_.size() < kMaxAhead) {
    return absl::OkStatus();
  }
  return services::LimitReached(absl::StrCat(kMaxAhead), "waiting triggers",
                                "trigger: too many triggers wait for their samples; try again");
}

Caught SegmentKeeper::Keep(const services::Trigger& trigger) {
  const uint64_t sample = trigger.sample.value_or(newest_end_ == 0 ? 0 : newest_end_ - 1);
  if (sample >= newest_end_) ahead_.emplace(sample, trigger);
  Caught caught{.capture = options_.window.Around(sample)};
  services::Capture& capture = caught.capture;
  keep_until_ = std::max(keep_until_, capture.end_sample);
  for (const Range& range : ranges_) {
    if (range.end_sample <= capture.first_sample || range.first_sample >= capture.end_sample) {
      continue;
    }
    if (KeepOne(range, trigger, &caught)) continue;
    // It was deleted for want of room, and so was all before it.
    capture.first_sample = range.end_sample;
  }
  return caught;
}

}  // namespace tapedeck::storage_node::capture
