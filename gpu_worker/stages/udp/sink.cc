#include "gpu_worker/stages/udp/sink.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/packets/datagrams.h"
#include "gpu_worker/packets/named.h"
#include "gpu_worker/packets/numbered/packet.h"
#include "gpu_worker/stages/parameters.h"
#include "gpu_worker/stages/udp/packer.h"
#include "services/base/errors.h"
#include "services/signal/vita49/packet.h"

namespace tapedeck::gpu_worker::stages::udp {

using packets::Datagrams;

namespace {

struct PacketKind {
  const char* name;
  size_t header_bytes;  // before the samples of a packet
  // INVALID_ARGUMENT (ARGUMENT_INVALID): the kind cannot carry such samples.
  absl::StatusOr<std::unique_ptr<Packer>> (*create)(const PackerSettings& settings);
};

// The one place that knows them all.
constexpr PacketKind kPacketKinds[] = {
    {"numbered", packets::numbered::kHeaderBytes, &numbered::CreatePacker},
    {"vita49", services::vita49::kDataHeaderBytes, &vita49::CreatePacker},
};

// Whole samples of every datatype.
constexpr uint64_t kGrainBytes = 16;

uint64_t MostBytes(const PacketKind& kind) {
  return (packets::kMaxPacketBytes - kind.header_bytes) / kGrainBytes * kGrainBytes;
}

constexpr char kOption[] = "--send-allow";

// A port that has a link empties its queue in milliseconds. A job that is cancelled ends no later.
constexpr absl::Duration kPatience = absl::Seconds(1);

absl::Status Unreachable(const std::string& address, const absl::Status& why) {
  return services::WithReason(dataplane::Prefixed(absl::StrCat("udp sink: ", address, ": "), why),
                              "DESTINATION_UNREACHABLE", {{"address", address}});
}

class UdpSink final : public SinkStage {
 public:
  UdpSink(Datagrams datagrams, std::unique_ptr<Packer> packer, std::string address)
      : datagrams_(std::move(datagrams)),
        packer_(std::move(packer)),
        address_(std::move(address)) {}

  bool reads_payload() const override { return true; }

  absl::Status Consume(const dataplane::BlockHeader& header,
                       std::span<const std::byte> payload) override {
    TD_ASSIGN_OR_RETURN(const Packets packets, packer_->Pack(header, payload));
    if (packets.empty()) return absl::OkStatus();
    TD_RETURN_IF_ERROR(Send(packets));
    sent_ = true;
    if (datagrams_.refused() == 0) return absl::OkStatus();
    return Unreachable(address_, absl::UnavailableError("no program receives there"));
  }

  // A stream that breaks off has no end, as that of a device has none.
  absl::Status Close(const absl::Status& cause) override {
    return cause.ok() && sent_ ? Send(packer_->End()) : absl::OkStatus();
  }

 private:
  absl::Status Send(Packets packets) {
    const absl::Status sent = datagrams_.Send(packets, kPatience);
    return sent.ok() ? sent : Unreachable(address_, sent);
  }

  Datagrams datagrams_;
  const std::unique_ptr<Packer> packer_;
  const std::string address_;
  bool sent_ = false;
};

absl::Status CheckPlace(const Parameters& parameters, const SinkSetup& setup) {
  const std::string address = parameters.address.text();
  if (!setup.destinations.Fit(address)) {
    return services::WithReason(absl::PermissionDeniedError(absl::StrCat(
                                    "udp sink: ", address, ": this worker may only send to ",
                                    setup.destinations.Described().substr(0, 1000),
                                    "; name one of these, or start the worker with ", kOption,
                                    " HOST:PORT of this one, too")),
                                "DESTINATION_NOT_ALLOWED",
                                {{"address", address}, {"option", kOption}});
  }
  if (setup.block_bytes % parameters.packet_bytes == 0) return absl::OkStatus();
  return services::ArgumentInvalid(
      "udp.packet_bytes", absl::StrCat("udp: packet_bytes is ", parameters.packet_bytes,
                                       "; it must divide a block, which has ", setup.block_bytes));
}

}  // namespace

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader("udp", given);
  std::string text;
  reader.Text("address", text);
  const auto address = dataplane::ParseIpAndPort(text);
  reader.Require(address.has_value(), "address",
                 "HOST:PORT with an IP address, of IPv6 in brackets");
  reader.Text("packets", out.packets);
  const PacketKind* kind = packets::FindNamed(kPacketKinds, out.packets);
  reader.Require(kind != nullptr, "packets",
                 absl::StrCat("one of ", absl::StrJoin(packets::NamesOf(kPacketKinds), ", ")));
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

absl::StatusOr<MadeSink> Create(const Parameters& parameters, const SinkSetup& setup) {
  TD_RETURN_IF_ERROR(CheckPlace(parameters, setup));
  TD_ASSIGN_OR_RETURN(auto packer, packets::FindNamed(kPacketKinds, parameters.packets)
                                       ->create({.stream = parameters.stream,
                                                 .packet_bytes = parameters.packet_bytes,
                                                 .block_bytes = setup.block_bytes,
                                                 .blocks = setup.blocks,
                                                 .datatype = setup.datatype,
                                                 .sample_rate = setup.sample_rate,
                                                 .annotations = setup.annotations}));
  const std::string address = parameters.address.text();
  auto datagrams = Datagrams::Connect(parameters.address);
  if (!datagrams.ok()) return Unreachable(address, datagrams.status());
  return MadeSink{
      .stage = std::make_unique<UdpSink>(*std::move(datagrams), std::move(packer), address),
      .needs_order = true};
}

}  // namespace tapedeck::gpu_worker::stages::udp
