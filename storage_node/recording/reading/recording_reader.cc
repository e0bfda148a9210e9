#include "storage_node/recording/reading/recording_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/deadline.h"
#include "dataplane/log.h"
#include "services/base/errors.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::recording {
namespace {

// Of a block's time of capture, by clocks that differ. Further ahead the clock went back since: it
// would be held back until then.
constexpr int64_t kMostAheadNs = 2 * dataplane::kSecondNs;

using dataplane::Flow;
using dataplane::flight::Kind;

// 16 for each of two drives. More would only push checked blocks out of the CPU's caches before
// they are sent.
constexpr uint64_t kMaxAhead = 32;

// Of blocks that are only copied: a few slots, used again and again, stay in the CPU's caches.
constexpr uint64_t kMaxCopiedAhead = 4;

// Of a block that is there. An index may hold any flags: those of a recorder alone are its own.
dataplane::BlockHeader HeaderOf(const format::IndexEntry& entry, uint32_t crc32c) {
  return {.sequence = entry.sequence,
          .sample_index = entry.sample_index,
          .capture_ns = entry.capture_ns,
          .payload_bytes = entry.payload_bytes,
          .crc32c = crc32c,
          .flags = entry.flags & dataplane::kBlockPartial};
}

}  // namespace

RecordingReader::RecordingReader(ReaderOptions options,
                                 std::unique_ptr<store::RecordingFiles> files,
                                 dataplane::Executor& executor)
    : options_(std::move(options)),
      executor_(executor),
      files_(std::move(files)),
      manifest_(options_.manifest),
      growing_(options_.live != nullptr),
      entries_(manifest_.entries()),
      index_(*files_, entries_, [this] { Pump(); }),
      pieces_(*files_, *options_.ring, entries_.piece_bytes),
      damaged_(options_.name, options_.meter),
      ahead_(std::clamp<uint64_t>(options_.ring->slots(), 1, kMaxAhead)),
      next_read_(options_.first),
      next_give_(options_.first) {
  auto pump = lifetime_.Guard([this] { Pump(); });
  options_.ring->SetWaker([&executor, pump] { executor.Post(pump); });
  executor.Post(pump);
  files_->OnLost([this](const absl::Status& status) {
    error_ = status;
    if (waker_) waker_();
  });
  if (!growing_) return;
  auto grown = lifetime_.Guard([this] { OnGrown(); });
  follower_ = options_.live->Follow([&executor, grown] { executor.Post(grown); });
  executor.Post(grown);
  if (options_.follow_memory == nullptr) return;
  tail_follower_ = options_.live->tail->Attach({.executor = &executor,
                                                .block_bytes = manifest_.block_bytes,
                                                .memory = options_.follow_memory,
                                                .next = next_read_});
}

void RecordingReader::OnGrown() {
  if (const auto closed = options_.live->closed(); growing_ && closed != nullptr) {
    manifest_ = *closed;
    growing_ = false;
  }
  Pump();
  if (waker_) waker_();
}

RecordingReader::~RecordingReader() {
  options_.ring->SetWaker(nullptr);
  if (options_.live != nullptr) {
    options_.live->Unfollow(follower_);
    dataplane::Log(dataplane::LogLevel::kInfo, "recording_reader", "followed",
                   {{"recording", options_.name},
                    {"blocks", absl::StrCat(next_read_ - options_.first)},
                    {"from_memory", absl::StrCat(blocks_from_memory_)}});
  }
  if (tail_follower_.has_value()) options_.live->tail->Detach(*tail_follower_);
}

format::Place RecordingReader::PlaceOf(uint64_t sequence) const {
  return format::PlaceOf(sequence, manifest_.block_bytes, manifest_.members);
}

void RecordingReader::Pump() {
  pieces_.Pump();
  while (!requests_.empty()) {
    if (!Start(requests_.front())) return;
    requests_.pop_front();
  }
  while (next_read_ < end() && next_read_ < next_give_ + ahead_) {
    if (!Start({.sequence = next_read_})) return;
    ++next_read_;
  }
}

