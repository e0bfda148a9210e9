// Lists of recordings are read in steps: each row once, in one order, and a bad one spoils nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "services/base/errors.h"
#include "storage_node/catalog/catalog.h"
#include "storage_node/catalog/database.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::storage_node::catalog {
namespace {

class CatalogPagesTest : public testing::Test {
 protected:
  static catalog::ResourceName Name(int i) {
    return {.lun = "l", .channel = "c" + std::to_string(i % 3), .recording = std::to_string(i)};
  }
  // So many, of which several began at the same time.
  void Put(int count, size_t label_bytes = 0) {
    for (int i = 0; i < count; ++i) {
      format::Manifest manifest{.id = std::to_string(i),
                                .identity = {.channel = Name(i).channel},
                                .block_bytes = 65536,
                                .datatype = "cu8",
                                .labels = {{"l", std::string(label_bytes, 'x')}},
                                .open_time_ns = i / 5,
                                .state = services::RecordingState::kSealed};
      catalog_->PutRecording(Name(i), manifest);
    }
  }
  static std::vector<std::string> NamesOf(const std::vector<RecordingRow>& rows) {
    std::vector<std::string> names;
    for (const RecordingRow& row : rows) names.push_back(row.name.ToString());
    return names;
  }
  // Whose summaries say the same as whole rows.
  std::vector<SharedSummary> Summarize(const ResourceName& channel = {.lun = "-", .channel = "-"}) {
    auto summaries = catalog_->ListSummaries(channel).value();
    const auto rows = catalog_->ListRecordings(channel).value();
    EXPECT_EQ(summaries.size(), rows.size());
    for (size_t i = 0; i < std::min(summaries.size(), rows.size()); ++i) {
      const Summary& summary = *summaries[i];
      const format::Manifest& manifest = rows[i].manifest;
      EXPECT_EQ(summary.name, rows[i].name);
      EXPECT_EQ(summary.state, manifest.state) << summary.name.ToString();
      EXPECT_EQ(summary.kept, manifest.kept) << summary.name.ToString();
      EXPECT_EQ(summary.stream, manifest.stream) << summary.name.ToString();
      EXPECT_EQ(summary.segment, manifest.segment) << summary.name.ToString();
      EXPECT_EQ(summary.end_time_ns, manifest.end_time_ns) << summary.name.ToString();
    }
    return summaries;
  }

  const TempDir dir_;
  const std::string path_ = dir_.path() + "/catalog.sqlite";
  const std::unique_ptr<Catalog> catalog_ = Catalog::Open(path_).value();
};

TEST_F(CatalogPagesTest, EachRowComesOnceAndInOrder) {
  Put(333);
  const auto all = catalog_->ListRecordings({.lun = "-", .channel = "-"});
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 333u);
  for (size_t i = 1; i < all->size(); ++i) {
    const RecordingRow& before = (*all)[i - 1];
    const RecordingRow& row = (*all)[i];
    EXPECT_TRUE(before.manifest.open_time_ns > row.manifest.open_time_ns ||
                (before.manifest.open_time_ns == row.manifest.open_time_ns &&
                 before.name.ToString() < row.name.ToString()));
  }
  EXPECT_EQ(catalog_->ListRecordings({.lun = "l", .channel = "c1"})->size(), 111u);
  EXPECT_TRUE(catalog_->ListRecordings({.lun = "x", .channel = "-"})->empty());
}

TEST_F(CatalogPagesTest, SummariesFollowTheirRows) {
  Put(200);
  EXPECT_EQ(Summarize().size(), 200u);
  EXPECT_EQ(Summarize({.lun = "l", .channel = "c1"}).size(), 67u);
  format::Manifest changed = *catalog_->GetRecording(Name(7)).value();
  changed.kept = true;
  changed.stream = "s";
  changed.segment = 3;
  changed.end_time_ns = 9;
  changed.state = services::RecordingState::kSalvaged;
  catalog_->PutRecording(Name(7), changed);
  Summarize();
  catalog_->DeleteRecording(Name(8));
  EXPECT_EQ(Summarize().size(), 199u);
  changed.segment = 4;
  catalog_->PutRecording(Name(8), changed);
  EXPECT_EQ(Summarize().size(), 200u);
  // A program that repairs the rows beside the catalog.
  auto other = Database::Open(path_).value();
  ASSERT_TRUE(other
                  .Run("UPDATE recordings SET document = (SELECT document FROM recordings WHERE "
                       "recording = '8') WHERE recording IN ('9', '10')")
                  .ok());
  Summarize();
  ASSERT_TRUE(other.Run("UPDATE recordings SET document = '{' WHERE recording = '4'").ok());
  EXPECT_EQ(Summarize().size(), 199u);
}

