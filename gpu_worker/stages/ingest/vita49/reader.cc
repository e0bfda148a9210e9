#include "gpu_worker/stages/ingest/vita49/reader.h"

#include <cmath>
#include <map>
#include <utility>

#include "gpu_worker/packets/vita49/packet.h"
#include "gpu_worker/packets/vita49/signal_text.h"

namespace tapedeck::gpu_worker::stages::ingest::vita49 {

using packets::vita49::Decoded;
using packets::vita49::Fraction;
using packets::vita49::kWordBytes;
using packets::vita49::Time;

namespace {

// Of a position: what a clock that is wrong, or a forged packet, says is not so far away.
constexpr double kMostSamples = 1e18;
// Streams that are told of before the first sample says which one this is.
constexpr size_t kMostEarly = 64;

class VitaReader final : public PacketReader {
 public:
  explicit VitaReader(const StreamSettings& settings)
      : sample_bytes_(settings.sample_bytes),
        sample_rate_(settings.sample_rate),
        stream_(settings.stream) {}

  size_t prefix_bytes() const override { return kWordBytes; }

  std::optional<size_t> SizeOf(std::span<const std::byte> prefix) const override {
    return packets::vita49::SizeOf(prefix);
  }

  Packet Read(std::span<const std::byte> packet, int64_t /*newest*/) override {
    const auto decoded = packets::vita49::Decode(packet);
    if (!decoded.has_value()) return {.is = Packet::Is::kMalformed};
    if (stream_.has_value() && decoded->stream != stream_) return {.is = Packet::Is::kForeign};
    if (decoded->context.has_value()) return ReadContext(*decoded);
    if (decoded->samples.empty() || decoded->samples.size() % sample_bytes_ != 0) {
      return {.is = Packet::Is::kMalformed};
    }
    std::string news;
    if (!begin_.has_value() && decoded->time.kind != Fraction::kNone) {
      begin_ = decoded->time;
      if (!stream_.has_value()) stream_ = decoded->stream;
      news = std::move(early_news_[decoded->stream]);
      early_news_.clear();
    }
    const auto position = PositionOf(decoded->time);
    if (!position.has_value()) return {.is = Packet::Is::kMalformed};
    return {.is = Packet::Is::kSamples,
            .position = *position,
            .samples = decoded->samples,
            .news = std::move(news)};
  }

 private:
  // One that comes before any sample holds from its stream's first one on.
  Packet ReadContext(const Decoded& decoded) {
    std::string news = packets::vita49::TextOf(*decoded.context);
    if (!begin_.has_value()) {
      const bool known = early_news_.contains(decoded.stream);
      if (known || early_news_.size() < kMostEarly) early_news_[decoded.stream] = std::move(news);
      return {.is = Packet::Is::kNews};
    }
    const auto position = PositionOf(decoded.time);
    if (!position.has_value()) return {.is = Packet::Is::kMalformed};
    return {.is = Packet::Is::kNews, .position = *position, .news = std::move(news)};
  }

  // None: its time is of another kind than the stream's.
  std::optional<int64_t> PositionOf(const Time& time) const {
    if (!begin_.has_value() || time.kind != begin_->kind ||
        time.has_seconds != begin_->has_seconds) {
      return std::nullopt;
    }
    const auto fraction =
        static_cast<long double>(static_cast<int64_t>(time.fraction - begin_->fraction));
    const auto seconds = static_cast<long double>(int64_t{time.seconds} - begin_->seconds);
    long double samples = fraction;
    if (time.kind == Fraction::kPicoseconds)
      samples = (seconds * 1e12L + fraction) * sample_rate_ / 1e12L;
    if (time.kind == Fraction::kSamples) samples = seconds * sample_rate_ + fraction;
    if (std::fabs(samples) > kMostSamples) return std::nullopt;
    return std::llround(samples);
  }

  const size_t sample_bytes_;
  const long double sample_rate_;
  std::optional<uint32_t> stream_;
  std::optional<Time> begin_;                                  // of the first sample
  std::map<std::optional<uint32_t>, std::string> early_news_;  // from before it, by stream
};

}  // namespace

std::unique_ptr<PacketReader> CreateReader(const StreamSettings& settings) {
  return std::make_unique<VitaReader>(settings);
}

}  // namespace tapedeck::gpu_worker::stages::ingest::vita49
