// The text of a .sigmf-meta (the Signal Metadata Format Specification, 1.2.5): what a recording is,
// for programs that know SigMF and not Tapedeck. Nothing of ours needs it to read a recording.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/model/recording/lost.h"
#include "services/model/recording/recording.h"

namespace tapedeck::services::sigmf {

// Annotations that tell what holds from a sample on, and what they tell: "frequency", "gain", ...
inline constexpr char kSignalLabel[] = "signal";
using model::kLostLabel;
std::map<std::string, double> SignalFields(absl::string_view comment);

// Of annotations that tell the signal the newest that tells each field, as they are.
std::vector<Annotation> NewestSignals(std::span<const Annotation> annotations);

// What holds of the samples from `begin` on of annotations that begin before: those that last
// beyond it, cut to it, and of the signal the newest that tells each field.
std::vector<Annotation> LastingTo(uint64_t begin, std::span<const Annotation> before);

inline constexpr char kVersion[] = "1.2.5";

// Samples without a gap.
struct Run {
  uint64_t sample = 0;        // its place in the file
  uint64_t sample_index = 0;  // in the stream
};

// Samples of the file that were not recorded.
struct Gap {
  uint64_t first = 0;
  uint64_t count = 0;
  std::string comment;
};

struct Metadata {
  std::string datatype;             // of SigMF
  double sample_rate = 0;           // 0: unknown
  model::SampleTime start_time_ns;  // of the file's first sample; none: unknown
  std::string description;
  std::map<std::string, std::string> labels;
  model::Origin origin;
  std::optional<model::RecordingGroup> group;
  std::string uid;
  std::string recording;
  std::string state;
  uint64_t block_samples = 0;
  uint64_t samples = 0;    // of the file
  std::string collection;  // base name of the .sigmf-collection that it is in; empty: none
  std::vector<Annotation> annotations;
  std::vector<Run> runs;  // in order; a capture begins with each
  std::vector<Gap> gaps;
};

// Of the annotations those of samples of the file, as the runs place them; one that begins before
// them and lasts into them is cut. Captures begin with each run, and where an annotation `signal`
// says what holds from there on (frequency=, gain=, ...). Gaps and all other annotations are
// annotations; those that Tapedeck itself reads again have a key of its own, tapedeck:missing or
// tapedeck:lost. What an import has brought along (the origin's metadata, details of annotations)
// stands beside that.
std::string Encode(const Metadata& metadata);

// Whether the object that a text holds is one of these, and as it was written: people edit such
// files, and theirs are not ours any more.
bool IsOwn(nlohmann::json object);

}  // namespace tapedeck::services::sigmf
