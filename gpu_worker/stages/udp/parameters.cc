#include "gpu_worker/stages/udp/parameters.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/packets/limits.h"
#include "gpu_worker/stages/parameters.h"
#include "gpu_worker/stages/udp/list.h"

namespace tapedeck::gpu_worker::stages::udp {
namespace {

// Whole samples of every datatype.
constexpr uint64_t kGrainBytes = 16;

uint64_t MostBytes(const PacketKind& kind) {
  return (packets::kMaxPacketBytes - kind.header_bytes) / kGrainBytes * kGrainBytes;
}

}  // namespace

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader("udp", given);
  std::string text;
  reader.Text("address", text);
  const std::optional<packets::Address> address = packets::AddressOf(text);
  reader.Require(address.has_value(), "address",
                 "HOST:PORT with an IP address, of IPv6 in brackets");
  reader.Text("packets", out.packets);
  const PacketKind* kind = FindPacketKind(out.packets);
  reader.Require(kind != nullptr, "packets",
                 absl::StrCat("one of ", absl::StrJoin(PacketKinds(), ", ")));
  reader.Whole("packet_bytes", out.packet_bytes);
  const uint64_t most = kind == nullptr ? 0 : MostBytes(*kind);
  const bool fits =
      out.packet_bytes > 0 && out.packet_bytes <= most && out.packet_bytes % kGrainBytes == 0;
  reader.Require(fits, "packet_bytes",
                 absl::StrCat("a multiple of ", kGrainBytes, ", at most ", most));
  reader.Whole("stream", out.stream);
  TD_RETURN_IF_ERROR(reader.Finish());
  out.address = *address;
  return out;
}

Description Describe(const Parameters& /*parameters*/) { return {}; }

}  // namespace tapedeck::gpu_worker::stages::udp
