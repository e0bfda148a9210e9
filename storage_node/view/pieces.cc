#include "storage_node/view/pieces.h"

#include <algorithm>
#include <utility>

#include "dataplane/crc/crc32c.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/damage.h"

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

using services::SampleSpan;

Pieces::Pieces(const PiecesOptions& options, Patience& patience)
    : options_(options),
      patience_(patience),
      piece_bytes_(options.manifest.entries().piece_bytes),
      pieces_per_block_((options.manifest.block_bytes + piece_bytes_ - 1) / piece_bytes_),
      entries_(options.files, options.manifest.entries(), patience) {
  options_.ring->SetWaker([&executor = patience.executor()] { executor.Post([] {}); });
}

Pieces::~Pieces() { options_.ring->SetWaker(nullptr); }

std::set<uint64_t> Pieces::PiecesOf(std::span<const SampleSpan> spans) const {
  const Extent& extent = options_.extent;
  std::set<uint64_t> pieces;
  for (const SampleSpan& span : spans) {
    for (uint64_t sample = span.first; sample < span.end();) {
      const uint64_t block = sample / extent.block_samples;
      const uint64_t piece = sample % extent.block_samples / extent.piece_samples;
      pieces.insert(pieces.end(), block * pieces_per_block_ + piece);
      const uint64_t next = block * extent.block_samples + (piece + 1) * extent.piece_samples;
      sample = std::min(next, (block + 1) * extent.block_samples);
    }
  }
  return pieces;
}

absl::Status Pieces::Fetch(std::span<const SampleSpan> spans) {
  const std::set<uint64_t> pieces = PiecesOf(spans);
  std::erase_if(good_, [&](const auto& entry) { return !pieces.contains(entry.first); });
  std::vector<uint64_t> blocks;
  for (const uint64_t piece : pieces) {
    const uint64_t block = BlockOf(piece);
    if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
  }
  TD_RETURN_IF_ERROR(entries_.Fetch(blocks));
  AddJobs(pieces);
  return patience_.Await([this] {
    Pump();
    return jobs_.empty() && under_way_ == 0;
  });
}

const format::IndexEntry* Pieces::EntryOf(uint64_t sequence) {
  if (format::HasSequence(options_.manifest.missing, sequence)) return nullptr;
  const absl::StatusOr<format::IndexEntry>& entry = entries_.At(sequence);
  if (entry.ok()) return &*entry;
  if (format::KindOfEntryError(entry.status()) != format::DamageKind::kMissing) {
    damaged_entries_.insert(sequence);
  }
  return nullptr;
}

void Pieces::AddJobs(const std::set<uint64_t>& pieces) {
  const uint64_t most = options_.whole_blocks ? pieces_per_block_ : kReadBytes / piece_bytes_;
  for (const uint64_t piece : pieces) {
    if (Known(piece)) continue;
    const format::IndexEntry* const entry = EntryOf(BlockOf(piece));
    if (entry == nullptr || piece % pieces_per_block_ >= entry->pieces.size()) continue;
    if (!jobs_.empty()) {
      Job& last = jobs_.back();
      const bool neighbour = last.first + last.count == piece && last.count < most;
      if (neighbour && BlockOf(last.first) == BlockOf(piece)) {
        ++last.count;
        continue;
      }
    }
    jobs_.push_back({.first = piece, .count = 1});
  }
}

void Pieces::Pump() {
  while (!jobs_.empty() && Start(jobs_.front())) jobs_.pop_front();
}

bool Pieces::Start(const Job& job) {
  const format::IndexEntry& entry = *entries_.At(BlockOf(job.first));
  const uint64_t begin = options_.whole_blocks ? 0 : job.first % pieces_per_block_ * piece_bytes_;
  const uint64_t bytes = options_.whole_blocks
                             ? entry.payload_bytes
                             : std::min(job.count * piece_bytes_, entry.payload_bytes - begin);
  format::Place place =
      format::PlaceOf(entry.sequence, options_.manifest.block_bytes, options_.manifest.members);
  place.offset += begin;
  const bool started = options_.files.ReadBlockCopy(
      job.tries % options_.files.block_copies(), place, static_cast<uint32_t>(bytes),
      *options_.ring, [this, job](const absl::StatusOr<dataplane::Block>& block) {
        --under_way_;
        OnRead(job, block);
      });
  if (!started) return false;
  ++under_way_;
  bytes_read_ += std::min(bytes, job.count * piece_bytes_);
  return true;
}

void Pieces::OnRead(const Job& job, const absl::StatusOr<dataplane::Block>& block) {
  if (!block.ok()) return Take(job, {});
  const uint64_t skipped = options_.whole_blocks ? job.first % pieces_per_block_ * piece_bytes_ : 0;
  Take(job, block->payload().subspan(skipped));
}

void Pieces::Take(const Job& job, std::span<const std::byte> read) {
  const format::IndexEntry& entry = *entries_.At(BlockOf(job.first));
  for (uint64_t i = 0; i < job.count; ++i) {
    const uint64_t piece = job.first + i;
    const uint64_t number = piece % pieces_per_block_;
    const uint64_t bytes =
        std::min<uint64_t>(piece_bytes_, entry.payload_bytes - number * piece_bytes_);
    const auto found = read.empty() ? read : read.subspan(i * piece_bytes_).first(bytes);
    if (!found.empty() && dataplane::Crc32c(found) == entry.pieces[number]) {
      good_[piece].assign(found.begin(), found.end());
    } else if (job.tries >= options_.files.block_copies()) {
      damaged_.insert(piece);
    } else {
      jobs_.push_back({.first = piece, .count = 1, .tries = job.tries + 1});
    }
  }
}

void Pieces::Visit(const SampleSpan& span, OnRun on_run) const {
  const Extent& extent = options_.extent;
  for (uint64_t sample = span.first; sample < span.end();) {
    const uint64_t block = sample / extent.block_samples;
    const uint64_t number = sample % extent.block_samples / extent.piece_samples;
    const uint64_t begin = block * extent.block_samples + number * extent.piece_samples;
    const uint64_t end =
        std::min({begin + extent.piece_samples, (block + 1) * extent.block_samples, span.end()});
    const auto found = good_.find(block * pieces_per_block_ + number);
    if (found != good_.end()) {
      const uint64_t there = found->second.size() / extent.sample_bytes;
      const uint64_t shown = std::min(end, begin + there);
      if (sample < shown) {
        on_run(sample, std::span(found->second)
                           .subspan((sample - begin) * extent.sample_bytes,
                                    (shown - sample) * extent.sample_bytes));
      }
    }
    sample = end;
  }
}

}  // namespace tapedeck::storage_node::view
