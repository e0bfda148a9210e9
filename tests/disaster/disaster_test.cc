// Random sets of files of a LUN and of its node are lost, emptied, cut, flipped, old, swapped or
// links; then the node starts, attaches or rebuilds its catalog. What an independent reader of the
// format finds valid before is there afterwards, and played or named.
//   TAPEDECK_SIM_SEED=N       one seed, with what its node said
//   TAPEDECK_SIM_SEEDS=N      seeds 1 to N; TAPEDECK_LONG=1: 10,000
//   TAPEDECK_SIM_FIRST=F      as many from F on
//   TAPEDECK_DISASTER_STRICT=1   also what is only named must be found, if all that it needs is
//   there
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/disaster/aftermath.h"
#include "tests/scratch_file.h"
#include "tests/sim/seeds.h"
#include "tests/storage_node/ceph_cluster.h"

namespace tapedeck::disaster {
namespace {

constexpr uint64_t kSeedsOfAHistory = 100;
constexpr uint64_t kShortOfAHistory = 50;  // in the short form
constexpr uint64_t kShortSeeds = 800;
constexpr uint64_t kLongSeeds = 10'000;
constexpr uint64_t kCephSeeds = 200;
// In 100,000 these led to a fault that is mended, each of another kind.
constexpr uint64_t kFaultySeeds[] = {14167, 34244, 44334, 73472, 90914};
constexpr unsigned kPatienceSeconds = 60;
constexpr size_t kShown = 3;  // seeds of each kind of fault

uint64_t HistoryOf(uint64_t seed) { return (seed - 1) / kSeedsOfAHistory + 1; }

std::string StepsOf(const History& history) {
  std::string steps;
  for (const Snapshot& snapshot : history.snapshots) absl::StrAppend(&steps, "\n", snapshot.step);
  return steps;
}

class DisasterTest : public testing::Test {
 protected:
  // In memory, so that a flush costs nothing.
  DisasterTest() {
    const std::string fast = "/dev/shm";
    std::string pattern =
        (std::filesystem::is_directory(fast) ? fast
                                             : std::filesystem::temp_directory_path().string()) +
        "/tapedeck-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~DisasterTest() override { std::filesystem::remove_all(folder_); }

  const History& HistoryFor(uint64_t seed) {
    if (history_.seed != HistoryOf(seed)) {
      history_ =
          MakeHistory(HistoryOf(seed), shapes_[HistoryOf(seed) % shapes_.size()], folder_ + "/w");
      EXPECT_EQ(history_.failure, "")
          << history_.shape.name << ", " << sim::HowToRepeat(seed) << StepsOf(history_);
    }
    return history_;
  }

  // In a process of its own: what ends it is a fault as well. `without`: disasters left out.
  std::vector<Fault> Try(uint64_t seed, const std::set<size_t>& without, bool tell);
  // The fewest disasters that still lead to a fault of that kind.
  std::string Shrink(uint64_t seed, const std::string& kind);

  using Seen = std::vector<std::pair<uint64_t, std::string>>;  // seeds and details
  std::string Describe(const std::string& kind, const Seen& all);
  // All seeds; fails if one leads to a fault.
  void TryAll(uint64_t count);

  std::vector<Shape> shapes_ = Shapes();
  std::string folder_;
  History history_;
};

std::vector<Disaster> DisastersOf(const History& history, size_t* at, std::mt19937_64& random) {
  *at = random() % history.snapshots.size();
  return MakeDisasters(history, *at, random);
}

// The child's part.
void LiveAndTell(const History& history, uint64_t seed, const std::set<size_t>& without, bool tell,
                 const std::string& told) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15);
  size_t at = 0;
  const auto all = DisastersOf(history, &at, random);
  std::vector<Disaster> disasters;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!without.contains(i)) disasters.push_back(all[i]);
  }
  const Aftermath aftermath = LiveThrough(history, at, disasters, random);
  std::ofstream out(told);
  for (const Fault& fault : Judge(history, at, aftermath)) {
    out << fault.could_be_better << fault.kind << "\t"
        << fault.detail.substr(0, fault.detail.find('\n')) << "\n";
  }
  if (!tell) return;
  std::cout << "shape " << history.shape.name << ", after " << at + 1
            << " steps, the last: " << history.snapshots[at].step << "\n";
  for (const Disaster& disaster : disasters) std::cout << "  disaster: " << disaster.what << "\n";
  for (const auto& step : aftermath.steps) std::cout << "  then: " << step << "\n";
  std::cout << "  LUN: " << aftermath.lun_state << " " << aftermath.lun_cause << "\n"
            << aftermath.log << std::flush;
}

