// Records from one kernel that runs until all blocks are made, without a call of the CPU for any:
//   kernel_record STORAGE RAIL CHANNEL BLOCKS
#include <cuda_runtime.h>
#include <tapedeck/kernel_channel.h>
#include <tapedeck/recorder.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kPatienceNs = 10'000'000'000;

int Fail(const char* what, const tapedeck::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  // 77: skipped, for a test on a machine that has no GPU.
  return status.reason() == "DEVICE_UNUSABLE" ? 77 : 1;
}

// All thread blocks together make `blocks` blocks, each of which counts on from its number.
__global__ void Make(tapedeck::KernelChannel channel, std::int64_t blocks) {
  while (true) {
    void* data = nullptr;
    const std::int64_t number = tapedeck::gacquire(channel, &data, kPatienceNs);
    if (number < 0) return;  // ended by whoever made the last block, or lost
    auto* const words = static_cast<std::uint64_t*>(data);
    for (std::size_t i = threadIdx.x; i < channel.block_bytes / 8; i += blockDim.x) {
      words[i] = (static_cast<std::uint64_t>(number) << 32) + i;
    }
    if (number + 1 == blocks) tapedeck::gend(channel);
    // What was acquired behind the last one before it said so is not committed.
    if (number < blocks) tapedeck::gcommit(channel, number, channel.block_bytes);
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
  tapedeck::KernelChannel channel;
  const tapedeck::Status given = recorder->GiveToKernels(&channel);
  if (!given.ok()) return Fail("channel", given);

  Make<<<4, 256>>>(channel, std::atol(argv[4]));
  const cudaError_t ended = cudaDeviceSynchronize();
  if (ended != cudaSuccess) return Fail("kernel", {"CUDA", cudaGetErrorString(ended)});
  auto done = recorder->Finish(60s);
  if (!done.ok()) return Fail("finish", done.status());
  std::printf("%s\n", done->recording.c_str());
}
