#include <algorithm>
#include <cmath>
#include <iterator>

#include "services/signal/vita49/layout.h"
#include "services/signal/vita49/packet.h"
#include "services/signal/vita49/signal_text.h"

namespace tapedeck::services::vita49 {
namespace {

// Takes words off the front; what is not there is 0, and noticed.
class WordReader {
 public:
  explicit WordReader(std::span<const std::byte> bytes) : left_(bytes) {}

  uint32_t Next() {
    if (left_.size() < kWordBytes) {
      short_ = true;
      return 0;
    }
    uint32_t word = 0;
    for (size_t i = 0; i < kWordBytes; ++i) {
      word = word << 8 | std::to_integer<uint32_t>(left_[i]);
    }
    left_ = left_.subspan(kWordBytes);
    return word;
  }
  uint64_t NextTwo() {
    const uint64_t high = Next();
    return high << 32 | Next();
  }
  void DropLast(size_t bytes) {
    short_ = short_ || bytes > left_.size();
    if (!short_) left_ = left_.first(left_.size() - bytes);
  }

  bool too_short() const { return short_; }
  std::span<const std::byte> left() const { return left_; }

 private:
  std::span<const std::byte> left_;
  bool short_ = false;
};

bool Has(uint32_t word, int bit) { return (word >> bit & 1) != 0; }

double Fixed(int64_t number, int bits) { return std::ldexp(static_cast<double>(number), -bits); }

Time TimeOf(uint32_t head, WordReader& words) {
  Time time{.has_seconds = (head >> kSecondsAt & 3) != 0,
            .kind = static_cast<Fraction>(head >> kFractionAt & 3),
            .gps = (head >> kSecondsAt & 3) == kGpsSeconds};
  if (time.has_seconds) time.seconds = words.Next();
  if (time.kind != Fraction::kNone) time.fraction = words.NextTwo();
  return time;
}

void ReadContext(WordReader& words, Decoded& decoded) {
  const uint32_t fields = words.Next();
  for (const int bit : kMoreWords) {
    if (Has(fields, bit)) words.Next();
  }
  Context& context = decoded.context.emplace();
  // Several numbers of each field: none is read as another.
  if (Has(fields, kAttributes) && words.Next() != kValueAlone) return;
  const auto hertz = [&] { return Fixed(static_cast<int64_t>(words.NextTwo()), kHertzBits); };
  if (Has(fields, kReferencePoint)) words.Next();
  if (Has(fields, kBandwidth)) context.bandwidth_hz = hertz();
  if (Has(fields, kIntermediateFrequency)) words.NextTwo();
  if (Has(fields, kFrequency)) context.frequency_hz = hertz();
  if (Has(fields, kFrequencyOffset)) words.NextTwo();
  if (Has(fields, kBandOffset)) words.NextTwo();
  if (Has(fields, kReferenceLevel)) words.Next();
  if (Has(fields, kGain)) {
    const uint32_t stages = words.Next();
    context.gain_db = Fixed(static_cast<int16_t>(stages >> 16), kGainBits) +
                      Fixed(static_cast<int16_t>(stages), kGainBits);
  }
  if (Has(fields, kOverRange)) words.Next();
  if (Has(fields, kSampleRate)) context.sample_rate = hertz();
  if (Has(fields, kTimeAdjustment)) words.NextTwo();
  if (Has(fields, kCalibrationTime)) words.Next();
  if (Has(fields, kTemperature)) words.Next();
  if (Has(fields, kDevice)) words.NextTwo();
  if (Has(fields, kState)) words.Next();
  if (Has(fields, kPayloadFormat)) {
    decoded.told_format = words.NextTwo();
    decoded.format = DatatypeOf(*decoded.told_format);
  }
}

}  // namespace

std::optional<size_t> SizeOf(std::span<const std::byte> word) {
  WordReader words(word);
  const size_t size = (words.Next() & kSizeMask) * kWordBytes;
  return size == 0 ? std::nullopt : std::optional(size);
}

Undecoded WhyUndecoded(std::span<const std::byte> packet) {
  if (SizeOf(packet) != packet.size()) return Undecoded::kUnsound;
  const uint32_t head = WordReader(packet).Next();
  const uint32_t type = head >> kTypeAt;
  if (std::ranges::find(kOtherTypes, type) != std::end(kOtherTypes)) return Undecoded::kOtherType;
  const bool is_data = type == kData || type == kDataWithoutStream;
  return is_data && Has(head, kSpectrum) ? Undecoded::kSpectrum : Undecoded::kUnsound;
}

std::optional<Decoded> Decode(std::span<const std::byte> packet) {
  WordReader words(packet);
  const uint32_t head = words.Next();
  const uint32_t type = head >> kTypeAt;
  if (type != kDataWithoutStream && type != kData && type != kContext) return std::nullopt;
  if (words.too_short() || (head & kSizeMask) * kWordBytes != packet.size()) return std::nullopt;
  if (type != kContext && Has(head, kSpectrum)) return std::nullopt;
  Decoded decoded{.count = head >> kCountAt & kCountMask};
  if (type != kDataWithoutStream) decoded.stream = words.Next();
  uint32_t padding_bits = 0;
  if (Has(head, kHasClass)) {
    padding_bits = words.Next() >> kPaddingAt;
    words.Next();
  }
  decoded.time = TimeOf(head, words);
  if (type == kContext) {
    ReadContext(words, decoded);
  } else {
    words.DropLast((Has(head, kHasTrailer) ? kWordBytes : 0) + padding_bits / 8);
    decoded.samples = words.left();
  }
  return words.too_short() ? std::nullopt : std::optional(decoded);
}

}  // namespace tapedeck::services::vita49
