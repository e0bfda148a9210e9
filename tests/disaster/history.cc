#include "tests/disaster/history.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <list>
#include <memory>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/disaster/deck.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::disaster {
namespace {

using namespace storage_node;  // NOLINT: the names under test

constexpr int kSteps = 14;

class Maker {
 public:
  Maker(uint64_t seed, const Shape& shape, const std::string& world)
      : random_(seed * 7919 + 1), uuids_(seed * 104'729 + 3) {
    history_.seed = seed;
    history_.shape = shape;
    history_.world = world;
  }

  History Run() {
    SaveWorld(history_.shape,
              {{"outside", {.kind = Node::Kind::kFolder, .bytes = {}, .target = {}}}},
              history_.world);
    Start();
    MakeLun();
    for (int step = 0; step < kSteps && history_.failure.empty(); ++step) {
      clock_->now_ns += static_cast<int64_t>(1 + random_() % 20) * kMinute;
      Look(Step());
    }
    running_.clear();
    deck_ = nullptr;
    return std::move(history_);
  }

 private:
  struct Running {
    Recorder recorder;
    uint64_t next = 0;  // sequence
  };

  static std::string IdOf(const Running& running) {
    const std::string& name = running.recorder.admission.accept.recording;
    return name.substr(name.rfind('/') + 1);
  }

  void Check(const absl::Status& status, const std::string& what) {
    if (status.ok() || !history_.failure.empty()) return;
    history_.failure = absl::StrCat(what, ": ", status.ToString());
  }
  void Start() {
    auto deck = Deck::Start(history_.world + "/state", clock_, [this] { return uuids_(); });
    Check(deck.status(), "start");
    if (deck.ok()) deck_ = *std::move(deck);
  }

  std::string MakeMember(uint32_t number) const {
    const std::string path = MemberName(history_.shape, history_.world, number);
    if (history_.shape.on_devices()) {
      Bytes zeros;
      zeros.Resize(kDeviceBytes);
      zeros.Save(path);
    } else if (!history_.shape.on_objects()) {
      std::filesystem::create_directories(path);
    }
    return path;
  }

  void MakeLun() {
    services::Lun lun{
        .name = kLun,
        .store = history_.shape.store,
        .capacity_bytes = history_.shape.on_devices() ? kDeviceBytes / 4 * 3 : 40 << 20,
        .description = "v1",
        .copies = history_.shape.copies};
    for (uint32_t m = 0; m < history_.shape.members; ++m) lun.members.push_back(MakeMember(m));
    SetPolicy(&lun);
    Check(deck_->luns().CreateLun(lun, "").status(), "create LUN");
    for (const char* id : {"c", "d"}) {
      const services::Channel channel{.name = absl::StrCat(kLun, "/channels/", id),
                                      .block_bytes = kBlockBytes,
                                      .datatype = "cf32_le",
                                      .sample_rate = 1e6};
      Check(deck_->channels().CreateChannel(channel, "").status(), "create channel");
    }
  }
  void SetPolicy(services::Lun* lun) {
    const uint64_t which = random_() % 4;
    lun->max_age_ns = which == 1 ? 90 * kMinute : 0;
    lun->max_fill_percent = which == 2 ? 5 + random_() % 10 : 0;
    lun->full_policy = which == 3 ? services::FullPolicy::kRing : services::FullPolicy::kStop;
  }

  std::string Step() {
    const uint64_t which = random_() % 100;
    if (which < 34) return RecordAll();
    if (which < 50) return Begin();
    if (which < 62) return GoOn();
    if (which < 70) return End();
    if (which < 76) return Delete();
    if (which < 82) return Keep();
    if (which < 88) return Restart();
    if (which < 94) return ChangeLun();
    if (which < 97) return AddMember();
    deck_->ApplyPolicies();
    return "policies";
  }

