#include "tests/disaster/aftermath.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/crc/crc32c.h"
#include "storage_node/catalog/catalog.h"
#include "tests/disaster/deck.h"
#include "tests/scratch_file.h"

namespace tapedeck::disaster {
namespace {

using namespace storage_node;  // NOLINT: the names under test

// Of what nobody may touch: which file it is, and when it was written.
std::string StampOf(const std::string& path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return "gone";
  return absl::StrCat(status.st_ino, " ", status.st_mode, " ", status.st_size, " ",
                      status.st_mtim.tv_sec, ".", status.st_mtim.tv_nsec);
}

class Survivor {
 public:
  Survivor(const History& history, size_t at, std::mt19937_64& random)
      : history_(history), now_(history.snapshots[at]), random_(random), uuids_(random()) {
    clock_->now_ns = now_.now_ns + static_cast<int64_t>(random_() % 200) * kMinute;
  }

  Aftermath Run(const std::vector<Disaster>& disasters) {
    Image image = now_.image;
    for (const Disaster& disaster : disasters) {
      if (disaster.strike) disaster.strike(&image);
    }
    result_.foreign = PlantForeign(now_, random_, &image);
    SaveWorld(history_.shape, image, history_.world);
    for (const Disaster& disaster : disasters) ChangeRows(disaster.rows);
    FindRightRows(image, disasters);
    result_.before = std::move(image);
    std::map<std::string, std::string> stamps;
    for (const std::string& path : result_.foreign) stamps[path] = StampOf(Of(path));
    TakeLog();
    const uint64_t rounds = 1 + random_() % 3;
    for (uint64_t round = 0; round < rounds; ++round) Round(round + 1 == rounds);
    deck_ = nullptr;
    result_.after = LoadWorld(history_.shape, history_.world);
    result_.log = ReadFile(history_.world + ".log");
    for (const std::string& path : result_.foreign) {
      if (StampOf(Of(path)) == stamps[path]) continue;
      result_.faults.push_back({.kind = "foreign file touched", .detail = path});
    }
    return std::move(result_);
  }

 private:
  std::string Of(const std::string& path) const { return history_.world + "/" + path; }
  std::string state() const { return Of("state"); }
  void Note(std::string step) { result_.steps.push_back(std::move(step)); }

