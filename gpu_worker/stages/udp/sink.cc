#include "gpu_worker/stages/udp/sink.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/packets/datagrams.h"
#include "gpu_worker/packets/numbered/packet.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::stages::udp {

namespace numbered = packets::numbered;
using packets::Datagrams;
using packets::TextOf;

namespace {

constexpr char kOption[] = "--send-allow";

// A port that has a link empties its queue in milliseconds. A job that is cancelled ends no later.
constexpr absl::Duration kPatience = absl::Seconds(1);

// One may get lost.
constexpr int kEnds = 3;

absl::Status Unreachable(const std::string& address, const absl::Status& why) {
  return services::WithReason(dataplane::Prefixed(absl::StrCat("udp sink: ", address, ": "), why),
                              "DESTINATION_UNREACHABLE", {{"address", address}});
}

class UdpSink final : public SinkStage {
 public:
  UdpSink(Datagrams datagrams, const Parameters& parameters, uint64_t block_bytes)
      : datagrams_(std::move(datagrams)),
        address_(TextOf(parameters.address)),
        packet_bytes_(parameters.packet_bytes),
        stream_(parameters.stream),
        headers_(block_bytes / packet_bytes_) {
    packets_.reserve(headers_.size());
  }

  bool reads_payload() const override { return true; }

  absl::Status Consume(const dataplane::BlockHeader& header,
                       std::span<const std::byte> payload) override {
    const uint64_t first = header.sequence * headers_.size();
    if ((header.flags & dataplane::kBlockMissing) != 0) {
      last_ = {.number = NumberOf(first + headers_.size() - 1),
               .stream = stream_,
               .samples_bytes = static_cast<uint16_t>(packet_bytes_)};
      return absl::OkStatus();
    }
    packets_.clear();
    for (size_t i = 0; !payload.empty(); ++i) {
      const auto samples = payload.first(std::min(payload.size(), packet_bytes_));
      last_ = {.number = NumberOf(first + i),
               .stream = stream_,
               .samples_bytes = static_cast<uint16_t>(samples.size())};
      headers_[i] = numbered::Encode(last_);
      packets_.push_back({.header = headers_[i], .samples = samples});
      payload = payload.subspan(samples.size());
    }
    TD_RETURN_IF_ERROR(Send());
    sent_ = true;
    if (datagrams_.refused() == 0) return absl::OkStatus();
    return Unreachable(address_, absl::UnavailableError("nobody receives there"));
  }

  // A stream that breaks off has no end, as that of a device has none.
  absl::Status Close(const absl::Status& cause) override {
    if (!cause.ok() || !sent_) return absl::OkStatus();
    last_.end = true;
    const auto end = numbered::Encode(last_);
    packets_.assign(kEnds, {.header = end, .samples = {}});
    return Send();
  }

 private:
  static uint32_t NumberOf(uint64_t packet) { return static_cast<uint32_t>(packet); }

  absl::Status Send() {
    const absl::Status sent = datagrams_.Send(packets_, kPatience);
    return sent.ok() ? sent : Unreachable(address_, sent);
  }

  Datagrams datagrams_;
  const std::string address_;
  const size_t packet_bytes_;
  const uint32_t stream_;
  std::vector<std::array<std::byte, numbered::kHeaderBytes>> headers_;  // of a block's packets
  std::vector<Datagrams::Packet> packets_;
  numbered::Header last_;
  bool sent_ = false;
};

absl::Status CheckPlace(const Parameters& parameters, const SinkPlace& place) {
  const std::string address = TextOf(parameters.address);
  if (!place.destinations.Fit(address)) {
    return services::WithReason(absl::PermissionDeniedError(absl::StrCat(
                                    "udp sink: ", address, ": this worker sends to no other than ",
                                    place.destinations.Described().substr(0, 1000),
                                    "; start it with ", kOption, " HOST:PORT of this one, too")),
                                "DESTINATION_NOT_ALLOWED",
                                {{"address", address}, {"option", kOption}});
  }
  if (place.block_bytes % parameters.packet_bytes == 0) return absl::OkStatus();
  return services::ArgumentInvalid(
      "udp.packet_bytes", absl::StrCat("udp: packet_bytes is ", parameters.packet_bytes,
                                       "; it must divide a block, which has ", place.block_bytes));
}

}  // namespace

absl::StatusOr<MadeSink> Create(const Parameters& parameters, const SinkPlace& place) {
  TD_RETURN_IF_ERROR(CheckPlace(parameters, place));
  auto datagrams = Datagrams::Connect(parameters.address);
  if (!datagrams.ok()) return Unreachable(TextOf(parameters.address), datagrams.status());
  return MadeSink{
      .stage = std::make_unique<UdpSink>(*std::move(datagrams), parameters, place.block_bytes),
      .needs_order = true};
}

}  // namespace tapedeck::gpu_worker::stages::udp
