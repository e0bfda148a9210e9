// Plays a recording of cf32_le into code of its own, which measures its power and mean frequency:
//   meter STORAGE RAIL RECORDING     such as 127.0.0.1:7400 r0=tcp:127.0.0.1 l0/c0/RECORDING
#include <tapedeck/player.h>

#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <utility>

namespace {

int Fail(const char* what, const tapedeck::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  return 1;
}

// Yours goes here.
struct Meter {
  unsigned long long samples = 0;
  double power = 0;                 // a sum
  std::complex<double> turn, last;  // from each sample to the next, a sum; the last sample

  void Take(const std::complex<float>* block, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::complex<double> now = block[i];
      power += std::norm(now);
      turn += now * std::conj(std::exchange(last, now));
    }
    samples += count;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return Fail(argv[0], {"USAGE", "STORAGE RAIL RECORDING"});
  tapedeck::DeckOptions deck_options;
  deck_options.device = "host";
  deck_options.rails = {argv[2]};
  deck_options.wait = tapedeck::Wait::kEconomy;
  auto deck = tapedeck::Deck::Open(deck_options);
  if (!deck.ok()) return Fail("deck", deck.status());
  auto player = tapedeck::Player::Open(*deck, {argv[1], argv[3]});
  if (!player.ok()) return Fail("player", player.status());
  if (player->datatype() != "cf32_le") return Fail("not cf32_le", {"USAGE", player->datatype()});

  Meter meter;
  while (true) {
    auto slot = player->Next(std::chrono::seconds(10));
    if (!slot.ok()) return Fail("next", slot.status());
    if (slot->info->state == tapedeck::BlockInfo::kEnd) break;
    if (slot->info->state == tapedeck::BlockInfo::kMissing) meter.last = 0;
    meter.Take(static_cast<const std::complex<float>*>(slot->data), slot->bytes / 8);
    if (auto released = player->Release(*slot); !released.ok()) return Fail("release", released);
  }
  if (meter.samples == 0)
    return Fail("nothing to measure", {"USAGE", "the recording has no samples"});
  if (!std::isfinite(meter.power))
    return Fail("nothing to measure", {"USAGE", "a sample of the recording is not a number"});
  std::printf("%llu samples, %.2f dBFS, %.3f Hz\n", meter.samples,
              10 * std::log10(meter.power / static_cast<double>(meter.samples)),
              std::arg(meter.turn) / 6.283185307179586 * player->sample_rate());
}
