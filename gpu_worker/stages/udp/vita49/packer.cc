#include "gpu_worker/stages/udp/vita49/packer.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/packets/vita49/packet.h"
#include "gpu_worker/packets/vita49/sample_clock.h"
#include "gpu_worker/stages/udp/vita49/story.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::stages::udp::vita49 {

using packets::Datagrams;
using packets::vita49::Context;
using packets::vita49::DataHeader;
using packets::vita49::Encode;
using packets::vita49::kDataHeaderBytes;
using packets::vita49::kWordBytes;
using packets::vita49::SampleClock;

namespace {

constexpr std::array<std::byte, kWordBytes> kPadding{};

class VitaPacker final : public Packer {
 public:
  VitaPacker(const PackerSettings& settings, const dataplane::Datatype& datatype)
      : stream_(settings.stream),
        sample_rate_(settings.sample_rate),
        datatype_(datatype),
        sample_bytes_(datatype.bytes_per_sample()),
        packet_samples_(settings.packet_bytes / sample_bytes_),
        block_samples_(settings.block_bytes / sample_bytes_),
        story_(settings.annotations) {}

  // Samples are counted as the recording counts them.
  Packets Pack(const dataplane::BlockHeader& header, std::span<const std::byte> payload) override {
    packets_.clear();
    headers_.clear();
    contexts_.clear();
    const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
    if (!clock_.has_value() && missing) return packets_;
    if (!clock_.has_value()) Begin(header);
    const uint64_t first = begin_ + (header.sequence - begin_sequence_) * block_samples_;
    end_ = first + (missing ? block_samples_ : payload.size() / sample_bytes_);
    if (!missing) Add(first, payload);
    return packets_;
  }

  // What has changed among the last samples, which are not there.
  Packets End() override {
    packets_.clear();
    TellChanges(end_ - 1);
    return packets_;
  }

 private:
  // An index may hold any number.
  void Begin(const dataplane::BlockHeader& header) {
    clock_ = SampleClock::Create(sample_rate_, header.capture_ns);
    begin_ = std::min<uint64_t>(header.sample_index, INT64_MAX);
    begin_sequence_ = header.sequence;
    told_ = begin_;
  }

  void Add(uint64_t first, std::span<const std::byte> payload) {
    for (uint64_t at = story_.EndOfLoss(first); at < end_;) {
      // To the end of the packet that it would be without cuts.
      const uint64_t whole = at + packet_samples_ - (at - first) % packet_samples_;
      const uint64_t next = std::min({end_, whole, story_.ChangeBehind(at), story_.LossBehind(at)});
      Tell(at, next);
      AddData(at, payload.subspan((at - first) * sample_bytes_, (next - at) * sample_bytes_));
      at = story_.EndOfLoss(next);
    }
  }

  // What holds from `at` on, if it is new or was told a second before `next`; and what has changed
  // among samples that are not there.
  void Tell(uint64_t at, uint64_t next) {
    TellChanges(at);
    const bool due = static_cast<double>(next - told_) > sample_rate_;
    if (told_anything_ && (!due || told_ == at)) return;
    told_ = at;
    AddContext(at, !std::exchange(told_anything_, true));
  }

  void TellChanges(uint64_t up_to) {
    while (told_anything_ && story_.ChangeBehind(told_) <= up_to) {
      told_ = story_.ChangeBehind(told_);
      AddContext(told_, /*changed=*/true);
    }
  }

  void AddContext(uint64_t sample, bool changed) {
    const Context* known = story_.At(sample);
    contexts_.push_back(Encode(packets::vita49::ContextPacket{
        .stream = stream_,
        .number = next_context_++,
        .time = clock_->At(sample - begin_),
        .context = known == nullptr ? Context{.sample_rate = sample_rate_} : *known,
        .format = datatype_,
        .changed = changed}));
    packets_.push_back({.header = contexts_.back()});
  }

  void AddData(uint64_t sample, std::span<const std::byte> samples) {
    const DataHeader header{.stream = stream_,
                            .number = next_data_++,
                            .time = clock_->At(sample - begin_),
                            .samples_bytes = samples.size()};
    headers_.push_back(Encode(header));
    packets_.push_back({.header = headers_.back(),
                        .samples = samples,
                        .padding = std::span(kPadding).first(header.padding_bytes())});
  }

  const uint32_t stream_;
  const double sample_rate_;
  const dataplane::Datatype datatype_;
  const size_t sample_bytes_;
  const uint64_t packet_samples_;
  const uint64_t block_samples_;
  const Story story_;
  std::optional<SampleClock> clock_;  // none: no block has come
  uint64_t begin_ = 0;                // its first sample
  uint64_t begin_sequence_ = 0;
  uint64_t end_ = 0;   // one behind the newest
  uint64_t told_ = 0;  // the sample that the last context is of
  bool told_anything_ = false;
  uint32_t next_data_ = 0;
  uint32_t next_context_ = 0;
  std::vector<Datagrams::Packet> packets_;
  // What they refer to, of one block.
  std::deque<std::array<std::byte, kDataHeaderBytes>> headers_;
  std::deque<std::vector<std::byte>> contexts_;
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
