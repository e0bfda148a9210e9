#include <algorithm>
#include <array>
#include <span>

#include "gpu_worker/emulator/packet_maker.h"
#include "gpu_worker/packets/numbered/packet.h"

namespace tapedeck::gpu_worker::emulator {
namespace {

namespace numbered = packets::numbered;

class NumberedMaker final : public PacketMaker {
 public:
  explicit NumberedMaker(const NumberedStream& stream) : stream_(stream) {}

  std::vector<Bytes> Before(const About& /*about*/) override { return {}; }

  Bytes Make(const About& about) override {
    Bytes made(numbered::kHeaderBytes + about.samples_bytes);
    std::ranges::copy(HeaderOf(about, /*end=*/false), made.begin());
    FillSamples(about.offset, std::span(made).subspan(numbered::kHeaderBytes));
    return made;
  }

  Bytes End(const About& last) override {
    const auto header = HeaderOf(last, /*end=*/true);
    return {header.begin(), header.end()};
  }

 private:
  std::array<std::byte, numbered::kHeaderBytes> HeaderOf(const About& about, bool end) const {
    return numbered::Encode({.number = stream_.first_number + static_cast<uint32_t>(about.packet),
                             .stream = stream_.stream,
                             .samples_bytes = static_cast<uint16_t>(about.samples_bytes),
                             .end = end});
  }

  const NumberedStream stream_;
};

}  // namespace

std::unique_ptr<PacketMaker> CreateNumbered(const NumberedStream& stream) {
  return std::make_unique<NumberedMaker>(stream);
}

}  // namespace tapedeck::gpu_worker::emulator