  std::string Begin() {
    services::session::Open open{.direction = services::session::Direction::kRecord};
    open.channel = absl::StrCat(kLun, "/channels/", random_() % 3 == 0 ? "d" : "c");
    auto admission = deck_->Admit(open, executor_);
    // Also where it is full.
    if (!admission.ok()) return absl::StrCat("no recording: ", admission.status().ToString());
    running_.push_back(
        {.recorder = {
             .admission = *std::move(admission), .executor = &executor_, .seed = ++payloads_}});
    Push(running_.back());
    return absl::StrCat("begin ", running_.back().recorder.admission.accept.recording);
  }
  // Until it is durable; some are missing.
  void Push(Running& running) {
    const uint64_t count = random_() % 8;
    auto& pushed = acknowledged_[IdOf(running)];
    for (uint64_t i = 0; i < count; ++i) {
      const bool missing = random_() % 8 == 0;
      const size_t bytes = missing ? 0 : 8 * (1 + random_() % 512);
      Check(running.recorder.Push(running.next, bytes,
                                  missing ? uint32_t{dataplane::kBlockMissing} : 0),
            "push");
      if (!missing) {
        pushed[running.next] =
            dataplane::Crc32c(Payload(running.next, bytes, running.recorder.seed));
      }
      ++running.next;
    }
    const auto& sink = *running.recorder.admission.sink;
    const bool durable =
        executor_.RunUntil([&] { return sink.watermarks().durable == running.next; });
    if (!durable) Check(absl::DeadlineExceededError(""), "durable");
  }
  std::string Finish(std::list<Running>::iterator it) {
    const std::string name = it->recorder.admission.accept.recording;
    const bool abort = random_() % 5 == 0;
    Check(
        it->recorder.Finish(abort ? absl::AbortedError("the worker went away") : absl::OkStatus()),
        "finish");
    running_.erase(it);
    return absl::StrCat(abort ? "abort " : "seal ", name);
  }
  std::string RecordAll() {
    const size_t before = running_.size();
    std::string begun = Begin();
    if (running_.size() == before) return begun;
    Push(running_.back());
    return Finish(std::prev(running_.end()));
  }
  std::string GoOn() {
    if (running_.empty()) return Begin();
    Push(running_.front());
    return absl::StrCat("go on with ", running_.front().recorder.admission.accept.recording);
  }
  std::string End() { return running_.empty() ? RecordAll() : Finish(running_.begin()); }

  // A closed one.
  std::string Any() {
    std::vector<std::string> names;
    const auto all = deck_->recordings().RecordingsAfter("luns/l/channels/-", {}, 100);
    Check(all.status(), "list");
    for (const auto& recording : all.value_or(std::vector<services::Recording>())) {
      if (recording.state != services::RecordingState::kRecording) names.push_back(recording.name);
    }
    return names.empty() ? "" : names[random_() % names.size()];
  }
  std::string Delete() {
    const std::string name = Any();
    if (name.empty()) return RecordAll();
    Check(deck_->recordings().DeleteRecording(name), "delete");
    return absl::StrCat("delete ", name);
  }
  std::string Keep() {
    const std::string name = Any();
    if (name.empty()) return RecordAll();
    const bool kept = random_() % 4 != 0;
    Check(deck_->recorder().KeepRecording(name, kept), "keep");
    return absl::StrCat(kept ? "keep " : "keep no more ", name);
  }
  // As kill -9 does.
  std::string Restart() {
    running_.clear();
    deck_ = nullptr;
    Start();
    return "kill and start";
  }
  std::string ChangeLun() {
    services::Lun lun{};
    SetPolicy(&lun);
    Update(services::LunUpdate{.name = kLun}
               .Set(&services::Lun::max_age_ns, int64_t{lun.max_age_ns})
               .Set(&services::Lun::max_fill_percent, uint32_t{lun.max_fill_percent})
               .Set(&services::Lun::full_policy, services::FullPolicy{lun.full_policy}));
    return absl::StrCat("change the LUN to v", version_);
  }
  std::string AddMember() {
    const auto lun = deck_->luns().GetLun(kLun);
    Check(lun.status(), "get LUN");
    const bool more = lun.ok() && !lun->mirrored() && lun->members.size() < 3;
    if (!more || history_.shape.on_objects()) return ChangeLun();
    std::vector<std::string> members = lun->members;
    members.push_back(MakeMember(static_cast<uint32_t>(members.size())));
    Update(services::LunUpdate{.name = kLun}.Set(&services::Lun::members, std::move(members)));
    return absl::StrCat("a member more, v", version_);
  }
  void Update(services::LunUpdate update) {
    update.Set(&services::Lun::description, absl::StrCat("v", ++version_));
    Check(deck_->luns().UpdateLun(update, "").status(), "update LUN");
  }

