// What people and programs note about a LUN, a channel or a recording.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "absl/status/status.h"

namespace tapedeck::services::model {

using Labels = std::map<std::string, std::string>;

inline constexpr size_t kMaxDescriptionBytes = 1024;

// Of one; a value may be a path.
inline constexpr size_t kMaxLabelNameBytes = 256;
inline constexpr size_t kMaxLabelValueBytes = 4096;

struct LabelLimits {
  size_t labels;
  size_t bytes;  // of all names and values
};
// What is configured is copied into each file about it.
inline constexpr LabelLimits kConfiguredLabels = {.labels = 64, .bytes = 4096};
// A session tells them to its peer, who takes no others.
inline constexpr LabelLimits kRecordingLabels = {.labels = 256, .bytes = 64 << 10};

// What a text takes in a manifest, where some characters take six bytes.
size_t WrittenBytes(const std::string& text);
// The same of both, with what each label costs beside its words.
size_t WrittenBytes(const std::string& description, const Labels& labels);

// What is wrong with labels, as in "are more than 256"; empty: nothing. A name has no control
// characters.
std::string LabelsProblem(const Labels& labels, const LabelLimits& limits);

// INVALID_ARGUMENT (ARGUMENT_INVALID).
absl::Status CheckDescription(const std::string& description, const Labels& labels,
                              const LabelLimits& limits);

}  // namespace tapedeck::services::model