// Nothing it calls runs inline, so the queue it is called from stays as it is.
bool RecordingReader::Start(const Request& request) {
  if (const auto kept = FromTail(request)) return StartCopy(request, *kept);
  const auto* entry = index_.Find(request.sequence);
  if (entry == nullptr || ReadTooEarly(request.sequence, entry->status())) return false;
  const bool known = format::HasSequence(manifest_.missing, request.sequence);
  if (known || request.way == Way::kMissing || !entry->ok()) {
    const format::IndexEntry header =
        entry->ok() ? **entry : format::IndexEntry{.sequence = request.sequence};
    if (!StartMissing(request, header)) return false;
    if (!known && request.way != Way::kMissing) {
      OnNoEntry(request, entry->status());
    }
    return true;
  }
  if ((*entry)->payload_bytes == 0) return StartMissing(request, **entry);
  if (request.way == Way::kPieces) return StartPieces(request, **entry);
  const uint32_t copy = request.way == Way::kReadAgain ? request.copy : 0;
  const bool started = files_->ReadBlockCopy(
      copy, PlaceOf(request.sequence), (*entry)->payload_bytes, *options_.ring,
      [this, request, entry = **entry](absl::StatusOr<dataplane::Block> block) {
        OnRead(request, entry, std::move(block));
      });
  if (started) {
    options_.trail.Stamp(Kind::kFetch, {.sequence = request.sequence - options_.first,
                                        .place = PlaceOf(request.sequence).member});
  }
  return started;
}

std::shared_ptr<const dataplane::Block> RecordingReader::FromTail(const Request& request) {
  if (!tail_follower_.has_value() || request.sequence != next_read_) return nullptr;
  auto kept = options_.live->tail->Find(*tail_follower_, request.sequence);
  if (kept == nullptr && !growing_) {
    // Nothing comes any more.
    options_.live->tail->Detach(*std::exchange(tail_follower_, std::nullopt));
  }
  return kept;
}

bool RecordingReader::StartCopy(const Request& request, const dataplane::Block& kept) {
  if (request.sequence >= next_give_ + kMaxCopiedAhead) return false;
  std::optional<dataplane::Block> block = options_.ring->Take();
  if (!block.has_value()) return false;
  const dataplane::BlockHeader& header = kept.header();
  std::memcpy(block->memory().data(), kept.payload().data(), header.payload_bytes);
  ++blocks_from_memory_;
  Give(request,
       {.sequence = header.sequence,
        .sample_index = header.sample_index,
        .capture_ns = header.capture_ns,
        .payload_bytes = header.payload_bytes,
        .crc32c = header.crc32c,
        .flags = header.flags},
       *std::move(block));
  return true;
}

bool RecordingReader::ReadTooEarly(uint64_t sequence, const absl::Status& status) {
  if (options_.live == nullptr || !absl::IsNotFound(status)) return false;
  if (std::exchange(read_again_, sequence) == sequence) return false;
  index_.Forget(sequence);
  index_.Find(sequence);
  return true;
}

bool RecordingReader::StartMissing(const Request& request, const format::IndexEntry& entry) {
  const dataplane::BlockHeader header{.sequence = request.sequence,
                                      .sample_index = entry.sample_index,
                                      .capture_ns = entry.capture_ns,
                                      .flags = dataplane::kBlockMissing};
  return files_->ReadBlock(PlaceOf(request.sequence), 0, *options_.ring,
                           [this, request, header](absl::StatusOr<dataplane::Block> block) {
                             if (block.ok()) return Give(request, header, *std::move(block));
                             error_ = block.status();
                             if (waker_) waker_();
                           });
}

bool RecordingReader::StartPieces(const Request& request, const format::IndexEntry& entry) {
  if (pieces_.busy()) return false;
  pieces_.Read(PlaceOf(request.sequence), entry,
               [this, request, entry](std::optional<dataplane::Block> block) {
                 OnPieces(request, entry, std::move(block));
               });
  return true;
}

void RecordingReader::OnPieces(Request request, const format::IndexEntry& entry,
                               std::optional<dataplane::Block> block) {
  executor_.Post(lifetime_.Guard([this] { Pump(); }));  // the next may have waited for these
  if (!block.has_value()) {
    request.way = Way::kMissing;
    requests_.push_front(request);
    return;
  }
  dataplane::BlockHeader header = HeaderOf(entry, block->header().crc32c);
  header.flags |= dataplane::kBlockDamaged;
  Give(request, header, *std::move(block));
}

void RecordingReader::OnRead(const Request& request, const format::IndexEntry& entry,
                             absl::StatusOr<dataplane::Block> block) {
  if (!block.ok()) {
    return OnDamaged(request, format::KindOfReadError(block.status()),
                     std::string(block.status().message()));
  }
  auto check = [identity = manifest_.identity, sequence = request.sequence,
                place = PlaceOf(request.sequence), entry,
                piece_bytes = entries_.piece_bytes](const dataplane::Block& read) {
    return format::CheckBlock(identity, sequence, place, entry, piece_bytes, read.payload());
  };
  if (options_.checks == nullptr) {
    const format::Verdict verdict = check(*block);
    return OnChecked(request, entry, verdict, *std::move(block));
  }
  auto checked = lifetime_.Guard(
      [this, request, entry](const format::Verdict& verdict, dataplane::Block read) {
        OnChecked(request, entry, verdict, std::move(read));
      });
  options_.checks->Run([check = std::move(check), checked = std::move(checked),
                        read = *std::move(block), &executor = executor_]() mutable {
    executor.Post([verdict = check(read), checked = std::move(checked),
                   read = std::move(read)]() mutable { checked(verdict, std::move(read)); });
  });
}

