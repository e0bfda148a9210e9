#include "gpu_worker/stages/ingest/vita49/packet.h"

#include <cmath>

namespace tapedeck::gpu_worker::stages::ingest::vita49 {
namespace {

// Types of packets.
constexpr uint32_t kDataWithoutStream = 0;
constexpr uint32_t kData = 1;
constexpr uint32_t kContext = 4;

// Bits of the word that says which fields a context has.
constexpr int kReferencePoint = 30;
constexpr int kBandwidth = 29;
constexpr int kIntermediateFrequency = 28;
constexpr int kFrequency = 27;
constexpr int kFrequencyOffset = 26;
constexpr int kBandOffset = 25;
constexpr int kReferenceLevel = 24;
constexpr int kGain = 23;
constexpr int kOverRange = 22;
constexpr int kSampleRate = 21;
// Each says that another such word follows, before all fields.
constexpr int kMoreWords[] = {1, 2, 3, 7};

// Numbers of fixed point: bits behind the point.
constexpr int kHertzBits = 20;
constexpr int kGainBits = 7;

// Takes words off the front; what is not there is 0, and noticed.
class Words {
 public:
  explicit Words(std::span<const std::byte> bytes) : left_(bytes) {}

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

Time TimeOf(uint32_t head, Words& words) {
  Time time{.has_seconds = (head >> 22 & 3) != 0, .kind = static_cast<Fraction>(head >> 20 & 3)};
  if (time.has_seconds) time.seconds = words.Next();
  if (time.kind != Fraction::kNone) time.fraction = words.NextTwo();
  return time;
}

Context ContextOf(Words& words) {
  const uint32_t fields = words.Next();
  for (const int bit : kMoreWords) {
    if (Has(fields, bit)) words.Next();
  }
  Context context;
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
  return context;
}

}  // namespace

std::optional<size_t> SizeOf(std::span<const std::byte> word) {
  Words words(word);
  const size_t size = (words.Next() & 0xffff) * kWordBytes;
  return size == 0 ? std::nullopt : std::optional(size);
}

std::optional<Decoded> Decode(std::span<const std::byte> packet) {
  Words words(packet);
  const uint32_t head = words.Next();
  const uint32_t type = head >> 28;
  if (type != kDataWithoutStream && type != kData && type != kContext) return std::nullopt;
  if (words.too_short() || (head & 0xffff) * kWordBytes != packet.size()) return std::nullopt;
  Decoded decoded;
  if (type != kDataWithoutStream) decoded.stream = words.Next();
  uint32_t padding_bits = 0;
  if (Has(head, 27)) padding_bits = static_cast<uint32_t>(words.NextTwo() >> 59);
  decoded.time = TimeOf(head, words);
  if (type == kContext) {
    decoded.context = ContextOf(words);
  } else {
    words.DropLast((Has(head, 26) ? kWordBytes : 0) + padding_bits / 8);
    decoded.samples = words.left();
  }
  return words.too_short() ? std::nullopt : std::optional(decoded);
}

}  // namespace tapedeck::gpu_worker::stages::ingest::vita49
