// Which features of a recording job go together: every pair of them, as a server checks it.
#include "services/model/seams/features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/clock.h"
#include "services/base/errors.h"
#include "services/rpc/server/handlers/validate.h"
#include "tests/shared_data.h"

namespace tapedeck::services {
namespace {

using model::EnumNames;
using model::NameOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// With none of them.
RecordSpec Plain() {
  return {.transfer = {.storage = "s1:7400", .target = "luns/l0/channels/c0"},
          .source = {.name = "synth"},
          .blocks = 1,
          .resume_for_ns = 0};
}

void Add(Feature feature, RecordSpec& spec) {
  switch (feature) {
    case Feature::kStandby:
      spec.transfer.standbys = {"s9:7400"};
      break;
    case Feature::kParts:
      spec.transfer.storage = "s1:7400,s2:7400";
      break;
    case Feature::kCopies:
      spec.copies = 2;
      break;
    case Feature::kGroup:
      spec.transfer.group = {.id = "g", .name = "array", .number = 1, .members = 2};
      break;
    case Feature::kSecondOutput:
      spec.outputs = {{.channel = "luns/l0/channels/c1"}};
      break;
    case Feature::kInlet:
      spec.transfer.target = "inlets/i0";
      break;
    case Feature::kAllDevices:
      spec.transfer.device = std::string(kAllDevices);
      break;
    case Feature::kResume:
      spec.resume_for_ns = kDefaultResumeForNs;
      break;
    case Feature::kAt:
      spec.at_ns = dataplane::SystemClock().WallNs() + dataplane::kSecondNs;
      break;
  }
}

void AddNeeds(RecordSpec& spec) {
  for (const FeaturePair& pair : kNeededPairs) {
    if (Has(spec, pair.one) && !Has(spec, pair.other)) Add(pair.other, spec);
  }
}

void ExpectRefused(const absl::Status& status, const FeaturePair& pair) {
  const auto reason = ReasonOf(status);
  ASSERT_TRUE(reason.has_value()) << status;
  EXPECT_EQ(reason->reason, "ARGUMENT_INVALID");
  EXPECT_EQ(reason->metadata.at("field"), pair.field);
  EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(pair.why)));
}

TEST(FeaturesTest, EveryPairWorksOrIsRefusedWithItsReason) {
  std::vector<std::string> refused;
  for (const auto& [one, name] : EnumNames<Feature>::kTable) {
    for (const auto& [other, other_name] : EnumNames<Feature>::kTable) {
      if (other <= one) continue;
      const std::string both = absl::StrCat(name, " with ", other_name);
      SCOPED_TRACE(both);
      RecordSpec spec = Plain();
      Add(one, spec);
      Add(other, spec);
      AddNeeds(spec);
      const absl::Status checked = server::CheckRecordSpec(spec);
      const FeaturePair* refusal = RefusalOf(one, other);
      EXPECT_EQ(checked.ok(), refusal == nullptr) << checked;
      if (refusal == nullptr || checked.ok()) continue;
      refused.push_back(both);
      ExpectRefused(checked, *refusal);
    }
  }
  EXPECT_THAT(refused, ElementsAre("standby with parts", "standby with copies",
                                   "standby with inlet", "group with all devices",
                                   "second output with inlet", "inlet with all devices"));
}

TEST(FeaturesTest, WhatNeedsAnotherIsRefusedWithoutIt) {
  for (const FeaturePair& pair : kNeededPairs) {
    SCOPED_TRACE(NameOf(pair.one));
    RecordSpec spec = Plain();
    Add(pair.one, spec);
    ExpectRefused(server::CheckRecordSpec(spec), pair);
    Add(pair.other, spec);
    EXPECT_TRUE(server::CheckRecordSpec(spec).ok()) << server::CheckRecordSpec(spec);
  }
}

TEST(FeaturesTest, TheReadmeHasTheSameTable) {
  std::ifstream file(TreeFile("gpu_worker/README.md"));
  const std::string readme(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(readme, HasSubstr(FeatureTable()));
}

}  // namespace
}  // namespace tapedeck::services
