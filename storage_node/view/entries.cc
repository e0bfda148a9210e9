#include "storage_node/view/entries.h"

#include <algorithm>

#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::view {
namespace {

// Entries that are read along with their neighbours: less than another read costs.
constexpr uint64_t kPassedOver = 8;
constexpr uint64_t kMostOfARun = 1024;

}  // namespace

absl::Status Entries::Fetch(const std::vector<uint64_t>& sequences) {
  std::erase_if(entries_, [&](const auto& entry) {
    return !std::ranges::binary_search(sequences, entry.first);
  });
  runs_.clear();
  for (const uint64_t sequence : sequences) {
    if (entries_.contains(sequence)) continue;
    const bool joins = !runs_.empty() &&
                       sequence <= runs_.back().first + runs_.back().entries.size() + kPassedOver &&
                       sequence < runs_.back().first + kMostOfARun;
    if (!joins) runs_.push_back({.first = sequence, .entries = {}});
    Run& run = runs_.back();
    run.entries.resize(sequence - run.first + 1, absl::NotFoundError("index entry never written"));
  }
  for (Run& run : runs_) Read(&run, 0);
  TD_RETURN_IF_ERROR(patience_.Await([this] { return under_way_ == 0; }));
  for (const uint64_t sequence : sequences) {
    if (entries_.contains(sequence)) continue;
    const auto run = std::prev(std::ranges::upper_bound(runs_, sequence, {}, &Run::first));
    entries_.emplace(sequence, run->entries[sequence - run->first]);
  }
  return absl::OkStatus();
}

void Entries::Read(Run* run, uint32_t copy) {
  ++under_way_;
  const size_t bytes = run->entries.size() * format_.entry_bytes;
  bytes_read_ += bytes;
  files_.ReadIndex(copy, format_.Offset(run->first), bytes,
                   [this, run, copy](const absl::StatusOr<store::Bytes>& read) {
                     --under_way_;
                     OnRead(run, copy, read);
                   });
}

void Entries::OnRead(Run* run, uint32_t copy, const absl::StatusOr<store::Bytes>& bytes) {
  if (bytes.ok()) {
    index::MergeEntries(format_, *bytes, run->first, copy, &run->entries);
  } else {
    for (auto& entry : run->entries) {
      if (!entry.ok()) entry = bytes.status();
    }
  }
  const bool whole =
      std::ranges::all_of(run->entries, [](const auto& entry) { return entry.ok(); });
  if (!whole && copy + 1 < files_.index_copies()) Read(run, copy + 1);
}

}  // namespace tapedeck::storage_node::view
