#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "gpu_worker/emulator/packet_maker.h"
#include "services/signal/vita49/packet.h"
#include "services/signal/vita49/sample_clock.h"

namespace tapedeck::gpu_worker::emulator {
namespace {

namespace vita49 = services::vita49;
using dataplane::Datatype;

// What is told of the signal beside its frequency.
constexpr double kBandwidthOfRate = 0.8;
constexpr double kGainDb = 3.5;

std::optional<Datatype> FormatOf(size_t sample_bytes) {
  Datatype format{.complex = sample_bytes > 1, .kind = Datatype::Kind::kInt, .big_endian = true};
  format.bits = static_cast<int>(8 * sample_bytes / (format.complex ? 2 : 1));
  const bool is_power_of_two = (sample_bytes & (sample_bytes - 1)) == 0;
  return is_power_of_two ? std::optional(format) : std::nullopt;
}

class VitaMaker final : public PacketMaker {
 public:
  VitaMaker(const VitaStream& stream, const vita49::SampleClock& clock, const Datatype& format)
      : stream_(stream), clock_(clock), format_(format) {}

  std::vector<Bytes> Before(const About& about) override {
    const uint64_t first = about.offset / stream_.sample_bytes;
    const uint64_t end = first + about.samples_bytes / stream_.sample_bytes;
    std::vector<Bytes> contexts;
    for (; next_ < stream_.tuned.size() && stream_.tuned[next_].sample < end; ++next_) {
      told_ = stream_.tuned[next_].sample;
      contexts.push_back(ContextOf(stream_.tuned[next_], told_, /*changed=*/true));
    }
    if (told_<first&& static_cast<double>(end - told_)> stream_.sample_rate) {
      told_ = first;
      contexts.push_back(ContextOf(stream_.tuned[next_ - 1], told_, /*changed=*/false));
    }
    return contexts;
  }

  Bytes Make(const About& about) override {
    const vita49::DataHeader header{.stream = stream_.stream,
                                    .number = static_cast<uint32_t>(about.packet),
                                    .time = clock_.At(about.offset / stream_.sample_bytes),
                                    .samples_bytes = about.samples_bytes};
    Bytes made(vita49::kDataHeaderBytes + about.samples_bytes + header.padding_bytes());
    std::ranges::copy(vita49::Encode(header), made.begin());
    FillSamples(about.offset,
                std::span(made).subspan(vita49::kDataHeaderBytes, about.samples_bytes));
    return made;
  }

  Bytes End(const About& /*last*/) override { return {}; }

 private:
  Bytes ContextOf(const Retune& tuned, uint64_t sample, bool changed) {
    return vita49::Encode(
        vita49::ContextPacket{.stream = stream_.stream,
                              .number = contexts_++,
                              .time = clock_.At(sample),
                              .context = {.bandwidth_hz = kBandwidthOfRate * stream_.sample_rate,
                                          .frequency_hz = tuned.frequency_hz,
                                          .gain_db = kGainDb,
                                          .sample_rate = stream_.sample_rate},
                              .format = format_,
                              .changed = changed});
  }

  const VitaStream stream_;
  const vita49::SampleClock clock_;
  const Datatype format_;
  size_t next_ = 0;    // of stream_.tuned
  uint64_t told_ = 0;  // the sample that the last context is of
  uint32_t contexts_ = 0;
};

}  // namespace

std::unique_ptr<PacketMaker> CreateVita49(const VitaStream& stream) {
  const auto clock = vita49::SampleClock::Create(stream.sample_rate, stream.begin_ns);
  const auto format = FormatOf(stream.sample_bytes);
  if (!clock.has_value() || !format.has_value()) return nullptr;
  return std::make_unique<VitaMaker>(stream, *clock, *format);
}

}  // namespace tapedeck::gpu_worker::emulator
