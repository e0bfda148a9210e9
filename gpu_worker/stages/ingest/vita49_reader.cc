#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gpu_worker/stages/ingest/packet.h"
#include "services/model/recording/sample_time.h"
#include "services/signal/vita49/packet.h"
#include "services/signal/vita49/sample_clock.h"
#include "services/signal/vita49/signal_text.h"
#include "services/signal/vita49/stream_clock.h"

namespace tapedeck::gpu_worker::stages::ingest::vita49 {

using services::model::TimeAfter;
using services::model::TimeBefore;
using services::vita49::Arrival;
using services::vita49::Decoded;
using services::vita49::FirstSampleFrom;
using services::vita49::Fraction;
using services::vita49::kWordBytes;
using services::vita49::Time;

namespace {

// Contexts that are remembered until there are samples. A device may send them for hours before.
constexpr size_t kMostEarly = 64;

class VitaReader final : public PacketReader {
 public:
  explicit VitaReader(const StreamSettings& settings)
      : sample_bytes_(settings.sample_bytes),
        datatype_(settings.datatype),
        sample_rate_(settings.sample_rate),
        clock_(settings.sample_rate),
        at_ns_(settings.at_ns),
        from_first_(settings.from_first),
        stream_(settings.stream) {}

  size_t prefix_bytes() const override { return kWordBytes; }

  std::optional<size_t> SizeOf(std::span<const std::byte> prefix) const override {
    return services::vita49::SizeOf(prefix);
  }

  Packet Read(std::span<const std::byte> packet, const SoFar& so_far) override {
    const auto decoded = services::vita49::Decode(packet);
    if (!decoded.has_value()) return {.is = Packet::Is::kMalformed};
    if (stream_.has_value() && decoded->stream != stream_) return {.is = Packet::Is::kForeign};
    const Arrival arrival{.silent_ns = so_far.silent_ns, .pace = so_far.pace};
    if (decoded->context.has_value()) return ReadContext(*decoded, arrival);
    if (decoded->samples.empty() || decoded->samples.size() % sample_bytes_ != 0) {
      return {.is = Packet::Is::kMalformed};
    }
    return ReadSamples(*decoded, arrival);
  }

  bool TellsUtc(std::span<const std::byte> packet) const override {
    const auto decoded = services::vita49::Decode(packet);
    return decoded.has_value() && services::vita49::IsUtc(decoded->time);
  }

  std::optional<int64_t> begin_ns() const override {
    if (!begin_.has_value()) return std::nullopt;
    const auto packet_ns = services::vita49::NanosecondsOf(*begin_, sample_rate_);
    const auto rate = static_cast<double>(sample_rate_);
    return begin_position_ < 0
               ? TimeAfter(packet_ns, static_cast<uint64_t>(-begin_position_), rate)
               : TimeBefore(packet_ns, static_cast<uint64_t>(begin_position_), rate);
  }

 private:
  Packet ReadSamples(const Decoded& decoded, const Arrival& arrival) {
    if (decoded.time.kind == Fraction::kNone) return {.is = Packet::Is::kMalformed};
    const bool begins = !begin_.has_value();
    if (begins) {
      const Packet::Is begun = Begin(decoded);
      if (begun != Packet::Is::kSamples) return {.is = begun};
    }
    const auto samples = static_cast<int64_t>(decoded.samples.size() / sample_bytes_);
    const auto place = clock_.PlaceOf({decoded.count, decoded.time, samples, arrival});
    if (!place.has_value()) return {.is = Packet::Is::kMalformed};
    Packet read{.is = Packet::Is::kSamples,
                .position = place->position + begin_position_,
                .samples = decoded.samples,
                .clock_step_s = place->step_s};
    if (begins) {
      read.changes = EarlyChanges(decoded.stream, decoded.time);
      read.other_rate = OtherRate();
      read.other_format = early_format_;
      read.uncut = uncut_;
    }
    if (IsCut()) CutBefore(read);
    return read;
  }

  // Before any sample it is not known where a context holds, nor of which stream it has to be.
  struct Early {
    std::optional<uint32_t> stream;
    Time time;
    std::optional<double> sample_rate;
    std::optional<uint64_t> format;
    std::string text;  // may be empty
  };

  bool IsCut() const { return at_ns_ != 0 && !uncut_; }

