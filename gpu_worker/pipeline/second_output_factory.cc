#include "gpu_worker/pipeline/second_output_factory.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/pipeline/chain.h"
#include "gpu_worker/pipeline/record_origin.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::pipeline {

using services::ArgumentInvalid;
using stages::ChosenTransform;

namespace {

// What a stage works on begins at a page.
constexpr uint64_t kLeastPiece = 4096;

// What the origin of the second recording tells of: it could have been made so by a job of its own.
std::vector<ChosenTransform> Both(std::span<const ChosenTransform> first,
                                  std::span<const ChosenTransform> second) {
  std::vector<ChosenTransform> both(first.begin(), first.end());
  both.insert(both.end(), second.begin(), second.end());
  return both;
}

// Of a first output with so many blocks; the last one may be short.
uint64_t ExpectedBlocks(uint64_t blocks, uint64_t main_bytes, uint64_t bytes_before) {
  const absl::uint128 all = (absl::uint128(blocks) * main_bytes + bytes_before - 1) / bytes_before;
  return absl::Uint128Low64(std::min<absl::uint128>(all, std::numeric_limits<uint64_t>::max()));
}

absl::Status CheckRing(const SecondOutputSettings& second_output) {
  if (second_output.ring->slot_bytes() >= second_output.channel.block_bytes)
    return absl::OkStatus();
  return ArgumentInvalid("outputs",
                         absl::StrCat("the ring's slots of ", second_output.ring->slot_bytes(),
                                      " bytes are smaller than a block"));
}

absl::StatusOr<services::model::Origin> OriginOfTap(const SecondOutputParts& parts,
                                                    const std::string& datatype) {
  const auto& [source, transforms, second_output] = parts.settings.stages;
  const std::vector<ChosenTransform> both = Both(transforms, *second_output);
  TD_ASSIGN_OR_RETURN(services::model::Origin origin,
                      OriginOf({.source = source,
                                .transforms = both,
                                .made = parts.made,
                                .datatype = datatype,
                                .device = parts.settings.device->description}));
  origin.beside = parts.settings.second_output.beside;
  return origin;
}

// Of the largest piece of a block for which a worker can hold what it is made of.
absl::StatusOr<Chain> ChainOfPiece(const RecordSettings& settings) {
  absl::StatusOr<Chain> chain;
  uint64_t bytes = settings.second_output.channel.block_bytes;
  do {
    chain = RecordChain(
        {.name = "the channel", .datatype = settings.channel.datatype},
        *settings.stages.second_output,
        {.name = "the second channel", .datatype = settings.second_output.channel.datatype}, bytes);
    bytes /= 2;
  } while (!chain.ok() && bytes >= kLeastPiece && bytes % kLeastPiece == 0);
  return chain;
}

}  // namespace

absl::Status CheckTriggersNothing(std::span<const ChosenTransform> transforms,
                                  absl::string_view why) {
  for (const ChosenTransform& transform : transforms) {
    if (!transform.description.triggers) continue;
    return ArgumentInvalid(
        "transforms",
        absl::StrCat(transform.name, " triggers a channel that is recorded into; ", why));
  }
  return absl::OkStatus();
}

absl::Status CheckSecondOutput(std::span<const ChosenTransform> transforms,
                               std::span<const ChosenTransform> second_output) {
  TD_RETURN_IF_ERROR(CheckTriggersNothing(second_output, "a second output triggers nothing"));
  return CheckOrder(Both(transforms, second_output));
}

absl::StatusOr<MadeSecondOutput> MakeSecondOutput(const SecondOutputParts& parts) {
  const RecordSettings& settings = parts.settings;
  const std::vector<ChosenTransform>& transforms = *settings.stages.second_output;
  const auto& [channel, beside, ring] = settings.second_output;
  TD_RETURN_IF_ERROR(CheckRing(settings.second_output));
  TD_ASSIGN_OR_RETURN(const Chain chain, ChainOfPiece(settings));
  TD_ASSIGN_OR_RETURN(const size_t sample_bytes, SampleBytesOf(chain.gives));
  TD_ASSIGN_OR_RETURN(auto work, DeviceWork::Create(*settings.device->device,
                                                    {.block_bytes = chain.bytes_after(),
                                                     .transforms = transforms,
                                                     .sizes = chain.block_bytes,
                                                     .direct = !ring->window().host_accessible,
                                                     .queue = parts.queue}));
  const auto outlet = std::make_shared<Outlet>();
  MadeSecondOutput made{.samples_for_one = chain.samples_for_one};
  made.recording.source = std::make_unique<SecondOutputSource>(outlet);
  TD_ASSIGN_OR_RETURN(made.recording.origin, OriginOfTap(parts, chain.gives));
  made.recording.expected_blocks =
      ExpectedBlocks(parts.blocks, settings.channel.block_bytes,
                     chain.bytes_before() * (channel.block_bytes / chain.bytes_after()));
  made.second_output =
      std::make_unique<SecondOutput>(SecondOutputPlan{.work = std::move(work),
                                                      .ring = ring,
                                                      .outlet = outlet,
                                                      .main_bytes = settings.channel.block_bytes,
                                                      .bytes_before = chain.bytes_before(),
                                                      .piece_bytes = chain.bytes_after(),
                                                      .block_bytes = channel.block_bytes,
                                                      .sample_bytes = sample_bytes});
  return made;
}

}  // namespace tapedeck::gpu_worker::pipeline
