#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/udp/packer.h"
#include "services/base/errors.h"
#include "services/signal/vita49/packetizer.h"
#include "services/signal/vita49/sample_clock.h"

namespace tapedeck::gpu_worker::stages::udp::vita49 {

using services::vita49::Packetizer;
using services::vita49::SampleClock;

namespace {

class VitaPacker final : public Packer {
 public:
  VitaPacker(const PackerSettings& settings, const dataplane::Datatype& datatype)
      : block_samples_(settings.block_bytes / datatype.bytes_per_sample()),
        blocks_(settings.blocks),
        sample_rate_(settings.sample_rate),
        packetizer_({.stream = settings.stream,
                     .datatype = datatype,
                     .sample_rate = settings.sample_rate,
                     .packet_samples = settings.packet_bytes / datatype.bytes_per_sample(),
                     .annotations = settings.annotations}) {}

  // Samples are counted as the recording counts them.
  absl::StatusOr<Packets> Pack(const dataplane::BlockHeader& header,
                               std::span<const std::byte> payload) override {
    const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
    if (!packetizer_.begun()) {
      if (missing) return Packets();
      // An index may hold any number.
      begin_ = std::min<uint64_t>(header.sample_index, INT64_MAX);
      begin_sequence_ = header.sequence;
      begin_ns_ = TimeOf(header);
    }
    const uint64_t blocks = header.sequence - begin_sequence_;
    const uint64_t first = begin_ + blocks * block_samples_;
    if (!missing) {
      TD_RETURN_IF_ERROR(CheckTimes(std::max(blocks + 1, blocks_)));
      return packetizer_.Pack(first, begin_ns_, payload);
    }
    packetizer_.Skip(first + block_samples_);
    return Packets();
  }

  Packets End() override { return packetizer_.End(); }

 private:
  // Of so many blocks since the first; of all, where their number is known.
  absl::Status CheckTimes(uint64_t blocks) const {
    const std::string why =
        services::vita49::WhyNoTimes(begin_ns_, blocks * block_samples_, sample_rate_);
    if (why.empty()) return absl::OkStatus();
    return services::ArgumentInvalid(
        "udp.packets",
        absl::StrCat("udp: packets of vita49 ", why, "; packets=numbered go without times"));
  }

  static std::optional<int64_t> TimeOf(const dataplane::BlockHeader& header) {
    if (header.capture_ns == dataplane::kTimeUnknown) return std::nullopt;
    return header.capture_ns;
  }

  const uint64_t block_samples_;
  const uint64_t blocks_;  // that come; 0: unknown
  const double sample_rate_;
  Packetizer packetizer_;
  std::optional<int64_t> begin_ns_;  // of the first sample; none: unknown
  uint64_t begin_ = 0;               // the first sample of the first block that came
  uint64_t begin_sequence_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Packer>> CreatePacker(const PackerSettings& settings) {
  TD_ASSIGN_OR_RETURN(const auto datatype, dataplane::ParseDatatype(settings.datatype));
  const auto refused = [](const auto&... why) {
    return services::ArgumentInvalid("udp.packets",
                                     absl::StrCat("udp: packets of vita49 ", why...));
  };
  if (datatype.bits > 8 && !datatype.big_endian) {
    const std::string big = settings.datatype.substr(0, settings.datatype.rfind('_')) + "_be";
    return refused("carry big-endian samples, and those of this playback are ", settings.datatype,
                   "; play it with --transform convert:from=", settings.datatype, ",to=", big);
  }
  if (settings.sample_rate <= 0) {
    return refused(
        "have times, and the channel of the recording had no sample rate; give it one for its next "
        "recordings (tapectl channel update --sample-rate)");
  }
  if (!SampleClock::Create(settings.sample_rate, 0).has_value()) {
    return refused("have times in picoseconds: a sample rate of ", settings.sample_rate,
                   " is not from ", SampleClock::kLeastRate, " to ", SampleClock::kMostRate);
  }
  return std::make_unique<VitaPacker>(settings, datatype);
}

}  // namespace tapedeck::gpu_worker::stages::udp::vita49