  void TakeLog() const {
    const int fd = open((history_.world + ".log").c_str(),
                        O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    dup2(fd, STDERR_FILENO);
  }

  // Those of a state directory that nothing has struck.
  void FindRightRows(const Image& image, const std::vector<Disaster>& disasters) {
    for (const auto& [path, node] : now_.image) {
      const auto it = image.find(path);
      const bool same = it != image.end() && it->second == node;
      if (path.starts_with("state/") && !same) return;
    }
    for (const Take& take : now_.takes) right_rows_.insert(take.identity.id);
    for (const Disaster& disaster : disasters) {
      for (const RowChange& row : disaster.rows) right_rows_.erase(row.id);
    }
  }
  void ChangeRows(const std::vector<RowChange>& rows) {
    if (rows.empty()) return;
    const auto catalog = catalog::Catalog::Open(state() + "/catalog.sqlite");
    if (!catalog.ok()) return;  // it is gone
    for (const RowChange& row : rows) {
      const catalog::ResourceName name{.lun = "l", .channel = row.channel, .recording = row.id};
      const auto manifest = format::DecodeManifest(row.manifest);
      if (manifest.ok()) {
        (*catalog)->PutRecording(name, *manifest);
      } else {
        (*catalog)->DeleteRecording(name);
      }
    }
  }

  void Round(bool last) {
    result_.lun_cause.clear();
    if (random_() % 3 == 0) Rebuild();
    if (!Start() && !last) return;
    if (deck_ == nullptr) StartAnew();
    if (deck_ == nullptr) return;
    Open(last);
    const bool early = random_() % 2 == 0;
    if (random_() % 2 == 0 && early) Policies();
    if (last || random_() % 2 == 0) Ask(last);
    if (!early) Policies();
    if (last) LookAtLun();
    deck_ = nullptr;
  }

  void Rebuild() {
    const bool all = random_() % 2 == 0;
    const absl::Status status =
        node::RebuildCatalog(state(), all ? Members() : std::vector<std::string>());
    Note(absl::StrCat("rebuild", all ? " with members: " : ": ", status.ToString()));
  }
  bool Start() {
    auto deck = Deck::Start(state(), clock_, [this] { return uuids_(); });
    Note(absl::StrCat("start: ", deck.status().ToString()));
    if (deck.ok()) deck_ = *std::move(deck);
    return deck_ != nullptr;
  }
  // What an operator does with a STATE that cannot be read.
  void StartAnew() {
    result_.lun_cause = result_.steps.back();
    if (node::RebuildCatalog(state()).ok() && Start()) return;
    Note("STATE is put away");
    std::filesystem::remove_all(state());
    Start();
  }

  std::vector<std::string> Members() const {
    if (history_.shape.on_objects()) return {MemberName(history_.shape, history_.world, 0)};
    std::vector<std::string> members;
    for (uint32_t m = 0; m < 8; ++m) {
      std::string path = MemberName(history_.shape, history_.world, m);
      const bool known = now_.image.contains(absl::StrCat("m", m));
      if (known && std::filesystem::exists(path)) members.push_back(std::move(path));
    }
    return members;
  }
  void Open(bool last) {
    auto lun = deck_->luns().GetLun(kLun);
    if (!lun.ok() && (last || random_() % 2 == 0)) return Attach();
    if (!lun.ok() || lun->state != services::LunState::kOffline) return;
    Note("offline: " + lun->cause);
    if (!last || random_() % 2 == 0) return;
    Note("detach: " + deck_->luns().DetachLun(kLun).ToString());
    Attach();
  }
  void Attach() {
    const auto lun = deck_->luns().AttachLun({.members = Members()}, "");
    Note("attach: " + lun.status().ToString());
    if (!lun.ok()) result_.lun_cause = lun.status().ToString();
  }

  void Policies() {
    const auto lun = deck_->luns().GetLun(kLun);
    if (!lun.ok()) return;
    const bool any = lun->max_age_ns > 0 || lun->max_fill_percent > 0 ||
                     lun->full_policy == services::FullPolicy::kRing;
    if (!any || lun->state == services::LunState::kOffline) return;
    Note("policies");
    const Image before = LoadWorld(history_.shape, history_.world);
    std::set<std::string> gone = Listed();
    deck_->ApplyPolicies();
    for (const std::string& id : Listed()) gone.erase(id);
    JudgePolicies(*lun, before, gone);
  }
  std::set<std::string> Listed() {
    std::set<std::string> ids;
    const auto all = deck_->recordings().RecordingsAfter("luns/l/channels/-", {}, 1000);
    for (const auto& recording : all.value_or(std::vector<services::Recording>())) {
      ids.insert(recording.name.substr(recording.name.rfind('/') + 1));
    }
    return ids;
  }
  void JudgePolicies(const services::Lun& lun, const Image& before,
                     const std::set<std::string>& went);

  void Ask(bool last) {
    const auto all = deck_->recordings().RecordingsAfter("luns/l/channels/-", {}, 1000);
    if (!all.ok()) return Note("list: " + all.status().ToString());
    result_.told.clear();
    for (const services::Recording& recording : *all) {
      if (last || random_() % 4 == 0) AskOf(recording);
    }
  }
  void AskOf(const services::Recording& listed) {
    Told told;
    Verify(listed.name, &told);
    Play(listed.name, &told);
    const auto recording = deck_->recordings().GetRecording(listed.name);
    told.blocks = recording.ok() ? recording->blocks : listed.blocks;
    if (recording.ok() && (absl::StrContains(recording->cause, "its index is damaged") ||
                           absl::StrContains(recording->cause, "copies of its index are damaged") ||
                           absl::StrContains(recording->cause, "are not whole"))) {
      absl::StrAppend(&told.trouble, recording->cause, "; ");
    }
    told.closed = recording.ok() && recording->state != services::RecordingState::kRecording;
    result_.told[listed.name.substr(listed.name.rfind('/') + 1)] = std::move(told);
  }
  void Verify(const std::string& name, Told* told) {
    const absl::Status status =
        deck_->recordings().VerifyRecording(name, [&](const services::VerifyProgress& progress) {
          for (const auto& block : progress.damaged) told->damaged.insert(block.sequence);
          return true;
        });
    if (!status.ok()) absl::StrAppend(&told->trouble, "verify: ", status.ToString(), "; ");
  }
  void Play(const std::string& name, Told* told) {
    services::session::Open open{.direction = services::session::Direction::kPlayback};
    open.recording = name;
    auto admission = deck_->Admit(open, executor_);
    absl::Status status = admission.status();
    while (status.ok()) {
      dataplane::Block block;
      absl::StatusOr<dataplane::Flow> flow = dataplane::Flow::kNotNow;
      const bool answered = executor_.RunUntil([&] {
        flow = admission->source->Pull(&block);
        return !flow.ok() || *flow != dataplane::Flow::kNotNow;
      });
      status = answered ? flow.status() : absl::DeadlineExceededError("no block came");
      if (!status.ok() || *flow == dataplane::Flow::kEnd) break;
      const auto& header = block.header();
      const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
      told->played[header.sequence] = {.missing = missing,
                                       .crc = missing ? 0 : dataplane::Crc32c(block.payload())};
    }
    if (!status.ok()) absl::StrAppend(&told->trouble, "play: ", status.ToString(), "; ");
  }

  void LookAtLun() {
    deck_->ReadAccounts();
    const auto lun = deck_->luns().GetLun(kLun);
    if (!lun.ok()) return;
    result_.lun_state = std::string(services::model::NameOf(lun->state));
    result_.lun_cause = lun->cause;
    result_.lun_description = lun->description;
    result_.used_bytes = lun->used_bytes;
  }

  const History& history_;
  const Snapshot& now_;
  std::mt19937_64& random_;
  std::mt19937_64 uuids_;
  const std::shared_ptr<WallClock> clock_ = std::make_shared<WallClock>();
  ManualExecutor executor_;
  std::unique_ptr<Deck> deck_;
  std::set<std::string> right_rows_;  // IDs: the row says what the manifest did
  Aftermath result_;
};

// Of what a member says about the LUN the newest counts, and of its recordings what their manifests
// say.
void Survivor::JudgePolicies(const services::Lun& lun, const Image& before,
                             const std::set<std::string>& went) {
  LunText terms{.capacity = lun.capacity_bytes,
                .ring = lun.full_policy == services::FullPolicy::kRing,
                .max_age_ns = lun.max_age_ns,
                .max_fill = lun.max_fill_percent,
                .description = lun.description};
  for (const auto& [member, text] : LunTexts(before)) {
    if (text.uid == lun.uid && VersionOf(text.description) > VersionOf(terms.description)) {
      terms = text;
    }
  }
  const Parts parts = PartsIn(history_.shape, before);
  uint64_t used = 0;
  std::map<std::string, std::pair<std::optional<ManifestText>, uint64_t>> gone;  // by ID
  for (const auto& take : now_.takes) {
    const auto manifest = BestManifest(parts, take.identity);
    // One whose manifest is damaged takes its room all the same.
    const auto known = manifest.has_value() ? manifest : ReadManifest(take.manifest);
    const uint64_t takes =
        known.has_value() && known->closed ? FootprintOf(history_.shape, *known) : 0;
    used += takes;
    // A manifest that all members have lost is written again from the row.
    const bool by_row = right_rows_.contains(take.identity.id);
    if (went.contains(take.identity.id)) {
      gone[take.identity.id] = {by_row ? known : manifest, takes};
    }
  }
  const uint64_t limit = terms.max_fill > 0 ? terms.capacity / 100 * terms.max_fill
                         : terms.ring       ? terms.capacity - terms.capacity / 32
                                            : UINT64_MAX;
  // Of equal age the order is not known: so the last is the one that takes most.
  for (const auto& [id, what] : gone) {
    const auto& [manifest, takes] = what;
    const bool closed = manifest.has_value() && manifest->closed && !manifest->kept;
    const bool old = closed && terms.max_age_ns > 0 &&
                     manifest->end_time_ns + terms.max_age_ns <= clock_->WallNs();
    const bool full = closed && used > limit;
    if (old || full) {
      result_.gone_by_policy.insert(id);
    } else {
      result_.faults.push_back(
          {.kind = absl::StrCat(manifest.has_value() ? "policy deletes what is within its bounds"
                                                     : "policy deletes what only the row speaks of",
                                manifest.has_value() && manifest->kept ? ": it is kept" : "",
                                VersionOf(terms.description) > VersionOf(lun.description)
                                    ? ": an older configuration is in force"
                                    : ""),
           .detail = absl::StrCat(id, ": ", used, " used, limit ", limit, ", LUN ", lun.description,
                                  ", members ", terms.description,
                                  manifest.has_value() ? "" : ", no manifest")});
    }
    used -= std::min(used, takes);
  }
}

}  // namespace

Aftermath LiveThrough(const History& history, size_t at, const std::vector<Disaster>& disasters,
                      std::mt19937_64& random) {
  return Survivor(history, at, random).Run(disasters);
}

}  // namespace tapedeck::disaster
