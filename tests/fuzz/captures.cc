// A capture file with packets of VITA 49.2: its bytes as they are, and its packets with sizes that
// fit. What is taken can be read, in one piece and in two, and says where it has losses.
#include <algorithm>

#include "services/formats/vita49/pcap.h"
#include "services/formats/vita49/vita49.h"
#include "services/signal/vita49/packet.h"
#include "tests/fuzz/imported.h"

namespace tapedeck::services::formats {
namespace {

// Datagrams that have the size that they say, each behind its length.
std::string Mended(fuzz::Input input) {
  std::string text = PcapHead();
  while (input.left() > 0) {
    auto packet = input.Padded(std::max<size_t>(input.Number<uint8_t>(), 1) * vita49::kWordBytes);
    packet[2] = std::byte{0};
    packet[3] = static_cast<std::byte>(packet.size() / vita49::kWordBytes);
    AppendDatagram({.time_ns = 1, .port = 4991, .bytes = packet}, &text);
  }
  return text;
}

}  // namespace
}  // namespace tapedeck::services::formats

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace formats = tapedeck::services::formats;
  tapedeck::fuzz::Input input(data, size);
  formats::IsSound(formats::Mended(input), formats::OpenVita49);
  formats::IsSound(input.Text(), formats::OpenVita49);
  return 0;
}
