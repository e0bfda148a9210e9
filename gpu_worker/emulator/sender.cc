#include "gpu_worker/emulator/sender.h"

#include <algorithm>
#include <list>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "dataplane/clock.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::emulator {
namespace {

// Packets sent at once, and no more than a rate has in a millisecond: a burst would fill the
// receiver's buffers as no real sender does.
constexpr uint64_t kMostPackets = 64;
constexpr uint64_t kBatchesPerS = 1000;

// One run.
class Run {
 public:
  Run(const SendSettings& settings, PacketMaker& maker, Target& target)
      : settings_(settings),
        plan_(settings.plan),
        maker_(maker),
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
    if (settings_.stop != nullptr && *settings_.stop) return true;
    return settings_.duration_ns != 0 && clock_.NowNs() - begun_ns_ >= settings_.duration_ns;
  }

  // The next packet, as its fate is, and what goes before it.
  void Add() {
    const PacketMaker::About about = AboutPacket(sent_.packets++);
    const uint64_t samples = about.samples_bytes / plan_.sample_bytes;
    for (Bytes& other : maker_.Before(about)) {
      ++sent_.other_packets;
      Put(std::move(other), fates_.NextBefore());
    }
    const Fates::Fate fate = fates_.Next();
    if (fate == Fates::Fate::kDropped) {
      AddLoss(sent_.samples, samples);
    } else {
      Put(maker_.Make(about), fate);
    }
    sent_.samples += samples;
  }

  PacketMaker::About AboutPacket(uint64_t packet) const {
    return {.packet = packet,
            .offset = packet * plan_.packet_bytes,
            .samples_bytes = plan_.bytes_of(packet)};
  }

  void Put(Bytes packet, Fates::Fate fate) {
    if (fate == Fates::Fate::kReordered) {
      AddHeld();
      ++sent_.reordered_packets;
      held_.push_back(std::move(packet));
      return;
    }
    if (fate == Fates::Fate::kRepeated) {
      ++sent_.repeated_packets;
      waiting_.push_back(packet);
    }
    waiting_.push_back(std::move(packet));
    AddHeld();
  }

  void AddLoss(uint64_t sample, uint64_t samples) {
    ++sent_.dropped_packets;
    sent_.dropped_samples += samples;
    std::vector<Sent::Loss>& losses = sent_.losses;
    if (!losses.empty() && losses.back().sample + losses.back().samples == sample) {
      losses.back().samples += samples;
    } else if (losses.size() < Sent::kMostLosses) {
      losses.push_back({.sample = sample, .samples = samples});
    }
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
    const Bytes end = maker_.End(AboutPacket(sent_.packets - 1));
    if (end.empty()) return absl::OkStatus();
    for (int i = 0; i < settings_.ends; ++i) waiting_.push_back(end);
    return Flush();
  }

  const SendSettings& settings_;
  const Plan& plan_;
  PacketMaker& maker_;
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

absl::StatusOr<Sent> SendAll(const SendSettings& settings, PacketMaker& maker, Target& target) {
  return Run(settings, maker, target).All();
}

std::string TextOf(const Sent& sent, size_t sample_bytes, const std::vector<Retune>& tuned) {
  const double bytes = static_cast<double>(sent.samples * sample_bytes);
  const auto loss = [](std::string* out, const Sent::Loss& one) {
    absl::StrAppendFormat(out, R"({"sample_start": %d, "sample_count": %d})", one.sample,
                          one.samples);
  };
  const auto retune = [](std::string* out, const Retune& one) {
    absl::StrAppendFormat(out, R"({"sample_start": %d, "frequency": %.15g})", one.sample,
                          one.frequency_hz);
  };
  return absl::StrFormat(
      R"({"packets": %d, "samples": %d, "dropped_packets": %d, "dropped_samples": %d, )"
      R"("repeated_packets": %d, "reordered_packets": %d, "other_packets": %d, )"
      R"("seconds": %.3f, "mb_per_s": %.1f, "lost": [%s], "tuned": [%s]})",
      sent.packets, sent.samples, sent.dropped_packets, sent.dropped_samples, sent.repeated_packets,
      sent.reordered_packets, sent.other_packets, sent.seconds,
      sent.seconds > 0 ? bytes / sent.seconds / 1e6 : 0, absl::StrJoin(sent.losses, ", ", loss),
      absl::StrJoin(tuned, ", ", retune));
}

}  // namespace tapedeck::gpu_worker::emulator
