#include "services/formats/mount/recording_bytes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/executor/executor.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::services::mount {
namespace {

// 64 of 1 MiB at most: what a program reads here and there, and ahead.
constexpr size_t kMostPieces = 64;
constexpr uint64_t kPieceSamples = kMostSamples;
constexpr int64_t kAskEveryNs = dataplane::kSecondNs / 2;

}  // namespace

absl::StatusOr<std::unique_ptr<RecordingBytes>> RecordingBytes::Open(
    std::unique_ptr<ViewControl> view, Settings settings) {
  TD_ASSIGN_OR_RETURN(const Timeline timeline, view->GetTimeline(settings.recording));
  const auto type = dataplane::ParseDatatype(timeline.datatype);
  if (!type.ok()) return DatatypeInvalid(timeline.datatype, type.status().message());
  auto bytes = std::unique_ptr<RecordingBytes>(
      new RecordingBytes(std::move(view), std::move(settings), type->bytes_per_sample()));
  TD_RETURN_IF_ERROR(bytes->Refresh().status());
  return bytes;
}

absl::StatusOr<Timeline> RecordingBytes::Refresh() {
  const int64_t now_ns = settings_.clock->NowNs();
  TD_ASSIGN_OR_RETURN(Timeline timeline, view_->GetTimeline(settings_.recording));
  const bool grows = timeline.state == RecordingState::kRecording;
  absl::MutexLock lock(&mutex_);
  grows_ = grows;
  samples_ = grows ? std::max(samples_, timeline.durable_samples) : timeline.samples;
  asked_ns_ = now_ns;
  return timeline;
}

absl::StatusOr<uint64_t> RecordingBytes::Size() {
  bool stale = false;
  {
    absl::MutexLock lock(&mutex_);
    stale = grows_ && settings_.clock->NowNs() - asked_ns_ > kAskEveryNs;
  }
  if (stale) TD_RETURN_IF_ERROR(Refresh().status());
  absl::MutexLock lock(&mutex_);
  return samples_ * sample_bytes_;
}

absl::StatusOr<size_t> RecordingBytes::Read(uint64_t offset, std::span<std::byte> into) {
  TD_ASSIGN_OR_RETURN(const uint64_t size, Size());
  if (offset >= size) return size_t{0};
  const size_t wanted = std::min<uint64_t>(into.size(), size - offset);
  const uint64_t piece_bytes = kPieceSamples * sample_bytes_;
  for (size_t done = 0; done < wanted;) {
    const uint64_t at = offset + done;
    const uint64_t number = at / piece_bytes;
    const uint64_t begin = at % piece_bytes;
    const size_t bytes = std::min<uint64_t>(wanted - done, piece_bytes - begin);
    const uint64_t end_sample = (begin + bytes + sample_bytes_ - 1) / sample_bytes_;
    TD_ASSIGN_OR_RETURN(const auto piece, Find(number, end_sample));
    if (piece->bytes.size() < begin + bytes) {
      return ProtocolViolation({.message = "Timeline", .field = "samples"},
                               "the recording has become shorter");
    }
    TD_RETURN_IF_ERROR(CheckWhole(*piece, begin / sample_bytes_, end_sample));
    std::ranges::copy(std::as_bytes(std::span(piece->bytes)).subspan(begin, bytes),
                      into.begin() + static_cast<std::ptrdiff_t>(done));
    done += bytes;
  }
  return wanted;
}

// With so many samples at least: the last piece of a recording that grows is asked for again.
absl::StatusOr<std::shared_ptr<const RecordingBytes::Piece>> RecordingBytes::Find(
    uint64_t number, uint64_t samples) {
  uint64_t all = 0;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = std::ranges::find_if(
        pieces_, [number](const auto& piece) { return piece->number == number; });
    if (found != pieces_.end() && (*found)->bytes.size() >= samples * sample_bytes_) {
      pieces_.splice(pieces_.begin(), pieces_, found);
      return pieces_.front();
    }
    if (found != pieces_.end()) pieces_.erase(found);
    all = samples_;
  }
  const uint64_t first = number * kPieceSamples;
  const uint64_t count = std::min(kPieceSamples, all - std::min(all, first));
  TD_ASSIGN_OR_RETURN(Samples read, view_->ReadSamples({.recording = settings_.recording,
                                                        .span = {.first = first, .count = count},
                                                        .raw = true}));
  if (read.bytes.size() != count * sample_bytes_ || read.span.first != first) {
    return ProtocolViolation({.message = "Samples", .field = "samples"},
                             "the storage node sent other samples than requested");
  }
  auto piece = std::make_shared<const Piece>(
      Piece{.number = number, .bytes = std::move(read.bytes), .missing = std::move(read.missing)});
  if (!piece->missing.empty()) return piece;  // it may be mended meanwhile
  absl::MutexLock lock(&mutex_);
  pieces_.push_front(piece);
  if (pieces_.size() > kMostPieces) pieces_.pop_back();
  return piece;
}

// Samples count from the piece's first.
absl::Status RecordingBytes::CheckWhole(const Piece& piece, uint64_t first, uint64_t end) const {
  if (settings_.gaps) return absl::OkStatus();
  const uint64_t begin = piece.number * kPieceSamples;
  for (const SampleSpan& gap : piece.missing) {
    if (gap.first >= begin + end || gap.end() <= begin + first) continue;
    return BlockDamaged({.recording = settings_.recording, .blocks = 1},
                        absl::StrCat(settings_.recording, ": samples from ", gap.first,
                                     " on are missing or damaged"));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::services::mount
