// Plays a recording into kernels of a graph, which is captured once and launched again and again:
//   graph_play STORAGE RAIL RECORDING
#include <cuda_runtime.h>
#include <tapedeck/player.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

struct Counts {
  unsigned long long blocks, wrong;
};

int Fail(const char* what, const tapedeck::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  // 77: skipped, for a test on a machine that has no GPU.
  return status.reason() == "DEVICE_UNUSABLE" ? 77 : 1;
}

void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

// What the slot holds is known only when the kernel runs: slot.info says it.
__global__ void Compare(const std::uint64_t* words, const tapedeck::BlockInfo* info,
                        Counts* counts) {
  if (info->state != tapedeck::BlockInfo::kBlock) return;
  const std::size_t step = gridDim.x * blockDim.x;
  const std::size_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread == 0) atomicAdd(&counts->blocks, 1ull);
  for (std::size_t i = thread; i < info->bytes / 8; i += step) {
    if (words[i] != (info->number << 32) + i) atomicAdd(&counts->wrong, 1ull);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return Fail(argv[0], {"USAGE", "STORAGE RAIL RECORDING"});
  tapedeck::DeckOptions deck_options;
  deck_options.device = "cuda:0";
  deck_options.rails = {argv[2]};
  auto deck = tapedeck::Deck::Open(deck_options);
  if (!deck.ok()) return Fail("deck", deck.status());
  tapedeck::PlayerOptions options;
  options.storage = argv[1];
  options.recording = argv[3];
  auto player = tapedeck::Player::Open(*deck, options);
  if (!player.ok()) return Fail("player", player.status());

  Counts* counts = nullptr;
  Check(cudaMallocManaged(&counts, sizeof *counts));
  *counts = {};
  cudaStream_t stream = nullptr;
  Check(cudaStreamCreate(&stream));
  Check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (std::size_t i = 0; i < player->slots(); ++i) {  // one round of the slots
    auto slot = player->Next(stream);
    if (!slot.ok()) return Fail("next", slot.status());
    Compare<<<64, 256, 0, stream>>>(static_cast<std::uint64_t*>(slot->data), slot->info, counts);
    const tapedeck::Status released = player->Release(stream, *slot);
    if (!released.ok()) return Fail("release", released);
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launchable = nullptr;
  Check(cudaStreamEndCapture(stream, &graph));
  Check(cudaGraphInstantiate(&launchable, graph, 0));
  for (std::uint64_t done = 0; done < player->blocks(); done += player->slots()) {
    Check(cudaGraphLaunch(launchable, stream));
  }
  Check(cudaStreamSynchronize(stream));
  std::printf("%llu blocks, %llu wrong words\n", counts->blocks, counts->wrong);
  const bool right = counts->blocks == player->blocks() && counts->wrong == 0;
  return right && player->status().ok() ? 0 : 1;
}
