#include "gpu_worker/stages/ingest/parameters.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/ingest/list.h"
#include "gpu_worker/stages/parameters.h"
#include "services/base/addresses/listen_address.h"

namespace tapedeck::gpu_worker::stages::ingest {
namespace {

constexpr size_t kMostAddressBytes = 256;
constexpr double kLongestTimeout = 3600;
constexpr uint64_t kLeastBuffer = 64 << 10;
constexpr uint64_t kMostBuffer = 1 << 30;

bool IsAddress(const std::string& text) {
  return text.size() <= kMostAddressBytes && text.find('\0') == std::string::npos &&
         services::CheckListenAddress(text).ok();
}

}  // namespace

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader("ingest", given);
  reader.Text("udp", out.udp);
  reader.Text("tcp", out.tcp);
  const std::string transport = out.tcp.empty() ? "udp" : "tcp";
  reader.Require(out.udp.empty() || out.tcp.empty(), "tcp", "left out where udp is given");
  reader.Require(IsAddress(out.transport_address()), transport,
                 "HOST:PORT, where packets come to, or tcp must");
  for (auto [name, text] : {std::pair("interface", &out.interface), {"from", &out.from}}) {
    reader.Text(name, *text);
    reader.Require(text->empty() || (!out.udp.empty() && text->size() <= kMostAddressBytes), name,
                   "with a multicast address in udp");
  }
  reader.Text("packets", out.packets);
  reader.Require(FindPacketKind(out.packets) != nullptr, "packets",
                 absl::StrCat("one of ", absl::StrJoin(PacketKinds(), ", ")));
  reader.Whole("stream", out.stream);
  reader.Require(out.stream <= UINT32_MAX || out.stream == kAnyStream, "stream",
                 "a whole number of 32 bits");
  reader.Number("timeout", out.timeout, 0.001, kLongestTimeout);
  reader.Text("silence", out.silence);
  reader.Require(out.silence == "end" || out.silence == "error", "silence", "end or error");
  reader.Whole("buffer", out.buffer);
  reader.Require(out.buffer >= kLeastBuffer && out.buffer <= kMostBuffer, "buffer",
                 absl::StrCat("from ", kLeastBuffer, " to ", kMostBuffer, " bytes"));
  TD_RETURN_IF_ERROR(reader.Finish());
  return out;
}

Description Describe(const Parameters& parameters) {
  return {.parameters = {{"packets", parameters.packets}}, .ends = true, .waits = true};
}

}  // namespace tapedeck::gpu_worker::stages::ingest
