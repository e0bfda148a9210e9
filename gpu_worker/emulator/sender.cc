#include "gpu_worker/emulator/sender.h"

#include <algorithm>
#include <list>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "dataplane/clock.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::emulator {
namespace {

using Bytes = std::vector<std::byte>;

// Packets sent at once, and no more than a rate has in a millisecond: a burst would fill the
// receiver's buffers as no real sender does.
constexpr uint64_t kMostPackets = 64;
constexpr uint64_t kBatchesPerS = 1000;

// One run.
class Run {
 public:
  Run(const SendSettings& settings, const HeaderKind& header, Target& target)
      : settings_(settings),
        plan_(settings.plan),
        header_(header),
        target_(target),
        fates_(settings.plan) {
    const uint64_t in_turn = settings.bytes_per_s / kBatchesPerS / plan_.packet_bytes;
    batch_ =
        settings.bytes_per_s == 0 ? kMostPackets : std::clamp(in_turn, uint64_t{1}, kMostPackets);
  }

  absl::StatusOr<Sent> All() {
    const uint64_t packets = plan_.packets();
    begun_ns_ = clock_.NowNs();
    while (sent_.packets < packets && !IsOver()) {
      for (uint64_t i = 0; i < batch_ && sent_.packets < packets; ++i) Add();
      AwaitTurn();
      TD_RETURN_IF_ERROR(Flush());
    }
    AddHeld();
    TD_RETURN_IF_ERROR(Flush());
    TD_RETURN_IF_ERROR(SendEnd());
    sent_.seconds = static_cast<double>(clock_.NowNs() - begun_ns_) / 1e9;
    return sent_;
  }

 private:
  bool IsOver() const {
    return settings_.duration_ns != 0 && clock_.NowNs() - begun_ns_ >= settings_.duration_ns;
  }

  // The next packet, as its fate is.
  void Add() {
    const uint64_t packet = sent_.packets++;
    const size_t bytes = plan_.bytes_of(packet);
    sent_.samples += bytes / plan_.sample_bytes;
    switch (fates_.Next()) {
      case Fates::Fate::kDropped:
        ++sent_.dropped_packets;
        sent_.dropped_samples += bytes / plan_.sample_bytes;
        return;
      case Fates::Fate::kReordered:
        AddHeld();
        ++sent_.reordered_packets;
        held_.push_back(Make(packet, bytes));
        return;
      case Fates::Fate::kRepeated:
        ++sent_.repeated_packets;
        waiting_.push_back(Make(packet, bytes));
        waiting_.push_back(waiting_.back());
        break;
      case Fates::Fate::kSent:
        waiting_.push_back(Make(packet, bytes));
    }
    AddHeld();
  }

  Bytes Make(uint64_t packet, size_t bytes) const {
    Bytes made(header_.bytes + bytes);
    const std::span<std::byte> out(made);
    header_.write({.packet = packet, .samples_bytes = bytes}, out.first(header_.bytes));
    FillSamples(packet * plan_.packet_bytes, out.subspan(header_.bytes));
    return made;
  }

  void AddHeld() { waiting_.splice(waiting_.end(), held_); }

  void AwaitTurn() const {
    if (settings_.bytes_per_s == 0) return;
    const double bytes = static_cast<double>(sent_.samples * plan_.sample_bytes);
    const auto due_ns =
        static_cast<int64_t>(bytes / static_cast<double>(settings_.bytes_per_s) * 1e9);
    const int64_t early_ns = begun_ns_ + due_ns - clock_.NowNs();
    if (early_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(early_ns));
  }

  absl::Status Flush() {
    const std::vector<std::span<const std::byte>> packets(waiting_.begin(), waiting_.end());
    TD_RETURN_IF_ERROR(target_.Send(packets));
    waiting_.clear();
    return absl::OkStatus();
  }

  absl::Status SendEnd() {
    if (sent_.packets == 0) return absl::OkStatus();
    const uint64_t last = sent_.packets - 1;
    Bytes end(header_.bytes);
    header_.write({.packet = last, .samples_bytes = plan_.bytes_of(last), .end = true}, end);
    for (int i = 0; i < settings_.ends; ++i) waiting_.push_back(end);
    return Flush();
  }

  const SendSettings& settings_;
  const Plan& plan_;
  const HeaderKind& header_;
  Target& target_;
  Fates fates_;
  uint64_t batch_ = 1;
  const dataplane::SystemClock clock_;
  int64_t begun_ns_ = 0;
  std::list<Bytes> waiting_;  // to be sent, in order
  std::list<Bytes> held_;     // comes behind the next packet
  Sent sent_;
};

}  // namespace

absl::StatusOr<Sent> SendAll(const SendSettings& settings, const HeaderKind& header,
                             Target& target) {
  return Run(settings, header, target).All();
}

std::string TextOf(const Sent& sent, size_t sample_bytes) {
  const double bytes = static_cast<double>(sent.samples * sample_bytes);
  return absl::StrFormat(
      R"({"packets": %d, "samples": %d, "dropped_packets": %d, "dropped_samples": %d, )"
      R"("repeated_packets": %d, "reordered_packets": %d, "seconds": %.3f, "mb_per_s": %.1f})",
      sent.packets, sent.samples, sent.dropped_packets, sent.dropped_samples, sent.repeated_packets,
      sent.reordered_packets, sent.seconds, sent.seconds > 0 ? bytes / sent.seconds / 1e6 : 0);
}

}  // namespace tapedeck::gpu_worker::emulator