std::vector<Fault> DisasterTest::Try(uint64_t seed, const std::set<size_t>& without, bool tell) {
  const History& history = HistoryFor(seed);
  const std::string told = folder_ + "/told";
  std::filesystem::remove(told);
  std::cout << std::flush;
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatienceSeconds);
    // What the test itself cannot do is no fault of the node.
    try {
      LiveAndTell(history, seed, without, tell, told);
    } catch (const std::exception& error) {
      std::ofstream(told) << "0the test: " << error.what() << "\t\n";
    }
    std::cout << std::flush;
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) {
    const std::string log = ReadFile(history.world + ".log");
    const std::string end = WIFSIGNALED(status) ? absl::StrCat("signal ", WTERMSIG(status))
                                                : absl::StrCat("exit status ", WEXITSTATUS(status));
    return {{.kind = "the node ended: " + end,
             .detail = log.substr(log.size() - std::min<size_t>(log.size(), 500))}};
  }
  std::vector<Fault> faults;
  std::istringstream lines(ReadFile(told));
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t');
    faults.push_back({.kind = line.substr(1, tab - 1),
                      .detail = line.substr(tab + 1),
                      .could_be_better = line[0] == '1'});
  }
  return faults;
}

std::string DisasterTest::Shrink(uint64_t seed, const std::string& kind) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15);
  size_t at = 0;
  const auto all = DisastersOf(HistoryFor(seed), &at, random);
  std::set<size_t> without;
  for (size_t i = 0; i < all.size(); ++i) {
    without.insert(i);
    const auto faults = Try(seed, without, false);
    const bool same =
        std::ranges::any_of(faults, [&](const Fault& fault) { return fault.kind == kind; });
    if (!same) without.erase(i);
  }
  std::string text =
      absl::StrCat(history_.shape.name, " after '", history_.snapshots[at].step, "'");
  for (size_t i = 0; i < all.size(); ++i) {
    if (!without.contains(i)) absl::StrAppend(&text, "; ", all[i].what);
  }
  return text;
}

void DisasterTest::TryAll(uint64_t count) {
  const bool tell = std::getenv("TAPEDECK_SIM_SEED") != nullptr;
  const bool strict = std::getenv("TAPEDECK_DISASTER_STRICT") != nullptr;
  std::map<std::string, Seen> kinds;
  std::map<std::string, uint64_t> named;  // what could have been found
  const auto began = std::chrono::steady_clock::now();
  auto seeds = sim::FaultSeeds(count);
  if (seeds.size() == kShortSeeds && std::getenv("TAPEDECK_SIM_SEEDS") == nullptr) {
    std::erase_if(seeds, [](uint64_t seed) { return seed % kSeedsOfAHistory >= kShortOfAHistory; });
  }
  for (const uint64_t seed : seeds) {
    std::set<std::string> seen;
    for (const Fault& fault : Try(seed, {}, tell)) {
      if (!seen.insert(fault.kind).second) continue;
      if (fault.could_be_better && !strict) {
        ++named[fault.kind];
      } else {
        kinds[fault.kind].emplace_back(seed, fault.detail);
      }
    }
    if (HasFailure()) break;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cout << seeds.size() << " seeds in " << took.count() << " s\n";
  for (const auto& [kind, times] : named) {
    std::cout << "named, and could be found (" << times << " seeds): " << kind << "\n";
  }
  for (const auto& [kind, all] : kinds) ADD_FAILURE() << Describe(kind, all);
}

std::string DisasterTest::Describe(const std::string& kind, const Seen& all) {
  std::ostringstream text;
  text << kind << ": " << all.size() << " seeds";
  for (size_t i = 0; i < std::min(all.size(), kShown); ++i) {
    const auto& [seed, detail] = all[i];
    text << "\n  " << sim::HowToRepeat(seed) << ": " << detail;
    if (i == 0) text << "\n    " << Shrink(seed, kind);
  }
  return text.str();
}

TEST_F(DisasterTest, WhatIsStillThereIsFoundOrNamed) {
  TryAll(std::getenv("TAPEDECK_LONG") != nullptr ? kLongSeeds / 4 : kShortSeeds);
}

TEST_F(DisasterTest, WhatWasLostOnceIsFoundOrNamed) {
  for (const uint64_t seed : kFaultySeeds) {
    for (const Fault& fault : Try(seed, {}, false)) {
      EXPECT_TRUE(fault.could_be_better)
          << fault.kind << ", " << sim::HowToRepeat(seed) << ": " << fault.detail;
    }
  }
}

TEST_F(DisasterTest, AlsoOnCeph) {
  if (!storage_node::UseCephCluster()) GTEST_SKIP() << storage_node::kNoCephCluster;
  shapes_ = {RadosShape()};
  TryAll(kCephSeeds);
}

}  // namespace
}  // namespace tapedeck::disaster