void RecordingReader::OnChecked(const Request& request, const format::IndexEntry& entry,
                                const format::Verdict& verdict, dataplane::Block block) {
  if (verdict.kind != format::DamageKind::kNone) {
    block.Reset();
    return OnDamaged(request, verdict.kind, verdict.detail);
  }
  Give(request, HeaderOf(entry, verdict.payload_crc32c), std::move(block));
}

// Its missing block is on the way already.
void RecordingReader::OnNoEntry(const Request& request, const absl::Status& why) {
  damaged_.Add(request.sequence, format::KindOfEntryError(why), std::string(why.message()));
}

// The first time the memory or the transfer may be to blame; the second time it is the data. Of
// several copies each is tried, the first one last.
void RecordingReader::OnDamaged(Request request, format::DamageKind kind,
                                const std::string& detail) {
  const uint32_t copies = files_->block_copies();
  if (request.way == Way::kRead) {
    request.way = Way::kReadAgain;
    request.copy = 1 % copies;
  } else if (request.way == Way::kReadAgain && request.copy != 0 && copies > 1) {
    request.copy = (request.copy + 1) % copies;
  } else {
    damaged_.Add(request.sequence, kind, detail);
    request.way = options_.damaged_blocks ? Way::kPieces : Way::kMissing;
  }
  requests_.push_front(request);
  Pump();
}

void RecordingReader::Give(const Request& request, const dataplane::BlockHeader& header,
                           dataplane::Block block) {
  block.header() = header;
  block.header().sequence -= options_.first;
  options_.trail.Stamp(Kind::kFetched, {.sequence = block.header().sequence,
                                        .place = PlaceOf(request.sequence).member});
  if (request.rejected) {
    ready_again_.push_back(std::move(block));
  } else {
    ready_[request.sequence] = std::move(block);
  }
  if (waker_) waker_();
}

absl::StatusOr<Flow> RecordingReader::Pull(dataplane::Block* block) {
  if (!error_.ok()) return error_;
  if (!ready_again_.empty()) {
    *block = std::move(ready_again_.front());
    ready_again_.pop_front();
    --rejected_open_;
    return Flow::kMoved;
  }
  if (!growing_ && next_give_ >= manifest_.blocks) {
    return rejected_open_ == 0 ? Flow::kEnd : Flow::kNotNow;
  }
  const auto next = ready_.find(next_give_);
  if (next == ready_.end() || TooEarly(next->second.header())) return Flow::kNotNow;
  *block = std::move(next->second);
  ready_.erase(next);
  ++next_give_;
  Pump();
  return Flow::kMoved;
}

bool RecordingReader::TooEarly(const dataplane::BlockHeader& header) {
  if (options_.behind_ns == 0 || header.capture_ns == dataplane::kTimeUnknown) return false;
  // The time of capture may be anything.
  const int64_t behind_ns = std::min(options_.behind_ns, format::kMaxDurationNs);
  const int64_t ahead_ns = std::clamp(header.capture_ns, -format::kMaxTimeNs, format::kMaxTimeNs) -
                           executor_.clock().WallNs();
  const int64_t wait_ns = ahead_ns + behind_ns;
  if (wait_ns <= 0 || ahead_ns > kMostAheadNs) return false;
  if (std::exchange(waiting_, true)) return true;
  executor_.PostAfter(std::min(wait_ns, dataplane::kWallLookNs), lifetime_.Guard([this] {
    waiting_ = false;
    if (waker_) waker_();
  }));
  return true;
}

absl::Status RecordingReader::Reject(const dataplane::BlockHeader& header) {
  const uint64_t sequence = options_.first + header.sequence;
  if (sequence >= next_give_) {
    return services::ProtocolViolation(
        {.message = "Resend"},
        absl::StrCat("read ", options_.name, ": block ", sequence, " was rejected but not given"));
  }
  if (!rejected_.insert(sequence).second) {
    return services::BlockDamaged(
        {.recording = options_.name, .blocks = 1},
        absl::StrCat("read ", options_.name, ": block ", sequence,
                     " arrived damaged twice; check the consumer's memory and "
                     "the network"));
  }
  ++rejected_open_;
  requests_.push_back({.sequence = sequence, .rejected = true});
  Pump();
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::recording
