#include "gpu_worker/pipeline/chain.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::pipeline {

using services::ArgumentInvalid;
using stages::ChosenTransform;

namespace {

// A worker holds several of them; ingest has six.
constexpr uint64_t kMostBytes = uint64_t{64} << 20;

absl::Status CheckCompatible(const ChainEnd& before, absl::string_view after,
                             absl::string_view takes) {
  if (before.datatype.empty() || takes.empty() || before.datatype == takes) return absl::OkStatus();
  return ArgumentInvalid("transforms", absl::StrCat(before.name, " gives ", before.datatype, ", ",
                                                    after, " takes ", takes));
}

// What comes out of transforms that `first` goes into, as the next would name it.
absl::StatusOr<ChainEnd> Follow(ChainEnd first, std::span<const ChosenTransform> transforms) {
  for (const ChosenTransform& transform : transforms) {
    const stages::Description& description = transform.description;
    TD_RETURN_IF_ERROR(CheckCompatible(first, transform.name, description.takes));
    first.name = transform.name;
    if (!description.gives.empty()) first.datatype = description.gives;
  }
  return first;
}

absl::StatusOr<uint64_t> SampleBytes(const std::string& datatype) {
  const auto parsed = dataplane::ParseDatatype(datatype);
  if (!parsed.ok()) return services::DatatypeInvalid(datatype, parsed.status().message());
  return parsed->bytes_per_sample();
}

absl::Status CheckBytes(const ChosenTransform& transform, uint64_t bytes) {
  if (bytes <= kMostBytes) return absl::OkStatus();
  return ArgumentInvalid("transforms",
                         absl::StrCat(transform.name, ": a block would become ", bytes,
                                      " bytes, above the worker's limit of ", kMostBytes,
                                      "; average less, or give the channel smaller blocks"));
}

// Sizes of one sample where a transform has them; those that do not say what they give leave it.
struct SampleSizes {
  uint64_t taken = 1;
  uint64_t given = 1;
};
absl::StatusOr<SampleSizes> SizesOf(const stages::Description& description) {
  SampleSizes sizes;
  if (description.gives.empty()) return sizes;
  TD_ASSIGN_OR_RETURN(sizes.taken, SampleBytes(description.takes));
  TD_ASSIGN_OR_RETURN(sizes.given, SampleBytes(description.gives));
  sizes.taken *= description.samples_for_one;
  return sizes;
}

std::string TakenFirst(std::span<const ChosenTransform> transforms, const std::string& otherwise) {
  for (const ChosenTransform& transform : transforms) {
    if (!transform.description.takes.empty()) return transform.description.takes;
  }
  return otherwise;
}

uint64_t SamplesForOne(std::span<const ChosenTransform> transforms) {
  uint64_t product = 1;
  for (const ChosenTransform& transform : transforms) {
    product *= transform.description.samples_for_one;
  }
  return product;
}

}  // namespace

absl::Status CheckOrder(std::span<const ChosenTransform> transforms) {
  return Follow({}, transforms).status();
}

absl::StatusOr<Chain> RecordChain(const ChainEnd& source,
                                  std::span<const ChosenTransform> transforms,
                                  const ChainEnd& channel, uint64_t block_bytes) {
  TD_ASSIGN_OR_RETURN(const ChainEnd last, Follow(source, transforms));
  TD_RETURN_IF_ERROR(CheckCompatible(last, channel.name, channel.datatype));
  Chain chain{.block_bytes = {block_bytes},
              .takes = TakenFirst(transforms, channel.datatype),
              .gives = channel.datatype};
  for (size_t i = transforms.size(); i > 0; --i) {
    TD_ASSIGN_OR_RETURN(const SampleSizes sizes, SizesOf(transforms[i - 1].description));
    const uint64_t before = chain.block_bytes.back() / sizes.given * sizes.taken;
    TD_RETURN_IF_ERROR(CheckBytes(transforms[i - 1], before));
    chain.block_bytes.push_back(before);
  }
  std::ranges::reverse(chain.block_bytes);
  chain.samples_for_one = SamplesForOne(transforms);
  return chain;
}

absl::StatusOr<Chain> PlaybackChain(const ChainEnd& recording,
                                    std::span<const ChosenTransform> transforms,
                                    uint64_t block_bytes) {
  TD_ASSIGN_OR_RETURN(const ChainEnd last, Follow(recording, transforms));
  Chain chain{.block_bytes = {block_bytes},
              .takes = recording.datatype,
              .gives = last.datatype,
              .samples_for_one = 1};
  for (const ChosenTransform& transform : transforms) {
    TD_ASSIGN_OR_RETURN(const SampleSizes sizes, SizesOf(transform.description));
    const uint64_t before = chain.block_bytes.back();
    if (before % sizes.taken != 0) {
      return ArgumentInvalid("transforms", absl::StrCat(transform.name, ": a block of ", before,
                                                        " bytes does not hold whole samples of ",
                                                        sizes.taken, " bytes"));
    }
    chain.block_bytes.push_back(before / sizes.taken * sizes.given);
    TD_RETURN_IF_ERROR(CheckBytes(transform, chain.block_bytes.back()));
  }
  chain.samples_for_one = SamplesForOne(transforms);
  return chain;
}

}  // namespace tapedeck::gpu_worker::pipeline
