#include "gpu_worker/packets/numbered/packet.h"
#include "gpu_worker/stages/ingest/packet.h"

namespace tapedeck::gpu_worker::stages::ingest::numbered {

using packets::numbered::Decode;
using packets::numbered::kHeaderBytes;

namespace {

class NumberedReader final : public PacketReader {
 public:
  explicit NumberedReader(const StreamSettings& settings)
      : sample_bytes_(settings.sample_bytes), stream_(settings.stream) {}

  size_t prefix_bytes() const override { return kHeaderBytes; }

  std::optional<size_t> SizeOf(std::span<const std::byte> prefix) const override {
    const auto header = Decode(prefix);
    return header.has_value() ? std::optional(header->packet_bytes()) : std::nullopt;
  }

  Packet Read(std::span<const std::byte> packet, const SoFar& so_far) override {
    const auto header = Decode(packet);
    if (!header.has_value() || header->packet_bytes() != packet.size() ||
        header->samples_bytes % sample_bytes_ != 0) {
      return {.is = Packet::Is::kMalformed};
    }
    if (stream_.has_value() && header->stream != *stream_) return {.is = Packet::Is::kForeign};
    const int64_t samples = header->samples_bytes / static_cast<int64_t>(sample_bytes_);
    if (samples_per_packet_ == 0) {
      stream_ = header->stream;
      first_number_ = header->number;
      samples_per_packet_ = samples;
    }
    if (samples > samples_per_packet_) return {.is = Packet::Is::kMalformed};
    const int64_t position = Number(header->number, so_far.newest) * samples_per_packet_;
    if (header->end) return {.is = Packet::Is::kEnd, .position = position + samples};
    return {
        .is = Packet::Is::kSamples, .position = position, .samples = packet.subspan(kHeaderBytes)};
  }

 private:
  // Counted from the first packet, without the wrap: the nearest to the newest that fits.
  int64_t Number(uint32_t number, int64_t newest) const {
    const int64_t next = newest / samples_per_packet_;
    const auto ahead = static_cast<int32_t>(number - (first_number_ + static_cast<uint32_t>(next)));
    return next + ahead;
  }

  const size_t sample_bytes_;
  std::optional<uint32_t> stream_;
  uint32_t first_number_ = 0;
  int64_t samples_per_packet_ = 0;  // 0: no packet has come
};

}  // namespace

std::unique_ptr<PacketReader> CreateReader(const StreamSettings& settings) {
  return std::make_unique<NumberedReader>(settings);
}

}  // namespace tapedeck::gpu_worker::stages::ingest::numbered