  // kSamples: the stream has begun, with samples at the instant or after it.
  Packet::Is Begin(const Decoded& decoded) {
    uncut_ = at_ns_ != 0 && !services::vita49::IsUtc(decoded.time);
    if (IsCut()) {
      const auto first = FirstSampleFrom(at_ns_, decoded.time, sample_rate_);
      if (!first.has_value()) return Packet::Is::kMalformed;
      const auto samples = static_cast<int64_t>(decoded.samples.size() / sample_bytes_);
      if (*first >= samples) return Packet::Is::kEarly;
      begin_position_ = from_first_ ? std::min<int64_t>(-*first, 0) : -*first;
    }
    begin_ = decoded.time;
    if (!stream_.has_value()) stream_ = decoded.stream;
    return Packet::Is::kSamples;
  }

  void CutBefore(Packet& packet) const {
    if (packet.position >= 0) return;
    const auto before = static_cast<uint64_t>(-packet.position);
    if (before >= packet.samples.size() / sample_bytes_) {
      packet = {.is = Packet::Is::kEarly};
      return;
    }
    packet.samples = packet.samples.subspan(before * sample_bytes_);
    packet.position = 0;
  }

  Packet ReadContext(const Decoded& decoded, const Arrival& arrival) {
    std::string text = services::vita49::TextOf(*decoded.context);
    if (!begin_.has_value()) {
      early_.push_back({decoded.stream, decoded.time, decoded.context->sample_rate,
                        decoded.told_format, std::move(text)});
      if (early_.size() > kMostEarly) early_.pop_front();
      return {.is = Packet::Is::kContext};
    }
    const std::optional<uint64_t> other_format = OtherFormat(decoded.told_format);
    if (text.empty()) return {.is = Packet::Is::kContext, .other_format = other_format};
    const auto position = PositionOf(decoded.time, arrival);
    if (!position.has_value()) return {.is = Packet::Is::kMalformed};
    SetRate(decoded.context->sample_rate);
    return {.is = Packet::Is::kContext,
            .changes = {{*position, std::move(text)}},
            .other_rate = OtherRate(),
            .other_format = other_format};
  }

  // Times are those of the samples at the rate that the sender tells, whatever the channel's is.
  void SetRate(const std::optional<double>& rate) {
    if (rate.has_value()) clock_.SetRate(*rate);
  }

  std::optional<double> OtherRate() const {
    if (services::vita49::IsSameRate(clock_.rate(), sample_rate_)) return std::nullopt;
    return static_cast<double>(clock_.rate());
  }

  // None: it is the channel's, or nothing is told.
  std::optional<uint64_t> OtherFormat(const std::optional<uint64_t>& format) const {
    const bool other = format.has_value() && services::vita49::DatatypeOf(*format) != datatype_;
    return other ? format : std::nullopt;
  }

  // The last that holds before the first sample, or is of no time, holds there.
  std::vector<SignalChange> EarlyChanges(const std::optional<uint32_t>& stream, const Time& begin) {
    std::vector<SignalChange> changes;
    std::optional<SignalChange> first;
    for (Early& early : std::exchange(early_, {})) {
      if (early.stream != stream) continue;
      SetRate(early.sample_rate);
      if (early.format.has_value()) early_format_ = OtherFormat(early.format);
      if (early.text.empty()) continue;
      const auto between = services::vita49::SamplesBetween(begin, early.time, clock_.rate());
      const int64_t position = between.has_value() ? *between + begin_position_ : 0;
      if (position > 0) {
        changes.push_back({position, std::move(early.text)});
      } else if (!first.has_value() || position >= first->position) {
        first = SignalChange{position, std::move(early.text)};
      }
    }
    if (first.has_value()) changes.push_back({0, std::move(first->text)});
    return changes;
  }

  // None: its time is of another kind than the stream's.
  std::optional<int64_t> PositionOf(const Time& time, const Arrival& arrival) const {
    const auto position = clock_.PositionOf(time, arrival);
    if (!position.has_value()) return std::nullopt;
    return *position + begin_position_;
  }

  const size_t sample_bytes_;
  const dataplane::Datatype datatype_;
  const long double sample_rate_;  // of the channel
  services::vita49::StreamClock clock_;
  const int64_t at_ns_;
  const bool from_first_;
  std::optional<uint32_t> stream_;
  std::optional<Time> begin_;             // of the first packet
  int64_t begin_position_ = 0;            // of the first sample of the first packet
  bool uncut_ = false;                    // see Packet
  std::deque<Early> early_;               // came before it
  std::optional<uint64_t> early_format_;  // the last that they tell, where not the channel's
};

}  // namespace

std::unique_ptr<PacketReader> CreateReader(const StreamSettings& settings) {
  return std::make_unique<VitaReader>(settings);
}

}  // namespace tapedeck::gpu_worker::stages::ingest::vita49
