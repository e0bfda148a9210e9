#include "services/signal/vita49/packetizer.h"

#include <algorithm>
#include <utility>

namespace tapedeck::services::vita49 {
namespace {

constexpr std::array<std::byte, kWordBytes> kPadding{};

// The packets' count tells a receiver of what is missing, as if so many packets had been lost; how
// much it is, their times tell. Half of a round is least like packets out of order.
constexpr uint32_t kCountOfLoss = 8;

}  // namespace

Packetizer::Packetizer(const PacketizerSettings& settings)
    : settings_(settings),
      sample_bytes_(settings.datatype.bytes_per_sample()),
      history_(settings.annotations) {}

std::span<const PacketParts> Packetizer::Pack(uint64_t first, std::optional<int64_t> time_ns,
                                              std::span<const std::byte> samples) {
  Forget();
  if (!begun()) Begin(first, time_ns);
  end_ = first + samples.size() / sample_bytes_;
  Add(first, samples);
  return packets_;
}

std::span<const PacketParts> Packetizer::End() {
  Forget();
  TellChanges(end_ - 1);
  return packets_;
}

void Packetizer::Forget() {
  packets_.clear();
  headers_.clear();
  contexts_.clear();
}

void Packetizer::Begin(uint64_t first, std::optional<int64_t> time_ns) {
  clock_ = SampleClock::Create(settings_.sample_rate, time_ns);
  begin_ = first;
  told_ = first;
}

void Packetizer::Add(uint64_t first, std::span<const std::byte> samples) {
  const uint64_t most = settings_.packet_samples;
  for (uint64_t at = history_.EndOfLoss(first); at < end_;) {
    // To the end of the packet that it would be without cuts.
    const uint64_t whole = at + most - (at - first) % most;
    const uint64_t next =
        std::min({end_, whole, history_.ChangeBehind(at), history_.LossBehind(at)});
    Tell(at, next);
    AddData(at, samples.subspan((at - first) * sample_bytes_, (next - at) * sample_bytes_));
    at = history_.EndOfLoss(next);
  }
}

void Packetizer::Tell(uint64_t at, uint64_t next) {
  TellChanges(at);
  const bool due = static_cast<double>(next - told_) > settings_.sample_rate;
  if (told_anything_ && (!due || told_ == at)) return;
  told_ = at;
  AddContext(at, !std::exchange(told_anything_, true));
}

void Packetizer::TellChanges(uint64_t up_to) {
  while (told_anything_ && history_.ChangeBehind(told_) <= up_to) {
    told_ = history_.ChangeBehind(told_);
    AddContext(told_, /*changed=*/true);
  }
}

void Packetizer::AddContext(uint64_t sample, bool changed) {
  const Context* known = history_.At(sample);
  Context context = known == nullptr ? Context() : *known;
  context.sample_rate = settings_.sample_rate;  // by which the packets have their times
  contexts_.push_back(Encode(ContextPacket{.stream = settings_.stream,
                                           .number = next_context_++,
                                           .time = clock_->At(sample - begin_),
                                           .context = context,
                                           .format = settings_.datatype,
                                           .changed = changed}));
  packets_.push_back({.header = contexts_.back()});
}

void Packetizer::AddData(uint64_t sample, std::span<const std::byte> samples) {
  if (sent_ != 0 && sample != sent_) next_data_ += kCountOfLoss;
  sent_ = sample + samples.size() / sample_bytes_;
  const DataHeader header{.stream = settings_.stream,
                          .number = next_data_++,
                          .time = clock_->At(sample - begin_),
                          .samples_bytes = samples.size()};
  headers_.push_back(Encode(header));
  packets_.push_back({.header = std::span(headers_.back()).first(header.bytes()),
                      .samples = samples,
                      .padding = std::span(kPadding).first(header.padding_bytes())});
}

}  // namespace tapedeck::services::vita49
