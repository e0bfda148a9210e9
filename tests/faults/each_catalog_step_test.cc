// Every operation of the catalog fails once, before or after it has done its work, and all fail
// from one on, while a node makes, records, changes, copies, moves, scrubs, attaches and deletes.
// What the node answers is compared with the files on the members: nothing is said to have failed
// that has happened, nothing to have happened that has not. Once the fault is over the catalog says
// what the files do, without a restart.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "dataplane/deadline.h"
#include "dataplane/status_macros.h"
#include "storage_node/moving/move.h"
#include "storage_node/node/channel_catalog.h"
#include "storage_node/node/lun_catalog.h"
#include "storage_node/node/recorder_control.h"
#include "storage_node/node/recording_catalog.h"
#include "storage_node/scrub/scrubber.h"
#include "tests/faults/failing_sql.h"
#include "tests/sim/seeds.h"
#include "tests/storage_node/node_contents.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::faults {
namespace {

using namespace storage_node;  // NOLINT: the names under test
namespace fs = std::filesystem;

constexpr char kLun[] = "luns/l", kDeep[] = "luns/deep";
constexpr char kChannel[] = "luns/l/channels/c";
constexpr uint64_t kBlocks = 3;

std::string ReadText(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class EachCatalogStep : public testing::TestWithParam<SqlFault> {
 protected:
  EachCatalogStep() {
    for (const char* lun : {kLun, kDeep}) {
      const auto made = luns_.CreateLun({.name = lun,
                                         .store = "posix",
                                         .members = {dir_.Make(MemberOf(lun))},
                                         .capacity_bytes = 64 << 20},
                                        "");
      EXPECT_TRUE(made.ok()) << made.status();
      EXPECT_TRUE(CreateChannel(std::string(lun) + "/channels/c").ok());
    }
  }
  ~EachCatalogStep() override { EndSqlFault(); }

  static std::string MemberOf(const std::string& lun) { return lun.substr(lun.rfind('/') + 1); }

  // The directory of luns/{lun}[/channels/{channel}[/recordings/{recording}]].
  fs::path PathOf(const std::string& name) const {
    fs::path path = dir_.path();
    size_t part = 0;
    std::string word;
    for (std::istringstream words(name); std::getline(words, word, '/'); ++part) {
      if (part % 2 == 1) path /= word;
    }
    return path;
  }
  std::optional<format::Manifest> OnMember(const std::string& recording) const {
    const std::string text = ReadText(PathOf(recording) / "manifest.json");
    if (text.empty()) return std::nullopt;
    return format::DecodeManifest(text).value();
  }

  absl::Status CreateChannel(const std::string& name, const std::string& request = "") {
    return channels_
        .CreateChannel({.name = name,
                        .block_bytes = kBlockBytes,
                        .datatype = "cf32_le",
                        .sample_rate = 1e9,
                        .commit = dataplane::CommitLevel::kDurable},
                       request)
        .status();
  }

  // A whole session; the error that it met.
  absl::Status Record(std::string* recording, services::session::Open open = {}) {
    open.direction = services::session::Direction::kRecord;
    if (open.channel.empty()) open.channel = kChannel;
    std::optional<absl::StatusOr<services::session::Admission>> admission;
    sessions_.Admit(open, executor_, std::make_shared<services::session::AdmissionWatch>(),
                    [&](auto admitted) { admission.emplace(std::move(admitted)); });
    EXPECT_TRUE(executor_.RunUntil([&] { return admission.has_value(); }));
    if (!admission->ok()) return admission->status();
    Recorder recorder{.admission = *std::move(*admission), .executor = &executor_};
    *recording = recorder.admission.accept.recording;
    for (uint64_t i = 0; i < kBlocks; ++i) TD_RETURN_IF_ERROR(recorder.Push(i));
    return recorder.Finish();
  }
  // Nothing of a session that has ended is under way any more: the table alone has the LUN.
  void Rest() {
    EXPECT_TRUE(executor_.RunUntil([&] {
      return contents_->luns.queues().Busy().empty() &&
             contents_->luns.Find("l").value().use_count() == 2;
    }));
  }
  std::string Recorded() {
    std::string recording;
    EXPECT_TRUE(Record(&recording).ok());
    Rest();
    return recording;
  }

  // Recordings on the members of open LUNs, by name, with their manifests as they lie there.
  std::map<std::string, std::string> OnMembers() const;
  // What is open holds as much as its account says, and a closed recording is as it was closed.
  void CompareAccounts();
  // The database has a row for each recording, and no other.
  void CompareRows();
  // What an error says is that of the state directory.
  static void ExpectOfState(const absl::Status& status) {
    if (!status.ok()) {
      EXPECT_EQ(Reason(status), "STATE_UNUSABLE") << status;
    }
  }

  // Runs `act` with each operation failing in turn, until it has no more of them; in the short form
  // with every so-many-th.
  void ForEachStep(const std::function<void(uint64_t n)>& act, uint64_t every = 1);

  const TempDir dir_;
  ManualExecutor executor_;
  capture::LiveTriggers triggers_;
  std::unique_ptr<node::NodeContents> contents_ = MakeNodeContents(dir_.Make("state"));
  node::LunService luns_{contents_->recordings};
  node::ChannelService channels_{contents_->recordings};
  node::RecordingService recordings_{contents_->recordings};
  node::CaptureService captures_{contents_->recordings, triggers_};
  scrub::Scrubber scrubs_{contents_->recordings, absl::Seconds(15)};
  admission::NodeResources resources_{
      .luns = contents_->luns,
      .recordings = contents_->recordings,
      .triggers = triggers_,
      .rings = {},
      .verifier = std::make_shared<recording::WriteVerifier>(std::mt19937_64(1)),
      .follow_memory = nullptr};
  admission::RecordingHost sessions_{resources_};
};

std::map<std::string, std::string> EachCatalogStep::OnMembers() const {
  std::map<std::string, std::string> found;
  for (const auto& [id, lun] : contents_->luns.All()) {
    for (const std::string& channel : lun->channels->Ids()) {
      const std::string name = "luns/" + id + "/channels/" + channel;
      for (const auto& entry : fs::directory_iterator(PathOf(name))) {
        if (!entry.is_directory()) continue;
        found[name + "/recordings/" + entry.path().filename().string()] =
            ReadText(entry.path() / "manifest.json");
      }
    }
  }
  return found;
}

void EachCatalogStep::CompareAccounts() {
  std::map<std::string, uint64_t> held;
  for (const auto& [name, text] : OnMembers()) {
    const auto manifest = format::DecodeManifest(text);
    ASSERT_TRUE(manifest.ok()) << name << ": " << manifest.status();
    EXPECT_EQ(manifest->state, services::RecordingState::kSealed) << name;
    const std::string id = catalog::ParseRecordingName(name)->lun;
    held[id] += contents_->luns.Find(id).value()->TakenBy(*manifest);
  }
  for (const auto& [id, lun] : contents_->luns.All())
    EXPECT_EQ(lun->capacity->used(), held[id]) << id;
}

void EachCatalogStep::CompareRows() {
  EXPECT_EQ(contents_->recordings.catalog()->waiting(), 0u);
  EXPECT_TRUE(contents_->recordings.catalog()->health().ok());
  const auto database = catalog::Catalog::Open(dir_.path() + "/state/catalog.sqlite");
  ASSERT_TRUE(database.ok()) << database.status();
  std::map<std::string, std::string> rows;
  const auto listed = (*database)->ListRecordings({.lun = "-", .channel = "-"});
  ASSERT_TRUE(listed.ok()) << listed.status();
  for (const auto& row : *listed) {
    rows[row.name.ToString()] = format::EncodeManifest(row.manifest);
  }
  EXPECT_EQ(rows, OnMembers());
  std::map<std::string, uint64_t> counts;
  for (const auto& [name, text] : rows) ++counts[catalog::ParseRecordingName(name)->lun];
  EXPECT_EQ(contents_->recordings.catalog()->Counts(), counts);
  for (const auto& [id, lun] : contents_->luns.All()) {
    EXPECT_EQ((*database)->ListChannels(id)->size(), lun->channels->All().size()) << id;
  }
}

void EachCatalogStep::ForEachStep(const std::function<void(uint64_t n)>& act, uint64_t every) {
  // What an operation does to the catalog is the same whoever looks on.
  const bool all = std::getenv("TAPEDECK_LONG") != nullptr;
  const uint64_t step = all ? 1 : sim::FewStates() ? 5 * every : every;
  for (uint64_t n = 1;; n += step) {
    const auto before = OnMembers();
    FailSql(GetParam(), n);
    act(n);
    const bool met = SqlOperations() >= n;
    CompareAccounts();
    const auto during = OnMembers();
    // Whoever looks changes nothing.
    for (int i = 0; i < 2; ++i) {
      ExpectOfState(recordings_.ListRecordings("luns/-/channels/-").status());
      ExpectOfState(luns_.ListLuns().status());
    }
    EXPECT_EQ(OnMembers(), during);
    EndSqlFault();
    ASSERT_TRUE(contents_->recordings.catalog()->Retry().ok());
    CompareAccounts();
    CompareRows();
    ASSERT_FALSE(HasFailure()) << "operation " << n;
    if (!met || GetParam() == SqlFault::kSlow) break;
    ASSERT_LT(n, 500u) << "it never ends";
  }
}

TEST_P(EachCatalogStep, CreatingAChannel) {
  ForEachStep([&](uint64_t n) {
    const std::string name = std::string(kLun) + "/channels/x" + std::to_string(n);
    const std::string request = "request-" + std::to_string(n);
    const absl::Status status = CreateChannel(name, request);
    EXPECT_EQ(status.ok(), fs::exists(PathOf(name) / "channel.json")) << status;
    ExpectOfState(status);
    if (!status.ok()) return;
    EXPECT_TRUE(channels_.GetChannel(name).ok());
    EndSqlFault();
    EXPECT_TRUE(CreateChannel(name, request).ok()) << "a request is known while the node runs";
  });
}

TEST_P(EachCatalogStep, ChangingAndDeletingAChannel) {
  ForEachStep([&](uint64_t n) {
    const std::string name = std::string(kLun) + "/channels/x" + std::to_string(n);
    {
      EndSqlFault();
      ASSERT_TRUE(CreateChannel(name).ok());
      FailSql(GetParam(), n);
    }
    services::ChannelUpdate update{.name = name};
    update.Set(&services::Channel::sample_rate, 7.0);
    const absl::Status changed = channels_.UpdateChannel(update, "").status();
    const std::string text = ReadText(PathOf(name) / "channel.json");
    EXPECT_EQ(changed.ok(), text.find("\"sample_rate\": 7") != std::string::npos) << text;
    ExpectOfState(changed);
    const absl::Status deleted = channels_.DeleteChannel(name);
    EXPECT_EQ(deleted.ok(), !fs::exists(PathOf(name))) << deleted;
    ExpectOfState(deleted);
  });
}

// Whatever the state directory does, recording begins, goes on and ends.
TEST_P(EachCatalogStep, RecordingAndSealing) {
  ForEachStep([&](uint64_t /*n*/) {
    std::string recording;
    const absl::Status status = Record(&recording);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(OnMember(recording)->blocks, kBlocks);
  });
}

TEST_P(EachCatalogStep, DeletingARecording) {
  ForEachStep([&](uint64_t n) {
    EndSqlFault();
    const std::string recording = Recorded();
    FailSql(GetParam(), n);
    const absl::Status status = recordings_.DeleteRecording(recording);
    EXPECT_EQ(status.ok(), !fs::exists(PathOf(recording))) << status;
    ExpectOfState(status);
  });
}

TEST_P(EachCatalogStep, DescribingKeepingAndMarkingARecording) {
  const std::string recording = Recorded();
  ForEachStep([&](uint64_t n) {
    const std::string words = "words " + std::to_string(n);
    services::RecordingUpdate update{.name = recording};
    update.Set(&services::Recording::description, words);
    const auto updated = recordings_.UpdateRecording(update);
    EXPECT_EQ(updated.ok(), OnMember(recording)->description == words) << updated.status();
    ExpectOfState(updated.status());
    const bool keep = !OnMember(recording)->kept;
    const absl::Status kept = captures_.KeepRecording(recording, keep);
    EXPECT_EQ(kept.ok(), OnMember(recording)->kept == keep) << kept;
    ExpectOfState(kept);
    const size_t marks = OnMember(recording)->annotations.size();
    const absl::Status marked = captures_.AnnotateRecording(recording, {.label = "m"});
    EXPECT_EQ(marked.ok(), OnMember(recording)->annotations.size() == marks + 1) << marked;
    ExpectOfState(marked);
  });
}

TEST_P(EachCatalogStep, MakingChangingAndDeletingALun) {
  ForEachStep([&](uint64_t n) {
    const std::string name = "luns/n" + std::to_string(n);
    const fs::path member = dir_.Make("n" + std::to_string(n));
    const services::Lun lun{.name = name, .store = "posix", .members = {member.string()}};
    const absl::Status made = luns_.CreateLun(lun, "make" + std::to_string(n)).status();
    EXPECT_EQ(made.ok(), fs::exists(member / ".tapedeck" / "lun.json")) << made;
    ExpectOfState(made);
    if (!made.ok()) return;
    services::LunUpdate update{.name = name};
    update.Set(&services::Lun::capacity_bytes, uint64_t{1} << 30);
    const absl::Status changed = luns_.UpdateLun(update, "change" + std::to_string(n)).status();
    const std::string text = ReadText(member / ".tapedeck" / "lun.json");
    EXPECT_EQ(changed.ok(), text.find("1073741824") != std::string::npos) << changed << text;
    ExpectOfState(changed);
    const absl::Status deleted = luns_.DeleteLun(name, /*force=*/true);
    EXPECT_EQ(deleted.ok(), fs::is_empty(member)) << deleted;
    EXPECT_EQ(deleted.ok(), !contents_->luns.Has("n" + std::to_string(n)));
    ExpectOfState(deleted);
    EndSqlFault();
    if (!deleted.ok()) {
      EXPECT_TRUE(luns_.DeleteLun(name, /*force=*/true).ok());
    }
  });
}

TEST_P(EachCatalogStep, DetachingAndAttachingALun) {
  Recorded();
  const std::string member = PathOf(kLun).string();
  ForEachStep([&](uint64_t /*n*/) {
    const absl::Status detached = luns_.DetachLun(kLun);
    EXPECT_EQ(detached.ok(), !contents_->luns.Has("l")) << detached;
    ExpectOfState(detached);
    const auto attached =
        detached.ok() ? luns_.AttachLun({.members = {member}}, "").status() : absl::OkStatus();
    EXPECT_EQ(attached.ok(), contents_->luns.Find("l").ok()) << attached;
    ExpectOfState(attached);
    EndSqlFault();
    if (!attached.ok()) {
      EXPECT_TRUE(luns_.AttachLun({.members = {member}}, "").ok());
    }
  });
}

TEST_P(EachCatalogStep, CopyingARecording) {
  const std::string original = Recorded();
  const services::Recording source = recordings_.GetRecording(original).value();
  ForEachStep([&](uint64_t /*n*/) {
    services::session::Open open{.channel = std::string(kDeep) + "/channels/c"};
    open.original = {.recording = original, .uid = source.uid, .open_time_ns = 1};
    std::string copy;
    const absl::Status status = Record(&copy, open);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(OnMember(copy)->original, original);
    EndSqlFault();
    EXPECT_TRUE(recordings_.DeleteRecording(copy).ok());
  });
}

TEST_P(EachCatalogStep, MovingARecording) {
  ForEachStep(
      [&](uint64_t n) {
        EndSqlFault();
        const std::string recording = Recorded();
        auto channel = channels_.GetChannel(kChannel).value();
        channel.move_to = kDeep;
        services::copying::Pace pace(
            [](uint64_t) { return std::optional<uint64_t>(uint64_t{1} << 40); });
        const moving::MoveRequest request{
            .recording = recording, .channel = channel, .now_ns = INT64_MAX / 2};
        const auto make_channel = [&](const services::Channel& c) { return CreateChannel(c.name); };
        FailSql(GetParam(), n);
        const auto moved = moving::Move(resources_, request, make_channel, pace);
        const bool done = moved.ok() && moved->end == moving::MoveOutcome::kMoved;
        ExpectOfState(moved.status());
        // There is always one that is whole.
        EXPECT_EQ(done, !OnMember(recording).has_value()) << moved.status();
        if (done) {
          EXPECT_EQ(OnMember(moved->copy)->blocks, kBlocks);
        }
        EndSqlFault();
        if (!done) {
          EXPECT_TRUE(moving::Move(resources_, request, make_channel, pace).ok());
        }
        EXPECT_FALSE(OnMember(recording).has_value());
        for (const auto& [name, text] : OnMembers()) {
          EXPECT_EQ(text.find("move_draft"), std::string::npos) << name;
          EXPECT_TRUE(recordings_.DeleteRecording(name).ok());
        }
      },
      5);
}

TEST_P(EachCatalogStep, Scrubbing) {
  Recorded();
  ForEachStep([&](uint64_t /*n*/) {
    const auto before = OnMembers();
    const auto started = scrubs_.StartScrub({.parent = kLun, .restart = true});
    if (!started.ok()) return ExpectOfState(started.status());
    services::Scrub scrub;
    EXPECT_TRUE(executor_.RunUntil([&] {
      scrub = *scrubs_.GetScrub(kLun);
      return scrub.state != services::ScrubState::kRunning;
    }));
    EXPECT_EQ(scrub.damaged, 0u);
    if (scrub.state == services::ScrubState::kDone) {
      EXPECT_EQ(scrub.blocks, kBlocks);
    }
    EXPECT_EQ(OnMembers(), before);
  });
}

class HangingState : public EachCatalogStep {};

// As a network file system whose server is gone.
TEST_P(HangingState, NobodyWaitsForLongAndRecordingGoesOn) {
  const std::string before = Recorded();
  const auto limit = dataplane::Deadline::In(4 * catalog::kStatePatience);
  FailSql(GetParam(), 1);
  std::string recording;
  const absl::Status recorded = Record(&recording);
  EXPECT_TRUE(recorded.ok()) << recorded;
  EXPECT_EQ(OnMember(recording)->blocks, kBlocks);
  EXPECT_EQ(OnMember(recording)->state, services::RecordingState::kSealed);
  EXPECT_TRUE(recordings_.GetRecording(recording).ok()) << "memory has its row";
  for (int i = 0; i < 20; ++i) {
    for (const absl::Status& status :
         {recordings_.ListRecordings("luns/-/channels/-").status(),
          recordings_.GetRecording(before).status(), contents_->recordings.catalog()->Retry(),
          contents_->recordings.catalog()->health()}) {
      EXPECT_FALSE(status.ok());
      ExpectOfState(status);
    }
  }
  EXPECT_FALSE(limit.passed()) << "all together";
  EndSqlFault();
  EXPECT_TRUE(executor_.RunUntil([&] { return contents_->recordings.catalog()->Retry().ok(); }));
  CompareAccounts();
  CompareRows();
}

// The thread stays behind: a node that ends does not wait for it.
TEST_P(HangingState, ANodeEnds) {
  const auto limit = dataplane::Deadline::In(4 * catalog::kStatePatience);
  {
    const auto other = catalog::Catalog::Open(dir_.path() + "/other.sqlite").value();
    FailSql(GetParam(), 1);
    other->DeleteChannel({.lun = "l", .channel = "x"});
  }
  EXPECT_FALSE(limit.passed());
  EndSqlFault();
}

std::string NameOf(const testing::TestParamInfo<SqlFault>& info) {
  constexpr std::array kNames = {"Before", "After", "Full", "Broken", "Slow", "Hangs"};
  return kNames[static_cast<size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Faults, EachCatalogStep,
                         testing::Values(SqlFault::kBefore, SqlFault::kAfter, SqlFault::kFull,
                                         SqlFault::kBroken, SqlFault::kSlow),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Faults, HangingState, testing::Values(SqlFault::kHangs), NameOf);

}  // namespace
}  // namespace tapedeck::faults
