#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/formats/vita49/pcap.h"
#include "services/formats/vita49/vita49.h"
#include "services/signal/vita49/packetizer.h"

namespace tapedeck::services::formats {
namespace {

constexpr uint16_t kPort = 4991;  // IANA: vrt
// Fits a network's frames.
constexpr uint64_t kDefaultSampleBytes = 1024;
constexpr uint64_t kMostSampleBytes = kMaxDatagramBytes - vita49::kDataHeaderBytes;

vita49::PacketizerSettings SettingsOf(const Subject& subject, uint64_t packet_samples) {
  vita49::PacketizerSettings settings{.datatype = subject.type,
                                      .sample_rate = subject.recording.sample_rate,
                                      .packet_samples = packet_samples,
                                      .annotations = subject.recording.annotations};
  settings.datatype.big_endian = subject.type.bits > 8;
  return settings;
}

class Vita49Writer final : public Writer {
 public:
  Vita49Writer(const Subject& subject, uint64_t packet_samples)
      : subject_(subject), packetizer_(SettingsOf(subject, packet_samples)) {}

  absl::Status Begin(Output& out) override { return out.Put(PcapHead()); }

  // What is missing is in no packet.
  absl::Status Write(const Piece& piece, Output& out) override {
    const uint64_t samples = piece.bytes / subject_.sample_bytes();
    if (piece.data.empty()) {
      if (packetizer_.begun()) packetizer_.Skip(first_index_ + end_ + samples);
      end_ += samples;
      return absl::OkStatus();
    }
    if (!packetizer_.begun()) first_index_ = piece.sample_index - end_;
    const uint64_t first = first_index_ + end_;
    end_ += samples;
    return Put(packetizer_.Pack(first, TimeOf(subject_, end_ - samples), BigEndian(piece, samples)),
               out);
  }

  absl::Status Finish(const Seen& /*seen*/, Output& out) override {
    return packetizer_.begun() ? Put(packetizer_.End(), out) : absl::OkStatus();
  }

 private:
  // Whole samples; they may be the recording's own memory.
  std::span<const std::byte> BigEndian(const Piece& piece, uint64_t samples) {
    const auto whole = piece.data.first(samples * subject_.sample_bytes());
    if (subject_.type.big_endian || subject_.type.bits == 8) return whole;
    const auto part = static_cast<size_t>(subject_.type.bits / 8);
    swapped_.assign(whole.begin(), whole.end());
    SwapBytes(swapped_, part);
    return swapped_;
  }

  absl::Status Put(std::span<const PacketParts> packets, Output& out) {
    text_.clear();
    for (const PacketParts& packet : packets) {
      bytes_.assign(packet.header.begin(), packet.header.end());
      bytes_.insert(bytes_.end(), packet.samples.begin(), packet.samples.end());
      bytes_.insert(bytes_.end(), packet.padding.begin(), packet.padding.end());
      if (const auto decoded = vita49::Decode(bytes_); decoded && decoded->time.has_seconds) {
        time_ns_ = int64_t{decoded->time.seconds} * 1'000'000'000 +
                   static_cast<int64_t>(decoded->time.fraction / 1000);
      }
      AppendDatagram({.time_ns = time_ns_, .port = kPort, .bytes = bytes_}, &text_);
    }
    return out.Put(text_);
  }

  const Subject subject_;
  vita49::Packetizer packetizer_;
  uint64_t first_index_ = 0;  // of the subject's first sample, in the stream
  uint64_t end_ = 0;          // samples that have come
  int64_t time_ns_ = 0;       // of the last packet; 0: unknown, as PCAPs have it
  std::vector<std::byte> swapped_;
  std::vector<std::byte> bytes_;  // of a packet
  std::string text_;              // of a piece
};

}  // namespace

absl::StatusOr<std::unique_ptr<Writer>> CreateVita49Writer(const Subject& subject,
                                                           const WriterOptions& options) {
  const double rate = subject.recording.sample_rate;
  if (!vita49::SampleClock::Create(rate, 0).has_value()) {
    return ArgumentInvalid(
        "format",
        absl::StrCat(
            "packets of VITA 49 have times in picoseconds, which do not fit a sample rate of ",
            rate, "; ", vita49::SampleClock::kLeastRate, " to ", vita49::SampleClock::kMostRate,
            " fit"));
  }
  const std::string why = vita49::WhyNoTimes(TimeOf(subject, 0), subject.samples(), rate);
  if (!why.empty()) {
    return ArgumentInvalid(
        "format",
        absl::StrCat(
            "packets of VITA 49 ", why,
            "; --format sigmf keeps them, and --from-sample and --to-sample choose samples"));
  }
  const uint64_t sample_bytes = subject.sample_bytes();
  const uint64_t samples =
      options.packet_samples == 0 ? kDefaultSampleBytes / sample_bytes : options.packet_samples;
  const uint64_t block_samples = subject.recording.block_bytes / sample_bytes;
  if (samples > kMostSampleBytes / sample_bytes || block_samples % samples != 0) {
    return ArgumentInvalid("packet_samples",
                           absl::StrCat(samples, " samples do not make a packet; give at most ",
                                        kMostSampleBytes / sample_bytes, " and a divisor of ",
                                        block_samples, ", the samples of a block"));
  }
  return std::make_unique<Vita49Writer>(subject, samples);
}

}  // namespace tapedeck::services::formats
