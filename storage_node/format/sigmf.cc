#include "storage_node/format/sigmf.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "services/signal/sigmf/text.h"
#include "storage_node/format/json_text.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::format {

using services::sigmf::Metadata;

std::vector<uint64_t> SigmfRunsOf(const Manifest& manifest) {
  std::vector<uint64_t> runs;
  uint64_t next = 0;
  for (const SequenceRange& gap : manifest.missing) {
    if (runs.size() == kMaxSigmfRuns) return runs;
    if (gap.first > next) runs.push_back(next);
    next = gap.first + gap.count;
  }
  if (next < manifest.blocks && runs.size() < kMaxSigmfRuns) runs.push_back(next);
  return runs;
}

const std::string& SampleTypeOf(const Manifest& manifest) {
  return services::model::SampleType(manifest.origin, manifest.datatype);
}

uint64_t BlockSamplesOf(const Manifest& manifest) {
  const auto type = dataplane::ParseDatatype(SampleTypeOf(manifest));
  return type.ok() ? manifest.block_bytes / type->bytes_per_sample() : 0;
}

bool IsOwnSigmf(absl::string_view text) {
  auto object = ParseJson(text, "sigmf-meta", kMaxManifestBytes);
  return object.ok() && services::sigmf::IsOwn(*std::move(object));
}

std::string EncodeSigmf(const Manifest& manifest, std::span<const SigmfRun> runs) {
  const std::string& datatype = SampleTypeOf(manifest);
  const uint64_t block_samples = BlockSamplesOf(manifest);
  if (block_samples == 0) return "";
  Metadata metadata{.datatype = datatype,
                    .sample_rate = manifest.sample_rate,
                    .start_time_ns = manifest.start_time_ns,
                    .description = manifest.description,
                    .labels = manifest.labels,
                    .origin = manifest.origin,
                    .group = manifest.group,
                    .uid = manifest.identity.recording.ToString(),
                    .recording = absl::StrCat(manifest.identity.channel, "/", manifest.id),
                    .state = std::string(services::model::NameOf(manifest.state)),
                    .block_samples = block_samples,
                    .samples = manifest.blocks * block_samples,
                    .annotations = manifest.annotations};
  for (const SigmfRun& run : runs) {
    metadata.runs.push_back(
        {.sample = run.block * block_samples, .sample_index = run.sample_index});
  }
  for (const SequenceRange& gap : manifest.missing) {
    metadata.gaps.push_back({.first = gap.first * block_samples,
                             .count = gap.count * block_samples,
                             .comment = absl::StrCat("not recorded: blocks ", gap.first, " to ",
                                                     gap.first + gap.count - 1)});
  }
  return services::sigmf::Encode(metadata);
}

}  // namespace tapedeck::storage_node::format