  void Look(const std::string& step) {
    executor_.RunReady();
    // What a flush still does beside the acknowledgement.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    executor_.RunReady();
    Snapshot now{
        .step = step, .image = LoadWorld(history_.shape, history_.world), .now_ns = clock_->now_ns};
    if (history_.shape.on_devices()) now.slots = SlotsOf(now.image);
    const Parts parts = PartsIn(history_.shape, now.image);
    for (const Part& part : parts) {
      if (!part.manifest.has_value() || part.id != part.manifest->id) continue;
      const ManifestText& manifest = *part.manifest;
      const bool known = std::ranges::any_of(
          now.takes, [&](const Take& take) { return take.identity.id == manifest.id; });
      if (known) continue;
      Take take{.identity = {.id = manifest.id,
                             .channel = manifest.channel,
                             .lun = manifest.lun,
                             .recording = manifest.recording,
                             .epoch = manifest.epoch,
                             .members = manifest.members,
                             .block_bytes = manifest.block_bytes},
                .manifest = part.manifest_text,
                .stream = manifest.stream,
                .first = manifest.first,
                .segment_blocks = manifest.segment_blocks,
                .closed = manifest.closed};
      const auto found = FindBlocks(parts, take.identity, SequencesOf(parts, take.identity),
                                    history_.shape.mirrored());
      for (const auto& [sequence, block] : found) take.blocks[sequence] = block.payload_crc;
      now.takes.push_back(std::move(take));
    }
    CheckAcknowledged(now);
    history_.snapshots.push_back(std::move(now));
  }
  // Of those that are there. A segment that is full goes on in the next one.
  void CheckAcknowledged(const Snapshot& now) {
    for (const Take& take : now.takes) {
      const bool segment = take.segment_blocks > 0;
      for (const auto& [sequence, crc] : acknowledged_[segment ? take.stream : take.identity.id]) {
        if (segment && sequence / take.segment_blocks != take.first / take.segment_blocks) continue;
        const auto found = take.blocks.find(sequence - take.first);
        if (found != take.blocks.end() && found->second == crc) continue;
        Check(absl::DataLossError(absl::StrCat("block ", sequence, " of ", take.identity.id)),
              "acknowledged, and not there after " + now.step);
      }
    }
  }

  History history_;
  std::mt19937_64 random_, uuids_;
  const std::shared_ptr<WallClock> clock_ = std::make_shared<WallClock>();
  ManualExecutor executor_;
  std::unique_ptr<Deck> deck_;
  std::list<Running> running_;
  int version_ = 1;
  uint64_t payloads_ = 0;                                             // each recording has others
  std::map<std::string, std::map<uint64_t, uint32_t>> acknowledged_;  // CRCs, by recording
};

}  // namespace

Parts PartsIn(const Shape& shape, const Image& image) {
  if (shape.on_objects()) return PartsOfObjects(image);
  return shape.on_devices() ? PartsAt(image, SlotsOf(image)) : PartsOfFolders(image);
}

History MakeHistory(uint64_t seed, const Shape& shape, const std::string& world) {
  return Maker(seed, shape, world).Run();
}

}  // namespace tapedeck::disaster
