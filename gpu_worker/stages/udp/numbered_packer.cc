#include <algorithm>
#include <array>
#include <vector>

#include "gpu_worker/packets/numbered/packet.h"
#include "gpu_worker/stages/udp/packer.h"

namespace tapedeck::gpu_worker::stages::udp::numbered {

using packets::numbered::Encode;
using packets::numbered::Header;
using packets::numbered::kHeaderBytes;

namespace {

// The end of a stream, so often: one may get lost.
constexpr int kEnds = 3;

class NumberedPacker final : public Packer {
 public:
  explicit NumberedPacker(const PackerSettings& settings)
      : packet_bytes_(settings.packet_bytes),
        stream_(settings.stream),
        headers_(settings.block_bytes / packet_bytes_) {
    packets_.reserve(headers_.size());
  }

  absl::StatusOr<Packets> Pack(const dataplane::BlockHeader& header,
                               std::span<const std::byte> payload) override {
    packets_.clear();
    const uint64_t first = header.sequence * headers_.size();
    if ((header.flags & dataplane::kBlockMissing) != 0) {
      last_ = HeaderOf(first + headers_.size() - 1, packet_bytes_);
      return Packets();
    }
    for (size_t i = 0; !payload.empty(); ++i) {
      const auto samples = payload.first(std::min(payload.size(), packet_bytes_));
      last_ = HeaderOf(first + i, samples.size());
      headers_[i] = Encode(last_);
      packets_.push_back({.header = headers_[i], .samples = samples});
      payload = payload.subspan(samples.size());
    }
    return Packets(packets_);
  }

  Packets End() override {
    last_.end = true;
    headers_[0] = Encode(last_);
    packets_.assign(kEnds, {.header = headers_[0], .samples = {}});
    return packets_;
  }

 private:
  Header HeaderOf(uint64_t packet, size_t bytes) const {
    return {.number = static_cast<uint32_t>(packet),
            .stream = stream_,
            .samples_bytes = static_cast<uint16_t>(bytes)};
  }

  const size_t packet_bytes_;
  const uint32_t stream_;
  std::vector<std::array<std::byte, kHeaderBytes>> headers_;  // of a block's packets
  std::vector<services::PacketParts> packets_;
  Header last_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Packer>> CreatePacker(const PackerSettings& settings) {
  return std::make_unique<NumberedPacker>(settings);
}

}  // namespace tapedeck::gpu_worker::stages::udp::numbered
