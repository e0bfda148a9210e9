// What may be deleted beside a copy that is whole, and what a copy must have to be one.
#include "services/copy/finish_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"
#include "tests/services/loopback_node.h"

namespace tapedeck::services::copying {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kChannel[] = "luns/l0/channels/c1";

class SettleTest : public testing::Test {
 protected:
  static std::string Name(const std::string& id) {
    return absl::StrCat(kChannel, "/recordings/", id);
  }
  // What a copy of `source_` that broke off has left.
  Recording Left(const std::string& id) const {
    return {.name = Name(id),
            .uid = "uid-" + id,
            .state = RecordingState::kSalvaged,
            .blocks = 4,
            .original = source_.name,
            .original_uid = source_.uid};
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const auto all = catalog_.ListRecordings(kChannel);
    EXPECT_TRUE(all.ok()) << all.status();
    for (const Recording& one : all.value_or(std::vector<Recording>())) names.push_back(one.name);
    std::ranges::sort(names);
    return names;
  }

  LoopbackNode node_;
  client::CatalogClient catalog_{node_.channel, absl::Seconds(10)};
  client::RecorderClient recorder_{node_.channel, absl::Seconds(10)};
  Recording source_{.name = "luns/l0/channels/c0/recordings/s",
                    .uid = "uid-s",
                    .state = RecordingState::kSalvaged,
                    .blocks = 10,
                    .missing_blocks = 2};
};

TEST_F(SettleTest, RemovesWhatABrokenOffCopyLeftAndNothingElse) {
  node_.catalog.PutRecording(Left("a"));
  source_.annotations = {{.sample_start = 7, .label = "lost"}};
  Recording noted = Left("noted");  // broken off before the seal
  noted.annotations = source_.annotations;
  node_.catalog.PutRecording(noted);
  Recording kept = Left("kept");
  kept.kept = true;
  Recording marked = Left("marked");
  marked.annotations = {{.label = "burst"}};
  Recording larger = Left("larger");
  larger.blocks = 11;
  Recording fuller = Left("fuller");  // the original has lost more
  fuller.blocks = 10;
  Recording sealed = Left("sealed");
  sealed.state = RecordingState::kSealed;
  Recording written = Left("written");
  written.state = RecordingState::kRecording;
  Recording other = Left("other");
  other.original_uid = "uid-t";
  for (const Recording& one : {kept, marked, larger, fuller, sealed, written, other}) {
    node_.catalog.PutRecording(one);
  }
  ASSERT_TRUE(RemoveUnfinished(catalog_, source_, kChannel).ok());
  EXPECT_THAT(Names(), ElementsAre(Name("fuller"), Name("kept"), Name("larger"), Name("marked"),
                                   Name("other"), Name("sealed"), Name("written")));
}

TEST_F(SettleTest, ACopyWithoutItsManifestIsNotWhole) {
  Recording copy = Left("copy");
  copy.state = RecordingState::kSealed;
  copy.blocks = 10;
  node_.catalog.PutRecording(copy);
  EXPECT_TRUE(CheckCopy(catalog_, source_, copy.name, absl::Seconds(10)).ok());
  node_.catalog.SetDamage({{.kind = DamageKind::kManifest, .detail = "no copy of it is there"}});
  const absl::Status lost = CheckCopy(catalog_, source_, copy.name, absl::Seconds(10));
  EXPECT_EQ(dataplane::ReasonOf(lost)->reason, "BLOCK_DAMAGED");
  EXPECT_THAT(std::string(lost.message()), HasSubstr("no copy of it is there"));
}

TEST_F(SettleTest, AnOriginalThatWentOnStays) {
  source_.etag = "1";
  const Recording copy = Left("copy");
  node_.catalog.PutRecording(copy);
  Recording now = source_;
  now.blocks = 11;
  now.etag = "2";
  node_.catalog.PutRecording(now);
  const absl::Status refused = DeleteOriginal(catalog_, catalog_, recorder_, source_, copy.name);
  EXPECT_EQ(dataplane::ReasonOf(refused)->reason, "RECORDING_BUSY") << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("from 10 blocks to 11"));
  EXPECT_TRUE(catalog_.GetRecording(source_.name).ok());
}

TEST_F(SettleTest, WhatWasNotedOfTheOriginalGoesWithIt) {
  source_.etag = "1";
  Recording copy = Left("copy");
  copy.labels = {{"of_copy", "1"}};
  node_.catalog.PutRecording(copy);
  Recording now = source_;
  now.labels = {{"site", "north"}};
  now.etag = "2";
  node_.catalog.PutRecording(now);
  ASSERT_TRUE(DeleteOriginal(catalog_, catalog_, recorder_, source_, copy.name).ok());
  EXPECT_EQ(catalog_.GetRecording(copy.name)->labels,
            (model::Labels{{"of_copy", "1"}, {"site", "north"}}));
  EXPECT_TRUE(IsGone(catalog_.GetRecording(source_.name).status()));
}

TEST_F(SettleTest, OfALunThatIsAwayNothingIsGone) {
  EXPECT_FALSE(IsGone(dataplane::WithReason(absl::NotFoundError("no LUN luns/away"),
                                            "LUN_NOT_FOUND", {{"lun", "luns/away"}})));
}

}  // namespace
}  // namespace tapedeck::services::copying
