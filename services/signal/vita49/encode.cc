#include <algorithm>
#include <cmath>

#include "services/signal/vita49/layout.h"
#include "services/signal/vita49/packet.h"

namespace tapedeck::services::vita49 {

using dataplane::Datatype;

namespace {

constexpr uint32_t Bit(int bit) { return uint32_t{1} << bit; }

// All that a context of DIFI has.
constexpr uint32_t kDifiFields =
    Bit(kReferencePoint) | Bit(kBandwidth) | Bit(kIntermediateFrequency) | Bit(kFrequency) |
    Bit(kBandOffset) | Bit(kReferenceLevel) | Bit(kGain) | Bit(kSampleRate) | Bit(kTimeAdjustment) |
    Bit(kCalibrationTime) | Bit(kState) | Bit(kPayloadFormat);

// DIFI's number of the place at which a radio signal is what a context tells of it.
constexpr uint32_t kAtRadioFrequency = 100;

// What the fields hold at most: 63 bits of Hertz, and of gain 16 bits in each of two stages.
constexpr double kMostHertz = 8.0e12;
constexpr double kLeastStage = -256;
constexpr double kMostStage = 255.9921875;

// Puts words behind each other.
class WordWriter {
 public:
  explicit WordWriter(std::byte* out) : out_(out) {}

  void Next(uint32_t word) {
    for (int shift = 24; shift >= 0; shift -= 8) *out_++ = static_cast<std::byte>(word >> shift);
  }
  void NextTwo(uint64_t words) {
    Next(static_cast<uint32_t>(words >> 32));
    Next(static_cast<uint32_t>(words));
  }
  const std::byte* end() const { return out_; }

 private:
  std::byte* out_;
};

int64_t FixedOf(double number, int bits) { return std::llround(std::ldexp(number, bits)); }

uint32_t SecondsOf(const Time& time) {
  if (!time.has_seconds) return 0;
  return time.gps ? kGpsSeconds : kPosixSeconds;
}

uint32_t HeadOf(uint32_t type, uint32_t number, const Time& time, size_t bytes) {
  return type << kTypeAt | SecondsOf(time) << kSecondsAt |
         static_cast<uint32_t>(time.kind) << kFractionAt | (number & 15) << kCountAt |
         static_cast<uint32_t>(bytes / kWordBytes);
}

void PutTime(const Time& time, WordWriter& words) {
  if (time.has_seconds) words.Next(time.seconds);
  if (time.kind != Fraction::kNone) words.NextTwo(time.fraction);
}

uint32_t FieldsOf(const Context& context) {
  uint32_t fields = Bit(kPayloadFormat);
  if (context.bandwidth_hz.has_value()) fields |= Bit(kBandwidth);
  if (context.frequency_hz.has_value()) fields |= Bit(kFrequency);
  if (context.gain_db.has_value()) fields |= Bit(kGain);
  if (context.sample_rate.has_value()) fields |= Bit(kSampleRate);
  constexpr uint32_t kAll =
      Bit(kPayloadFormat) | Bit(kBandwidth) | Bit(kFrequency) | Bit(kGain) | Bit(kSampleRate);
  return fields == kAll ? kDifiFields : fields;
}

uint32_t GainOf(double db) {
  const double first = std::clamp(db, kLeastStage, kMostStage);
  return static_cast<uint32_t>(FixedOf(db - first, kGainBits) & 0xffff) << 16 |
         static_cast<uint32_t>(FixedOf(first, kGainBits) & 0xffff);
}

// Samples without gaps between them; each is one number, or two.
uint64_t FormatOf(const Datatype& format) {
  uint32_t kind = kSignedNumber;
  if (format.kind == Datatype::Kind::kUint) kind = kUnsignedNumber;
  if (format.kind == Datatype::Kind::kFloat) {
    kind = format.bits == 64 ? kDoubleNumber : kSingleNumber;
  }
  const auto bits = static_cast<uint32_t>(format.bits - 1);
  const uint32_t parts = format.complex ? kCartesian : kReal;
  const uint32_t first =
      Bit(kPacked) | parts << kRealOrComplexAt | kind << kNumberAt | bits << kPackedBitsAt | bits;
  return uint64_t{first} << 32;
}

void PutFields(const ContextPacket& packet, uint32_t fields, WordWriter& words) {
  const auto has = [fields](int bit) { return (fields & Bit(bit)) != 0; };
  const auto hertz = [&](int bit, const std::optional<double>& value) {
    if (has(bit)) words.NextTwo(static_cast<uint64_t>(FixedOf(value.value_or(0), kHertzBits)));
  };
  const Context& context = packet.context;
  words.Next(fields | (packet.changed ? Bit(kChanged) : 0));
  if (has(kReferencePoint)) words.Next(kAtRadioFrequency);
  hertz(kBandwidth, context.bandwidth_hz);
  hertz(kIntermediateFrequency, std::nullopt);
  hertz(kFrequency, context.frequency_hz);
  hertz(kBandOffset, std::nullopt);
  if (has(kReferenceLevel)) words.Next(0);
  if (has(kGain)) words.Next(GainOf(*context.gain_db));
  hertz(kSampleRate, context.sample_rate);
  if (has(kTimeAdjustment)) words.NextTwo(0);
  if (has(kCalibrationTime)) words.Next(0);
  if (has(kState)) words.Next(0);
  words.NextTwo(FormatOf(packet.format));
}

}  // namespace

std::array<std::byte, kDataHeaderBytes> Encode(const DataHeader& header) {
  std::array<std::byte, kDataHeaderBytes> out{};
  WordWriter words(out.data());
  const size_t padding = header.padding_bytes();
  words.Next(
      HeadOf(kData, header.number, header.time, header.bytes() + header.samples_bytes + padding) |
      Bit(kHasClass));
  words.Next(header.stream);
  words.Next(static_cast<uint32_t>(8 * padding) << kPaddingAt | kDifi);
  words.Next(kDifiData);
  PutTime(header.time, words);
  return out;
}

std::vector<std::byte> Encode(const ContextPacket& packet) {
  const uint32_t fields = FieldsOf(packet.context);
  std::array<std::byte, 32 * kWordBytes> out{};
  WordWriter words(out.data());
  words.Next(0);
  words.Next(packet.stream);
  const bool difi = fields == kDifiFields;
  if (difi) {
    words.Next(kDifi);
    words.Next(kDifiContext);
  }
  PutTime(packet.time, words);
  PutFields(packet, fields, words);
  const auto bytes = static_cast<size_t>(words.end() - out.data());
  WordWriter head(out.data());
  head.Next(HeadOf(kContext, packet.number, packet.time, bytes) |
            (difi ? Bit(kHasClass) | Bit(kRoughTime) : 0));
  return {out.begin(), out.begin() + static_cast<ptrdiff_t>(bytes)};
}

bool Writable(const Context& context) {
  const auto within = [](const std::optional<double>& value, double least, double most) {
    return !value.has_value() || (*value >= least && *value <= most);
  };
  return within(context.bandwidth_hz, -kMostHertz, kMostHertz) &&
         within(context.frequency_hz, -kMostHertz, kMostHertz) &&
         within(context.gain_db, 2 * kLeastStage, 2 * kMostStage) &&
         within(context.sample_rate, -kMostHertz, kMostHertz);
}

}  // namespace tapedeck::services::vita49