TEST_F(CatalogPagesTest, OnlyChangedRowsAreDecodedAgain) {
  Put(200);
  const auto before = Summarize();
  catalog_->DeleteRecording(Name(199));
  catalog_->PutRecording(Name(100), *catalog_->GetRecording(Name(100)).value());
  format::Manifest changed = *catalog_->GetRecording(Name(50)).value();
  changed.kept = true;
  catalog_->PutRecording(Name(50), changed);
  const std::set<SharedSummary> known(before.begin(), before.end());
  const auto now = Summarize();
  const auto is_new = [&](const SharedSummary& summary) { return !known.contains(summary); };
  ASSERT_EQ(std::ranges::count_if(now, is_new), 1);
  EXPECT_EQ((*std::ranges::find_if(now, is_new))->name, Name(50));
}

TEST_F(CatalogPagesTest, ARemovedStateDirectoryIsNoticed) {
  Put(3);
  EXPECT_TRUE(catalog_->Retry().ok());
  const auto expect_fails = [&](const std::string& remedy) {
    const absl::Status status = catalog_->Retry();
    EXPECT_EQ(services::ReasonOf(status)->reason, "STATE_UNUSABLE") << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(remedy));
    EXPECT_FALSE(catalog_->health().ok());
  };
  // The file alone, and another in its place.
  std::filesystem::rename(path_, path_ + ".kept");
  expect_fails("start the node again");
  std::ofstream(path_) << "";
  expect_fails("start the node again");
  // Nothing goes where nobody would find it.
  Put(4);
  EXPECT_EQ(catalog_->waiting(), 4u);
  EXPECT_EQ(catalog_->ListRecordings({.lun = "-", .channel = "-"})->size(), 4u);
  std::filesystem::rename(path_ + ".kept", path_);
  EXPECT_TRUE(catalog_->Retry().ok());
  EXPECT_EQ(catalog_->waiting(), 0u);
  EXPECT_TRUE(catalog_->health().ok());
  // The whole directory.
  const std::string moved = dir_.path() + ".moved";
  std::filesystem::rename(dir_.path(), moved);
  expect_fails("move it back");
  std::filesystem::create_directory(dir_.path());
  expect_fails("tapectl lun attach");
  std::filesystem::remove_all(dir_.path());
  std::filesystem::rename(moved, dir_.path());
  EXPECT_TRUE(catalog_->Retry().ok());
}

TEST_F(CatalogPagesTest, TooFewDescriptorsAreNamed) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status status = Catalog::Open(dir_.path() + "/other.sqlite").status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(services::ReasonOf(status)->reason, "STATE_UNUSABLE");
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("Too many open files"));
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("file descriptors"));
}

TEST_F(CatalogPagesTest, PagesJoinToTheWhole) {
  Put(50, 100'000);
  const catalog::ResourceName everything{.lun = "-", .channel = "-"};
  std::vector<std::string> joined;
  RowKey after;
  while (true) {
    const auto page = catalog_->RecordingsAfter(everything, after, 7);
    ASSERT_TRUE(page.ok()) << page.status();
    for (const std::string& name : NamesOf(*page)) joined.push_back(name);
    if (page->size() < 7) break;
    after = {.open_ns = page->back().manifest.open_time_ns, .name = page->back().name};
  }
  EXPECT_EQ(joined, NamesOf(*catalog_->ListRecordings(everything)));
  EXPECT_EQ(joined.size(), 50u);
}

TEST_F(CatalogPagesTest, ABadRowSpoilsNothing) {
  Put(10);
  auto database = Database::Open(path_);
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_TRUE(database->Run("UPDATE recordings SET document = '{' WHERE recording = '4'").ok());
  const auto rows = catalog_->ListRecordings({.lun = "-", .channel = "-"});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->size(), 9u);
}

}  // namespace
}  // namespace tapedeck::storage_node::catalog
