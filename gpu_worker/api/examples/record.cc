// Records samples that the CPU makes:  record STORAGE RAIL CHANNEL BLOCKS
//   record 127.0.0.1:7400 r0=tcp:127.0.0.1 l0/c0 100
#include <tapedeck/recorder.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace std::chrono_literals;

namespace {

int Fail(const char* what, const tapedeck::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  return 1;
}

// Any samples will do; here each block counts on from its number.
void Fill(const tapedeck::Slot& slot) {
  auto* const words = static_cast<std::uint64_t*>(slot.data);
  for (std::size_t i = 0; i < slot.bytes / sizeof *words; ++i) words[i] = (slot.number << 32) + i;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return Fail(argv[0], {"USAGE", "STORAGE RAIL CHANNEL BLOCKS"});
  tapedeck::DeckOptions deck_options;
  deck_options.device = "host";
  deck_options.rails = {argv[2]};
  deck_options.wait = tapedeck::Wait::kEconomy;
  auto deck = tapedeck::Deck::Open(deck_options);
  if (!deck.ok()) return Fail("deck", deck.status());

  tapedeck::RecorderOptions options;
  options.storage = argv[1];
  options.channel = argv[3];
  options.labels = {{"experiment", "counting"}};
  auto recorder = tapedeck::Recorder::Open(*deck, options);
  if (!recorder.ok()) return Fail("recorder", recorder.status());

  for (long i = 0, blocks = std::atol(argv[4]); i < blocks; ++i) {
    auto slot = recorder->Acquire(10s);
    if (!slot.ok()) return Fail("acquire", slot.status());
    Fill(*slot);
    const tapedeck::Status sent = recorder->Send(*slot, slot->bytes);
    if (!sent.ok()) return Fail("send", sent);
  }
  auto done = recorder->Finish(60s);
  if (!done.ok()) return Fail("finish", done.status());
  std::printf("%s\n", done->recording.c_str());
}
