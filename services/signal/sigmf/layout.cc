#include "services/signal/sigmf/layout.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/signal/sigmf/core_keys.h"

namespace tapedeck::services::sigmf {
namespace {

using nlohmann::json;

// What is missing takes an entry of the index for each block.
constexpr uint64_t kMostMissingBytes = uint64_t{64} << 30;
constexpr long double kLeastSlackNs = 1e6L;
constexpr long double kClockError = 1e-4L;
constexpr size_t kMaxTimeTextBytes = 64;

struct Capture {
  size_t number = 0;
  uint64_t start = 0;  // in the file
  uint64_t header_bytes = 0;
  std::optional<uint64_t> index;
  std::optional<Datetime> time;

  std::string Key(absl::string_view key) const {
    return absl::StrCat("captures[", number, "].", key, ": ");
  }
};

class LayoutReader {
 public:
  LayoutReader(const SigmfRecording& meta, uint64_t data_bytes, uint64_t sample_bytes, double rate)
      : path_(meta.path),
        global_(meta.object.at("global")),
        sample_bytes_(sample_bytes),
        rate_(rate),
        bytes_(data_bytes) {}

  absl::StatusOr<Layout> Read(const json& list) {
    const uint64_t trailing = CountIn(global_, "core:trailing_bytes").value_or(0);
    if (trailing > bytes_) {
      return Refused(absl::StrCat("global.core:trailing_bytes: ", trailing, " of ", bytes_,
                                  " bytes of the data"));
    }
    bytes_ -= trailing;
    TD_ASSIGN_OR_RETURN(const std::vector<Capture> captures, CapturesIn(list));
    for (const Capture& one : captures) {
      TD_ASSIGN_OR_RETURN(const bool there, Place(one));
      if (!there) break;
    }
    const size_t beyond = captures.size() - out_.captures.size();
    if (beyond > 0) {
      out_.notes.push_back(MakeNote(
          "SIGMF_CAPTURES_BEYOND",
          absl::StrCat("the data ends before the last ", beyond, " captures, which are left out"),
          {{"captures", absl::StrCat(beyond)}}));
    }
    return End();
  }

 private:
  absl::Status Refused(absl::string_view why) const { return files::Invalid(path_, why); }

  absl::StatusOr<std::vector<Capture>> CapturesIn(const json& list) {
    const uint64_t offset = CountIn(global_, "core:offset").value_or(0);
    out_.first_index = offset;
    std::vector<Capture> captures;
    size_t unzoned = 0;
    size_t leaps = 0;
    for (const json& object : list) {
      Capture one{.number = captures.size(),
                  .start = *CountIn(object, "core:sample_start"),
                  .header_bytes = CountIn(object, "core:header_bytes").value_or(0),
                  .index = CountIn(object, "core:global_index")};
      if (one.start < offset) {
        return Refused(absl::StrCat(one.Key("core:sample_start"), one.start,
                                    " is below core:offset, ", offset));
      }
      one.start -= offset;
      if (!captures.empty() && one.start < captures.back().start) {
        return Refused(absl::StrCat(one.Key("core:sample_start"), one.start + offset,
                                    " is below that of the capture before it"));
      }
      TD_RETURN_IF_ERROR(TakeTime(TextIn(object, "core:datetime"), &one));
      if (one.time.has_value() && !one.time->zoned) ++unzoned;
      if (one.time.has_value() && one.time->leap) ++leaps;
      captures.push_back(one);
    }
    if (unzoned > 0) {
      NoteTimes("TIME_WITHOUT_ZONE", unzoned, captures.size(), "names no zone: it is taken as UTC");
    }
    if (leaps > 0) {
      NoteTimes("LEAP_SECOND", leaps, captures.size(),
                "lies in a leap second: it is taken as one in the second behind it");
    }
    return captures;
  }

  void NoteTimes(absl::string_view code, size_t times, size_t captures, absl::string_view what) {
    out_.notes.push_back(
        MakeNote(code, absl::StrCat(times, " core:datetime of ", captures, " captures ", what),
                 {{"times", absl::StrCat(times)}, {"of", absl::StrCat(captures)}}));
  }

  absl::Status TakeTime(const std::optional<std::string>& text, Capture* capture) {
    if (!text.has_value()) return absl::OkStatus();
    capture->time = ParseDatetime(*text);
    if (capture->time.has_value()) return absl::OkStatus();
    return Refused(absl::StrCat(
        capture->Key("core:datetime"), "\"", dataplane::Printable(*text, kMaxTimeTextBytes),
        "\" is not a time from 1823 to 2116 like 2024-01-02T03:04:05.678Z"));
  }

  // False: the data ends before it.
  absl::StatusOr<bool> Place(const Capture& capture) {
    const uint64_t samples = capture.start - now_.file_sample;
    const uint64_t left = bytes_ - now_.byte;
    if (samples > left / sample_bytes_) return false;
    if (capture.header_bytes > left - samples * sample_bytes_) {
      bytes_ = now_.byte + samples * sample_bytes_;  // the rest is of a header that is cut
      return false;
    }
    const uint64_t here = now_.sample + samples;
    TD_ASSIGN_OR_RETURN(const uint64_t missing, MissingBefore(capture, here));
    TD_RETURN_IF_ERROR(AddMissing(capture, here, missing));
    if (missing > 0 || capture.header_bytes > 0) {
      now_.samples = samples;
      if (samples > 0) out_.stretches.push_back(now_);
      now_ = {.sample = here + missing,
              .file_sample = capture.start,
              .byte = now_.byte + samples * sample_bytes_ + capture.header_bytes};
    }
    out_.captures.push_back({.number = capture.number, .sample = here + missing});
    NoteTime(capture, here + missing, &out_.captures.back());
    return true;
  }

