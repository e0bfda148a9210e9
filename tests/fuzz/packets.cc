// Packets of a stream as ingest reads them, of either kind: as they came, and with a size and a
// type that fit. What is understood lies in the packet, and a context is the same when written
// again.
#include <algorithm>

#include "gpu_worker/stages/ingest/packet.h"
#include "services/signal/vita49/packet.h"
#include "services/signal/vita49/signal_text.h"
#include "tests/fuzz/input.h"

namespace tapedeck::gpu_worker::packets {
namespace {

namespace vita49 = services::vita49;
using stages::ingest::Packet;
using stages::ingest::PacketReader;

constexpr size_t kSampleBytes = 4;
constexpr int64_t kMostSamples = int64_t{1} << 61;

void LiesWithin(std::span<const std::byte> part, std::span<const std::byte> packet) {
  if (part.empty()) return;
  fuzz::Require(part.data() >= packet.data() &&
                part.data() + part.size() <= packet.data() + packet.size());
}

// Of a group, in the middle of the times that packets tell.
constexpr int64_t kInstantNs = 1'700'000'000'000'000'500;

// `newest` becomes what a receiver would make of it.
void Read(PacketReader& reader, const std::vector<std::byte>& packet, int64_t& newest) {
  if (packet.size() >= reader.prefix_bytes()) {
    (void)reader.SizeOf(std::span(packet).first(reader.prefix_bytes()));
  }
  const Packet read = reader.Read(packet, {.newest = newest});
  LiesWithin(read.samples, packet);
  fuzz::Require(read.samples.size() % kSampleBytes == 0);
  fuzz::Require(read.position > -kMostSamples && read.position < kMostSamples);
  for (const auto& [position, text] : read.changes) {
    fuzz::Require(position > -kMostSamples && position < kMostSamples && !text.empty());
  }
  if (read.is == Packet::Is::kSamples && read.position >= 0) {
    newest = std::max(newest, read.position);
  }
}

void IsTheSameAgain(const std::vector<std::byte>& packet) {
  const auto decoded = vita49::Decode(packet);
  if (!decoded.has_value() || !decoded->context.has_value()) return;
  const vita49::Context& context = *decoded->context;
  if (!vita49::Writable(context)) return;
  const auto again = vita49::Decode(vita49::Encode(vita49::ContextPacket{
      .stream = decoded->stream.value_or(0),
      .time = decoded->time,
      .context = context,
      .format = {.complex = true, .kind = dataplane::Datatype::Kind::kInt, .bits = 16}}));
  fuzz::Require(again.has_value() && again->context == context && again->time == decoded->time);
  const std::string text = vita49::TextOf(context);
  if (text.empty()) return;
  const auto told = vita49::ContextOf(text);
  fuzz::Require(told.has_value() && vita49::TextOf(*told) == text);
}

// A size and a type that VITA 49.2 has.
void Mend(std::vector<std::byte>& packet) {
  constexpr uint8_t kTypes[] = {0x00, 0x10, 0x40, 0x10};
  packet.resize(std::max<size_t>(packet.size() / vita49::kWordBytes, 1) * vita49::kWordBytes);
  const auto head = std::to_integer<uint8_t>(packet[0]);
  packet[0] = static_cast<std::byte>((head & 15) | kTypes[head >> 4 & 3]);
  packet[2] = static_cast<std::byte>(packet.size() / vita49::kWordBytes >> 8);
  packet[3] = static_cast<std::byte>(packet.size() / vita49::kWordBytes);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::packets

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace packets = tapedeck::gpu_worker::packets;
  namespace ingest = tapedeck::gpu_worker::stages::ingest;
  (void)tapedeck::services::vita49::ContextOf({reinterpret_cast<const char*>(data), size});
  tapedeck::fuzz::Input input(data, size);
  const ingest::StreamSettings stream{.sample_bytes = packets::kSampleBytes, .sample_rate = 1e6};
  const auto numbered = ingest::numbered::CreateReader(stream);
  const auto vita49 = ingest::vita49::CreateReader(stream);
  const auto cut = ingest::vita49::CreateReader(
      {.sample_bytes = packets::kSampleBytes, .sample_rate = 1e6, .at_ns = packets::kInstantNs});
  int64_t newest_numbered = 0, newest_vita49 = 0, newest_cut = 0;
  while (input.left() > 0) {
    const auto bytes = input.Take(input.Number<uint8_t>());
    std::vector<std::byte> packet(bytes.begin(), bytes.end());
    packets::Read(*numbered, packet, newest_numbered);
    packets::Read(*vita49, packet, newest_vita49);
    packets::Mend(packet);
    packets::Read(*vita49, packet, newest_vita49);
    packets::Read(*cut, packet, newest_cut);
    (void)cut->TellsUtc(packet);
    packets::IsTheSameAgain(packet);
  }
  return 0;
}
