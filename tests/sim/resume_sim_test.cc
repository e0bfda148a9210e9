// A recording whose sessions and whose storage node die at moments that the seed chooses: the
// worker's ResumingSession, the sessions of both ends, writer and recovery are the product's own.
// At the end there is one recording, and it has every block or says exactly which are missing.
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "dataplane/transport/inproc/transport.h"
#include "services/session/opening/resuming_session.h"
#include "services/session/serving/server_session.h"
#include "tests/bytes.h"
#include "tests/sim/control_pair.h"
#include "tests/sim/ends.h"
#include "tests/sim/fired.h"
#include "tests/sim/luns/playing.h"
#include "tests/sim/paced_source.h"
#include "tests/sim/seeds.h"
#include "tests/sim/simulated_session.h"
#include "tests/sim/site/resume_host.h"

namespace tapedeck::sim {
namespace {

using namespace storage_node;  // NOLINT: the names under test
using dataplane::kMillisecondNs;
using dataplane::kSecondNs;
using dataplane::inproc::RailState;
using services::session::ResumingSession;
using services::session::Snapshot;

constexpr uint64_t kResumeBlockBytes = 16 << 10;
constexpr size_t kResumeSlots = 16;

// One job of a worker, and a node that comes and goes.
class ResumeLife {
 public:
  ResumeLife(uint64_t seed, Fired& fired)
      : fired_(fired),
        random_(seed * 101),
        members_(static_cast<uint32_t>(1 + seed % 2)),
        pair_(seed % 3 == 0),
        blocks_(40 + random_() % 120),
        world_(seed),
        fabric_(std::make_shared<dataplane::inproc::Fabric>(
            dataplane::inproc::FabricFaults{.seed = seed, .max_delay_ns = 200'000})),
        ring_(NewRing(kResumeSlots, kResumeBlockBytes)),
        host_(disk_, {.members = members_, .block_bytes = kResumeBlockBytes}, world_.clock()),
        node_(world_.NewExecutor("node")),
        worker_(world_.NewExecutor("worker")),
        fate_(world_.NewExecutor("fate")) {
    disk_.random.seed(seed);
    for (const char* rail : {"r0", "r1"}) {
      worker_rails_.push_back(
          dataplane::inproc::Create(rail, world_.NewExecutor(absl::StrCat("w/", rail)), fabric_));
      node_rails_.push_back(
          dataplane::inproc::Create(rail, world_.NewExecutor(absl::StrCat("n/", rail)), fabric_));
    }
  }

  uint64_t Execute() {
    paced_ = random_() % 2 == 0;
    ResumingSession session(worker_, Settings());
    worker_.Post([&] {
      session.Start([this](const Snapshot& snapshot) {
        EXPECT_FALSE(result_.ended);
        result_ = snapshot;
      });
    });
    Fate();
    const auto over = [&] { return result_.ended && Ended() == sessions_.size(); };
    EXPECT_TRUE(world_.RunUntil(over, 600 * kSecondNs)) << "it never ended";
    if (!testing::Test::HasFailure()) Check();
    sessions_.clear();
    return world_.fingerprint();
  }

 private:
  struct Served {
    std::unique_ptr<services::session::ServerSession> session;
    std::shared_ptr<ControlEnd::State> worker_end;
    std::shared_ptr<ControlEnd::State> node_end;
    bool ended = false;
  };

  static std::vector<dataplane::Transport*> Pointers(
      const std::vector<std::unique_ptr<dataplane::Transport>>& rails) {
    std::vector<dataplane::Transport*> pointers;
    for (const auto& rail : rails) pointers.push_back(rail.get());
    return pointers;
  }

  size_t Ended() const {
    return static_cast<size_t>(std::ranges::count_if(
        sessions_, [](const auto& s) { return s->ended || s->session == nullptr; }));
  }

  services::session::ResumingSettings Settings() {
    services::session::ResumingSettings settings{.resume_for_ns = 60 * kSecondNs};
    settings.session = {.node = "node", .transports = Pointers(worker_rails_)};
    settings.session.open.slots = kResumeSlots;
    settings.session.open.slot_bytes = kResumeBlockBytes;
    constexpr services::session::TransferOp kOps[] = {services::session::TransferOp::kRead,
                                                      services::session::TransferOp::kWrite,
                                                      services::session::TransferOp::kSend};
    settings.session.open.op = kOps[random_() % 3];
    settings.session.make_end = [this](const auto&) { return WorkerEnd(); };
    settings.open_stream = [this] { return Dial(0); };
    if (pair_) {
      settings.standbys = {"nobody", "standby"};
      settings.open_standby = [this](size_t standby) { return Dial(standby + 1); };
    }
    return settings;
  }

  services::session::TransferEnd WorkerEnd() {
    services::session::TransferEnd end{.ring = ring_};
    if (paced_) {
      end.source = std::make_unique<PacedSource>(
          worker_, ring_,
          SourcePace{
              .blocks = blocks_, .period_ns = 5 * kMillisecondNs, .block_bytes = kResumeBlockBytes},
          &lost_);
    } else {
      end.source = std::make_unique<PatternSource>(ring_, blocks_);
    }
    return end;
  }

  // The recording is at one of the nodes at a time.
  std::unique_ptr<services::session::ControlStream> Dial(size_t node) {
    ControlPair pair(world_);
    auto served = std::make_unique<Served>();
    served->worker_end = pair.worker_state;
    served->node_end = pair.node_state;
    if (up_ && node != holder_) ++fired_["asked the wrong node"];
    if (up_ && node == holder_) {
      Served* const entry = served.get();
      served->session = std::make_unique<services::session::ServerSession>(
          node_,
          services::session::ServerSessionSettings{.id = absl::StrCat("s", sessions_.size()),
                                                   .transports = Pointers(node_rails_),
                                                   .host = &host_},
          std::move(pair.node), [entry] { entry->ended = true; });
      node_.Post([entry] {
        if (entry->session != nullptr) entry->session->Start();
      });
    } else {
      // As a dialler that finds nobody.
      auto dropped = std::make_shared<std::unique_ptr<ControlEnd>>(std::move(pair.node));
      fate_.PostAfter(kMillisecondNs, [dropped] { dropped->reset(); });
    }
    sessions_.push_back(std::move(served));
    return std::move(pair.worker);
  }

  // What happens next, and when.
  void Fate() {
    if (turns_ == 5) return;
    // Soon, while much is under way, or later.
    const int64_t most_ns = random_() % 2 == 0 ? 20 * kMillisecondNs : 800 * kMillisecondNs;
    const auto after_ns = static_cast<int64_t>(random_() % most_ns);
    fate_.PostAfter(after_ns, [this] {
      if (result_.ended) return;
      // Before the node has answered there is nothing to go on with.
      if (!result_.running && turns_ == 0) return Fate();
      ++turns_;
      if (random_() % 2 == 0) {
        CutStream();
      } else {
        Die();
      }
    });
  }

  void CutStream() {
    ++fired_["control stream cut"];
    if (!sessions_.empty()) {
      for (const auto& end : {sessions_.back()->worker_end, sessions_.back()->node_end}) {
        Break(end, absl::UnavailableError("the connection was reset"));
      }
    }
    Fate();
  }

  void Die() {
    const bool power = random_() % 2 == 0;
    ++fired_[power ? "node lost its power" : "node was killed"];
    up_ = false;
    for (const auto& served : sessions_) {
      if (served->session == nullptr) continue;
      served->session = nullptr;
      Break(served->worker_end, absl::UnavailableError("the process is gone"));
    }
    for (const char* rail : {"r0", "r1"}) fabric_->SetRail(rail, RailState::kCut);
    host_.Stop(power);
    fate_.PostAfter(static_cast<int64_t>(random_() % (3 * kSecondNs)), [this] {
      for (const char* rail : {"r0", "r1"}) fabric_->SetRail(rail, RailState::kUp);
      host_.Start();
      up_ = true;
      // It starts again, or the standby has taken over.
      if (pair_ && random_() % 2 == 0) {
        holder_ = holder_ == 0 ? 2 : 0;
        ++fired_["taken over"];
      }
      Fate();
    });
  }

  void Check() {
    EXPECT_TRUE(result_.error.ok()) << result_.error;
    EXPECT_EQ(result_.lost_blocks, lost_.size());
    EXPECT_EQ(result_.blocks, blocks_);
    EXPECT_EQ(result_.bytes, (blocks_ - lost_.size()) * kResumeBlockBytes);
    fired_["resumed"] += result_.counters.resumes;
    fired_["sent again"] += result_.counters.retransmitted_blocks;
    fired_["missing"] += lost_.size();
    if (!up_) host_.Start();
    const auto manifest = host_.Close();
    ASSERT_TRUE(manifest.ok()) << manifest.status();
    EXPECT_EQ(manifest->state, services::RecordingState::kSealed);
    EXPECT_EQ(manifest->resume_token, "");
    EXPECT_EQ(manifest->blocks, blocks_);
    std::set<uint64_t> held;
    for (uint64_t i = 0; i < blocks_; ++i) {
      if (!lost_.contains(i)) held.insert(i);
    }
    EXPECT_EQ(BlocksOf(*manifest), held);
    EXPECT_EQ(manifest->bytes, held.size() * kResumeBlockBytes);
    const auto is_right = [](uint64_t sequence, std::span<const std::byte> payload) {
      std::vector<std::byte> expected(kResumeBlockBytes);
      FillPattern(sequence, expected);
      return SameBytes(payload, expected);
    };
    EXPECT_EQ(Play(host_.store(), host_.path(), *manifest, is_right), held);
  }

  Fired& fired_;
  std::mt19937_64 random_;
  const uint32_t members_;
  const bool pair_;  // there is a standby
  const uint64_t blocks_;
  World world_;
  const std::shared_ptr<dataplane::inproc::Fabric> fabric_;
  std::vector<std::unique_ptr<dataplane::Transport>> worker_rails_;
  std::vector<std::unique_ptr<dataplane::Transport>> node_rails_;
  const std::shared_ptr<dataplane::MemoryPool> ring_;
  FaultDisk disk_;
  ResumeHost host_;
  dataplane::Executor& node_;
  dataplane::Executor& worker_;
  dataplane::Executor& fate_;
  std::vector<std::unique_ptr<Served>> sessions_;
  std::set<uint64_t> lost_;
  Snapshot result_;
  bool paced_ = false;
  bool up_ = true;
  size_t holder_ = 0;  // 0: the first node; else a standby, counted from 1
  int turns_ = 0;
};

TEST(ResumeSim, OneRecordingHasEveryBlockOrSaysWhichAreMissing) {
  Fired fired;
  for (const uint64_t seed : Seeds(150)) {
    SCOPED_TRACE(HowToRepeat(seed));
    ResumeLife(seed, fired).Execute();
    if (HasFailure()) return;
  }
  Print(fired);
  for (const char* what :
       {"control stream cut", "node lost its power", "node was killed", "resumed", "sent again",
        "missing", "taken over", "asked the wrong node"}) {
    EXPECT_GT(fired[what], 0u) << what;
  }
}

TEST(ResumeSim, SameSeedRunsTheSame) {
  Fired fired;
  EXPECT_EQ(ResumeLife(7, fired).Execute(), ResumeLife(7, fired).Execute());
}

}  // namespace
}  // namespace tapedeck::sim
