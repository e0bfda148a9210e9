// Plays a recording and looks at every word of it:  play STORAGE RAIL RECORDING
//   play 127.0.0.1:7400 r0=tcp:127.0.0.1 luns/l0/channels/c0/recordings/20260101T000000.000000Z
#include <tapedeck/player.h>

#include <chrono>
#include <cstdint>
#include <cstdio>

using namespace std::chrono_literals;

namespace {

int Fail(const char* what, const tapedeck::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  return 1;
}

// How many words are not what `record` has put there.
std::uint64_t Wrong(const tapedeck::Slot& slot) {
  const auto* const words = static_cast<const std::uint64_t*>(slot.data);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < slot.bytes / sizeof *words; ++i) {
    wrong += words[i] != (slot.number << 32) + i;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return Fail(argv[0], {"USAGE", "STORAGE RAIL RECORDING"});
  tapedeck::DeckOptions deck_options;
  deck_options.device = "host";
  deck_options.rails = {argv[2]};
  deck_options.wait = tapedeck::Wait::kEconomy;
  auto deck = tapedeck::Deck::Open(deck_options);
  if (!deck.ok()) return Fail("deck", deck.status());

  tapedeck::PlayerOptions options;
  options.storage = argv[1];
  options.recording = argv[3];
  auto player = tapedeck::Player::Open(*deck, options);
  if (!player.ok()) return Fail("player", player.status());

  std::uint64_t blocks = 0, missing = 0, wrong = 0;
  while (true) {
    auto slot = player->Next(10s);
    if (!slot.ok()) return Fail("next", slot.status());
    if (slot->data == nullptr && slot->info->state == tapedeck::BlockInfo::kEnd) break;
    if (slot->info->state == tapedeck::BlockInfo::kMissing) ++missing;
    wrong += Wrong(*slot);
    ++blocks;
    const tapedeck::Status released = player->Release(*slot);
    if (!released.ok()) return Fail("release", released);
  }
  std::printf("%llu blocks, %llu missing, %llu wrong words\n", (unsigned long long)blocks,
              (unsigned long long)missing, (unsigned long long)wrong);
  return missing + wrong == 0 ? 0 : 1;
}