  absl::StatusOr<uint64_t> MissingBefore(const Capture& capture, uint64_t here) {
    if (!capture.index.has_value()) return MissingByTime(capture, here);
    if (!based_ && *capture.index >= here) {
      based_ = true;
      out_.first_index = *capture.index - here;
    }
    if (*capture.index < here || *capture.index - here < out_.first_index) {
      return Refused(absl::StrCat(capture.Key("core:global_index"), *capture.index,
                                  " names a sample before the capture"));
    }
    return *capture.index - here - out_.first_index;
  }

  uint64_t MissingByTime(const Capture& capture, uint64_t here) {
    if (!capture.time.has_value() || !known_.has_value() || !(rate_ > 0)) return 0;
    const auto lasted_ns = static_cast<long double>(here - known_->sample) * 1e9L / rate_;
    const auto apart_ns =
        static_cast<long double>(capture.time->time_ns) - static_cast<long double>(known_->time_ns);
    const long double late_ns = apart_ns - lasted_ns;
    const long double grain_ns =
        static_cast<long double>(capture.time->grain_ns + known_->grain_ns);
    const long double slack_ns = std::max({kLeastSlackNs, grain_ns, kClockError * lasted_ns});
    if (late_ns <= slack_ns) return 0;
    known_.reset();  // the next times count from this one
    const long double missing = late_ns * rate_ / 1e9L;
    return missing < static_cast<long double>(kMostSamples)
               ? static_cast<uint64_t>(std::llround(missing))
               : kMostSamples;
  }

  absl::Status AddMissing(const Capture& capture, uint64_t here, uint64_t missing) {
    if (missing == 0) return absl::OkStatus();
    missing_ += missing;
    if (missing_ > kMostMissingBytes / sample_bytes_) {
      return Refused(absl::StrCat("captures[", capture.number, "] begins ", missing,
                                  " samples after the one before it has ended; no more than ",
                                  kMostMissingBytes >> 30,
                                  " GiB may be missing: make a file of each capture"));
    }
    out_.gaps.push_back({.first = here, .count = missing});
    return absl::OkStatus();
  }

  // The first known time is the start's.
  void NoteTime(const Capture& capture, uint64_t sample, PlacedCapture* placed) {
    if (!capture.time.has_value()) return;
    if (sample > 0 && !(rate_ > 0)) ++unheld_;
    const int64_t time_ns = capture.time->time_ns;
    if (!known_.has_value()) {
      known_ = {.sample = sample, .time_ns = time_ns, .grain_ns = capture.time->grain_ns};
    }
    if (!timed_) {
      timed_ = true;
      out_.start_time_ns = model::TimeBefore(time_ns, sample, rate_);
    }
    const auto by_start = model::TimeAfter(out_.start_time_ns, sample, rate_);
    placed->odd_time = !by_start.has_value() || std::abs(*by_start - time_ns) > 1;
  }

  absl::StatusOr<Layout> End() {
    const uint64_t left = bytes_ - now_.byte;
    now_.samples = left / sample_bytes_;
    if (now_.samples > 0) out_.stretches.push_back(now_);
    if (out_.stretches.empty()) return Refused("there are no samples");
    if (left % sample_bytes_ > 0) {
      const uint64_t cut = left % sample_bytes_;
      out_.notes.push_back(
          MakeNote("PARTIAL_SAMPLE",
                   absl::StrCat("the last ", cut, " bytes are not a whole sample and are left out"),
                   {{"bytes", absl::StrCat(cut)}}));
    }
    if (unheld_ > 0) {
      out_.notes.push_back(MakeNote("TIMES_NOT_COMPARED",
                                    absl::StrCat(unheld_,
                                                 " core:datetime after the first sample are not "
                                                 "checked, since core:sample_rate is missing"),
                                    {{"times", absl::StrCat(unheld_)}}));
    }
    const Stretch& last = out_.stretches.back();
    out_.file_samples = last.file_sample + last.samples;
    out_.samples = last.sample + last.samples;
    while (!out_.gaps.empty() && out_.gaps.back().first >= out_.samples) out_.gaps.pop_back();
    if (out_.samples <= kMostSamples && out_.first_index <= kMostSamples) return std::move(out_);
    return Refused("it has more samples than a recording can have");
  }

  struct Known {
    uint64_t sample = 0;
    int64_t time_ns = 0;
    int64_t grain_ns = 0;
  };

  const std::string& path_;
  const json& global_;
  const uint64_t sample_bytes_;
  const double rate_;
  uint64_t bytes_;              // of the data, without what trails
  Stretch now_;                 // the last one so far
  std::optional<Known> known_;  // a sample's time, by which later ones are judged
  bool timed_ = false;
  bool based_ = false;  // a core:global_index was there
  uint64_t missing_ = 0;
  size_t unheld_ = 0;  // times, for want of a rate
  Layout out_;
};

}  // namespace

uint64_t Layout::PlaceOf(uint64_t file_sample) const {
  const auto after = std::ranges::upper_bound(stretches, file_sample, {}, &Stretch::file_sample);
  const Stretch& in = after == stretches.begin() ? stretches.front() : *std::prev(after);
  return in.sample + (file_sample - std::min(file_sample, in.file_sample));
}

absl::StatusOr<Layout> ReadLayout(const SigmfRecording& meta, uint64_t data_bytes,
                                  uint64_t sample_bytes, double rate) {
  const auto list = meta.object.find("captures");
  const bool none = list == meta.object.end() || list->is_null();
  return LayoutReader(meta, data_bytes, sample_bytes, rate).Read(none ? json::array() : *list);
}

}  // namespace tapedeck::services::sigmf
