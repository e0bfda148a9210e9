// Which features of a recording job go together. A pair that is not listed here works.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/model/seams/jobs.h"
#include "services/model/words/names.h"

namespace tapedeck::services {

enum class Feature {
  kStandby,
  kParts,
  kCopies,
  kGroup,
  kSecondOutput,
  kInlet,
  kAllDevices,
  kResume,
  kAt
};

// As the table names them, in its order.
template <>
struct model::EnumNames<Feature> {
  using enum Feature;
  static constexpr absl::string_view kWhat = "feature of a recording job";
  static constexpr std::pair<Feature, absl::string_view> kTable[] = {
      {kStandby, "standby"},
      {kParts, "parts"},
      {kCopies, "copies"},
      {kGroup, "group"},
      {kSecondOutput, "second output"},
      {kInlet, "inlet"},
      {kAllDevices, "all devices"},
      {kResume, "resume"},
      {kAt, "at"}};
};

// What is wrong with `one` where `other` is there, or is not. `field` and `why` are the error's.
struct FeaturePair {
  Feature one;
  Feature other;
  absl::string_view field;
  absl::string_view why;
};

// `one` is refused without `other`.
inline constexpr std::array kNeededPairs = {
    FeaturePair{Feature::kStandby, Feature::kResume, "standbys", "need time: resume_for is 0"},
    FeaturePair{Feature::kCopies, Feature::kParts, "copies",
                "are more than the nodes of storage (HOST:PORT,HOST:PORT): each is on a node of "
                "its own; two on one node are a LUN's (tapectl lun create --copies 2)"},
    FeaturePair{Feature::kGroup, Feature::kAt, "at", "is missing: a group begins at an instant"}};

// `one` is refused with `other`, and so is what needs either.
inline constexpr std::array kRefusedPairs = {
    FeaturePair{Feature::kStandby, Feature::kParts, "standbys",
                "are for one node of storage: of a recording in parts the other nodes take over"},
    FeaturePair{Feature::kStandby, Feature::kInlet, "standbys",
                "are storage nodes: a recording into an inlet has none"},
    FeaturePair{Feature::kGroup, Feature::kAllDevices, "device",
                "is \"all\": a member of a group is one recording"},
    FeaturePair{Feature::kSecondOutput, Feature::kInlet, "outputs",
                "go into channels, not beside an inlet"},
    FeaturePair{Feature::kInlet, Feature::kAllDevices, "device",
                "is \"all\": an inlet takes one stream"}};

bool Has(const RecordSpec& spec, Feature feature);

// Null: `one` and `other` work together, each with what it needs.
const FeaturePair* RefusalOf(Feature one, Feature other);

// INVALID_ARGUMENT (ARGUMENT_INVALID): the first pair that is wrong.
absl::Status CheckFeatures(const RecordSpec& spec);

// Both tables as Markdown, each line with a newline behind it.
std::string FeatureTable();

}  // namespace tapedeck::services
