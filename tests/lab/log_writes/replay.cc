#include "tests/lab/log_writes/replay.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "tests/lab/log_writes/mounted.h"

namespace tapedeck::lab {
namespace {

constexpr uint64_t kMaxComplaints = 40;
constexpr uint64_t kSeedStride = 1'000'003;
// What a device writes whole or not at all: file systems count on it for their superblocks.
constexpr uint64_t kAtomBytes = 4096;

void Shuffle(std::vector<uint64_t>* lengths, std::mt19937_64& random) {
  for (size_t i = lengths->size(); i > 1; --i)
    std::swap((*lengths)[i - 1], (*lengths)[random() % i]);
}

}  // namespace

absl::StatusOr<ReplayCounts> Replay::Run() {
  Count();
  Choose();
  for (const LogEntry& entry : log_.entries()) {
    ++length_;
    TD_RETURN_IF_ERROR(Take(entry));
    if (chosen_.contains(length_)) TD_RETURN_IF_ERROR(LookAtPrefix());
  }
  if (!ledger_.begun()) return absl::DataLossError("the log has no mark that says begin");
  for (const auto& [name, promise] : ledger_.promises()) counts_.blocks += promise.blocks;
  if (counts_.blocks == 0) return absl::DataLossError("no mark in the log promises a block");
  return counts_;
}

void Replay::Count() {
  for (const LogEntry& entry : log_.entries()) {
    ++counts_.entries;
    counts_.flushes += entry.flush ? 1 : 0;
    counts_.marks += entry.is_mark ? 1 : 0;
  }
}

// All prefixes from the beginning on; or some: half of them end at a mark, where most is promised.
void Replay::Choose() {
  std::vector<uint64_t> marks;
  std::vector<uint64_t> others;
  bool begun = false;
  for (uint64_t i = 0; i < log_.entries().size(); ++i) {
    const LogEntry& entry = log_.entries()[i];
    begun |= entry.mark == "begin";
    if (begun) (entry.is_mark ? marks : others).push_back(i + 1);
  }
  counts_.candidates = marks.size() + others.size();
  const uint64_t wanted = options_.prefixes > 0 ? options_.prefixes : counts_.candidates;
  Shuffle(&marks, random_);
  Shuffle(&others, random_);
  if (wanted < counts_.candidates) marks.resize(std::min<uint64_t>(marks.size(), wanted / 2));
  others.resize(std::min<uint64_t>(others.size(), wanted - marks.size()));
  std::set<uint64_t> all(marks.begin(), marks.end());
  all.insert(others.begin(), others.end());
  if (options_.only > 0) all = {options_.only};
  uint64_t number = 0;
  for (const uint64_t length : all) {
    if (number++ % options_.shards == options_.shard) chosen_.insert(chosen_.end(), length);
  }
}

absl::Status Replay::Take(const LogEntry& entry) {
  if (entry.is_mark) {
    last_mark_ = entry.mark;
    return ledger_.Read(entry.mark);
  }
  if (entry.flush) {
    for (const Write& write : unforced_) TD_RETURN_IF_ERROR(device_.Apply(*write.entry));
    unforced_.clear();
  }
  if (entry.bytes > 0) unforced_.push_back({.entry = &entry, .bytes = entry.bytes});
  return absl::OkStatus();
}

absl::Status Replay::LookAtPrefix() {
  ++counts_.prefixes;
  all_unforced_ = true;
  TD_RETURN_IF_ERROR(Look(unforced_));
  all_unforced_ = false;
  // So that this prefix alone gives the same losses again.
  random_.seed(options_.seed * kSeedStride + length_);
  for (uint64_t i = 0; i < options_.losses && !unforced_.empty(); ++i) {
    ++counts_.losses;
    TD_RETURN_IF_ERROR(Look(SomeOfUnforced()));
  }
  return absl::OkStatus();
}

// Half of the writes are lost, and of the others every fourth is torn; what was forced is whole.
std::vector<Write> Replay::SomeOfUnforced() {
  std::vector<Write> some;
  for (Write write : unforced_) {
    const uint64_t atoms = write.bytes / kAtomBytes;
    if (!write.entry->fua) {
      if (random_() % 2 == 0) continue;
      if (atoms > 1 && random_() % 4 == 0) write.bytes = random_() % atoms * kAtomBytes;
    }
    some.push_back(write);
  }
  return some;
}

absl::Status Replay::Look(const std::vector<Write>& unforced) {
  TD_RETURN_IF_ERROR(device_.CutPower(unforced));
  const auto mounted = Mounted::Create(options_.device, options_.file_system, options_.mount);
  if (mounted.ok()) return LookAtNode();
  ++counts_.survivors.wrong;
  Complain(mounted.status().ToString());
  return absl::OkStatus();
}

absl::Status Replay::LookAtNode() {
  if (!options_.state_from.empty()) {
    std::error_code error;
    std::filesystem::remove_all(options_.state, error);
    std::filesystem::copy(options_.state_from, options_.state,
                          std::filesystem::copy_options::recursive, error);
    if (error)
      return absl::InternalError(absl::StrCat("copy ", options_.state_from, " to ", options_.state,
                                              ": ", error.message()));
  }
  const SurvivorCounts counts = survivors_.Look(options_.state, ledger_);
  counts_.survivors.promised += counts.promised;
  counts_.survivors.lost += counts.lost;
  counts_.survivors.wrong += counts.wrong;
  return absl::OkStatus();
}

void Replay::Complain(const std::string& what) {
  if (++complaints_ > kMaxComplaints) return;
  std::printf("after entry %llu%s, mark %s: %s\n", static_cast<unsigned long long>(length_),
              all_unforced_ ? "" : " with losses", last_mark_.c_str(), what.c_str());
  std::fflush(stdout);
}

}  // namespace tapedeck::lab
