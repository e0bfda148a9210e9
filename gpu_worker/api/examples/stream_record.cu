// Records samples that kernels make, without a wait of the CPU for any block:
//   stream_record STORAGE RAIL CHANNEL BLOCKS
#include <cuda_runtime.h>
#include <tapedeck/recorder.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace std::chrono_literals;

namespace {

int Fail(const char* what, const tapedeck::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  // 77: skipped, for a test on a machine that has no GPU.
  return status.reason() == "DEVICE_UNUSABLE" ? 77 : 1;
}

// Each block counts on from its number, as the example `record` has it.
__global__ void Fill(std::uint64_t* words, std::size_t count, std::uint64_t number) {
  const std::size_t step = gridDim.x * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    words[i] = (number << 32) + i;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return Fail(argv[0], {"USAGE", "STORAGE RAIL CHANNEL BLOCKS"});
  tapedeck::DeckOptions deck_options;
  deck_options.device = "cuda:0";
  deck_options.rails = {argv[2]};
  auto deck = tapedeck::Deck::Open(deck_options);
  if (!deck.ok()) return Fail("deck", deck.status());

  tapedeck::RecorderOptions options;
  options.storage = argv[1];
  options.channel = argv[3];
  auto recorder = tapedeck::Recorder::Open(*deck, options);
  if (!recorder.ok()) return Fail("recorder", recorder.status());

  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  for (long i = 0, blocks = std::atol(argv[4]); i < blocks; ++i) {
    auto slot = recorder->Acquire(stream);  // enqueues a wait, and does not wait itself
    if (!slot.ok()) return Fail("acquire", slot.status());
    Fill<<<64, 256, 0, stream>>>(static_cast<std::uint64_t*>(slot->data), slot->bytes / 8,
                                 slot->number);
    const tapedeck::Status sent = recorder->Send(stream, *slot, slot->bytes);
    if (!sent.ok()) {
      cudaStreamSynchronize(stream);  // the kernel has the slot until then
      return Fail("send", sent);
    }
  }
  auto done = recorder->Finish(60s);
  if (!done.ok()) return Fail("finish", done.status());
  cudaStreamDestroy(stream);
  std::printf("%s\n", done->recording.c_str());
}
