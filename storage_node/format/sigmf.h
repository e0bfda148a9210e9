// A closed recording in SigMF's terms, for programs that know SigMF and not Tapedeck. It is the
// text of a .sigmf-meta beside the payload (the Signal Metadata Format Specification, 1.2.5). It
// repeats the manifest, and the node never reads it back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/signal/sigmf/text.h"
#include "storage_node/format/manifest.h"

namespace tapedeck::storage_node::format {

// A run of blocks without a gap: what its first one says.
struct SigmfRun {
  uint64_t block = 0;  // its place in the file
  uint64_t sample_index = 0;
};

// Where runs begin at most: at the first block and behind each gap; of more gaps, the first ones.
inline constexpr size_t kMaxSigmfRuns = 1024;
std::vector<uint64_t> SigmfRunsOf(const Manifest& manifest);

// What the samples are: where a transform has made others of them, the origin says so.
const std::string& SampleTypeOf(const Manifest& manifest);
// In a whole block; 0: its bytes are no samples.
uint64_t BlockSamplesOf(const Manifest& manifest);

// Annotations that tell what holds from a sample on, and what they tell: "frequency", "gain", ...
using services::sigmf::kSignalLabel;
using services::sigmf::SignalFields;

// Whether a text is one of these, and as it was written: people edit such files, and theirs are not
// ours any more.
bool IsOwnSigmf(absl::string_view text);

// Captures begin with each run, and where an annotation `signal` says what holds from there on
// (frequency=, gain=, ...). Gaps and all other annotations are annotations. Empty if the payload is
// of no datatype that SigMF has.
std::string EncodeSigmf(const Manifest& manifest, std::span<const SigmfRun> runs);

}  // namespace tapedeck::storage_node::format
