#include "services/session/parts/dealer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services::parts {

using dataplane::Block;
using dataplane::Flow;

namespace {

// The least share, of an equal one: a part that was slow once is measured again with it.
constexpr size_t kLeastOfEqual = 8;
constexpr size_t kLeastBlocks = 2;

// Of the ring, where each part gets all blocks: for the others while one keeps what it has.
constexpr size_t kReserve = 4;

}  // namespace

struct Dealer::Wakers {
  absl::Mutex mutex;
  std::vector<dataplane::Waker> parts ABSL_GUARDED_BY(mutex);
};

Dealer::Dealer(const dataplane::Clock& clock, std::unique_ptr<dataplane::Source> source,
               const DealSettings& settings)
    : clock_(clock),
      source_(std::move(source)),
      settings_(settings),
      parts_(settings.parts),
      open_(settings.parts, settings.copies),
      wakers_(std::make_shared<Wakers>()) {
  {
    absl::MutexLock lock(&wakers_->mutex);
    wakers_->parts.resize(settings.parts);
  }
  source_->SetWaker([wakers = wakers_] {
    absl::MutexLock lock(&wakers->mutex);
    for (const dataplane::Waker& waker : wakers->parts) {
      if (waker) waker();
    }
  });
}

void Dealer::SetWaker(size_t part, dataplane::Waker waker) {
  parts_[part].waker = waker;
  absl::MutexLock lock(&wakers_->mutex);
  wakers_->parts[part] = std::move(waker);
}

PartSet Dealer::Present() const {
  PartSet present = 0;
  for (size_t i = 0; i < parts_.size(); ++i) {
    present |= PartSet{!parts_[i].away && !parts_[i].silent} << i;
  }
  return present;
}

bool Dealer::HasEnough() const {
  return static_cast<uint32_t>(std::popcount(Present())) >= settings_.copies;
}

void Dealer::Come(size_t number) {
  if (!std::exchange(parts_[number].away, false)) return;
  if (HasEnough()) degraded_from_.reset();
}

absl::StatusOr<Flow> Dealer::Pull(size_t number, Block* block) {
  TD_RETURN_IF_ERROR(error_);
  Part& part = parts_[number];
  Come(number);
  part.refused = true;
  if (complete()) return Flow::kEnd;
  if (part.suspected || part.out.size() >= Share(number)) return Flow::kNotNow;
  if (!open_.NextFor(number).has_value()) {
    TD_ASSIGN_OR_RETURN(const Flow flow, Next());
    if (flow != Flow::kMoved) return flow;
  }
  const uint64_t next = *open_.NextFor(number);
  if (AnotherComesFirst(number, next)) return Flow::kNotNow;
  *block = Give(number, next);
  return Flow::kMoved;
}

// Whoever has the fewest out, of those that want the block, will have done it first; of several,
// who got none for the longest. It is asked, and this one again behind it: one that does not come
// is waited for no longer. Where all get each block nobody is.
bool Dealer::AnotherComesFirst(size_t number, uint64_t block) {
  Part& part = parts_[number];
  if (part.left_to_others == dealt_ + 1 || settings_.copies >= parts_.size()) return false;
  size_t first = number;
  size_t fewest = SIZE_MAX;
  for (size_t i = 1; i <= parts_.size(); ++i) {
    const size_t at = (last_given_ + i) % parts_.size();
    const Part& other = parts_[at];
    const bool wants = !other.away && !other.suspected && other.refused && other.waker != nullptr &&
                       open_.MayGo(block, at);
    if (at != number && (!wants || other.out.size() >= Share(at))) continue;
    if (other.out.size() >= fewest) continue;
    first = at;
    fewest = other.out.size();
  }
  if (first == number) return false;
  part.left_to_others = dealt_ + 1;
  parts_[first].waker();
  if (part.waker) part.waker();
  return true;
}

// kEnd only when nothing is out any more: until then another part's blocks may have to go here.
absl::StatusOr<Flow> Dealer::Next() {
  if (!ended_ && IsHeldUp()) return Flow::kNotNow;
  if (last_.empty() && !ended_) {
    Block block;
    auto flow = FromStream(&block);
    if (!flow.ok()) {
      error_ = flow.status();
      WakeRefused();
      return error_;
    }
    if (*flow == Flow::kNotNow) return *flow;
    if (*flow == Flow::kMoved && (block.header().flags & dataplane::kBlockPartial) == 0) {
      open_.Add(std::move(block));
      return *flow;
    }
    if (*flow == Flow::kMoved) last_ = std::move(block);
  }
  if (!last_.empty() && acknowledged_.mark() == last_.header().sequence) {
    open_.Add(std::move(last_));
    last_ = Block();
    return Flow::kMoved;
  }
  return complete() ? Flow::kEnd : Flow::kNotNow;
}

absl::StatusOr<Flow> Dealer::FromStream(Block* block) {
  TD_ASSIGN_OR_RETURN(const Flow flow, source_->Pull(block));
  if (flow == Flow::kEnd) End();
  if (flow != Flow::kMoved) return flow;
  const dataplane::BlockHeader& header = block->header();
  const uint64_t samples = settings_.block_samples;
  if (header.sequence != counts_.blocks || header.sample_index != header.sequence * samples) {
    return absl::InternalError(absl::StrCat("Dealer: block ", header.sequence, " of sample ",
                                            header.sample_index, " came as number ", counts_.blocks,
                                            ", of ", samples, " samples"));
  }
  ++counts_.blocks;
  if ((header.flags & dataplane::kBlockMissing) != 0) ++counts_.missing;
  return Flow::kMoved;
}

Block Dealer::Give(size_t number, uint64_t next) {
  Part& part = parts_[number];
  bool again = false;
  Block block = open_.Lend(next, number, &again);
  if (again) ++counts_.again;
  if (part.out.empty()) part.rate.Begin(clock_.NowNs());
  part.out.push_back({.own = part.next, .stream = next});
  block.header().sequence = part.next++;
  part.refused = false;
  last_given_ = number;
  ++dealt_;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].refused && parts_[i].waker && open_.MayGo(next, i)) parts_[i].waker();
  }
  return block;
}

void Dealer::Acknowledge(size_t number, uint64_t watermark) {
  Part& part = parts_[number];
  uint64_t blocks = 0;
  for (; !part.out.empty() && part.out.front().own < watermark; ++blocks) {
    const uint64_t stream = part.out.front().stream;
    open_.Acknowledge(stream, number);
    if (const auto done = open_.Resolve(stream, Present())) Acknowledged(*done);
    part.out.pop_front();
  }
  if (blocks == 0) return;
  part.rate.Acknowledged(clock_.NowNs(), blocks);
  source_->Acknowledge(acknowledged_.mark());
  WakeRefused();
}

void Dealer::Acknowledged(const OpenBlocks::Done& done) {
  acknowledged_.Add(done.number);
  ++counts_.acknowledged;
  counts_.bytes += done.bytes;
  if (!done.too_few) return;
  ++counts_.too_few;
  counts_.first_too_few = std::min(counts_.first_too_few, done.number);
}

void Dealer::GiveBack(size_t number, std::vector<Block> blocks) {
  Part& part = parts_[number];
  part.away = true;
  part.suspected = false;
  part.silent = false;
  part.rate.Forget();
  auto block = blocks.begin();
  for (const Out& out : part.out) {
    if (block == blocks.end() || block->header().sequence != out.own) {
      open_.Acknowledge(out.stream, number);
      continue;
    }
    open_.TakeBack(out.stream, number);
    ++block;
  }
  part.out.clear();
  ResolveAll();
}

void Dealer::ResolveAll() {
  if (HasEnough()) {
    degraded_from_.reset();
  } else if (settings_.copies > 1 && !degraded_from_.has_value()) {
    degraded_from_ = open_.FirstOwed().value_or(counts_.blocks);
  }
  for (const OpenBlocks::Done& done : open_.ResolveAll(Present())) Acknowledged(done);
  source_->Acknowledge(acknowledged_.mark());
  WakeRefused();
}

bool Dealer::HoldsUp(size_t number) const {
  return IsHeldUp() && std::ranges::find(parts_[number].out, acknowledged_.mark(), &Out::stream) !=
                           parts_[number].out.end();
}

void Dealer::Suspect(size_t number, bool silent) {
  Part& part = parts_[number];
  if (part.away) return;
  if (!std::exchange(part.suspected, true)) {
    for (const Out& out : part.out) open_.Suspect(out.stream, number);
  }
  part.silent = silent;
  ResolveAll();
}

void Dealer::Trust(size_t number) {
  Part& part = parts_[number];
  if (!std::exchange(part.suspected, false)) return;
  part.silent = false;
  for (const Out& out : part.out) open_.Trust(out.stream, number);
  part.rate.Forget();
  part.rate.Begin(clock_.NowNs());
  if (HasEnough()) degraded_from_.reset();
  WakeRefused();
}

void Dealer::End() {
  ended_ = true;
  WakeRefused();
}

bool Dealer::complete() const {
  return ended_ && last_.empty() && counts_.acknowledged == counts_.blocks;
}

// A part that acknowledges nothing any more is as slow as the time since then says. `unmeasured`
// counts for one that has had no time to be measured.
double Dealer::RateOf(const Part& part, double unmeasured) const {
  const double rate = part.rate.per_ns() == 0 ? unmeasured : part.rate.per_ns();
  return part.out.empty() ? rate : part.rate.Bound(clock_.NowNs(), rate);
}

// One that was never measured counts as the fastest. What suspected ones have is not shared out.
size_t Dealer::Share(size_t number) const {
  double fastest = 0;
  size_t present = 0;
  size_t kept = 0;  // by suspected ones
  for (const Part& part : parts_) {
    if (part.suspected) kept += part.out.size();
    if (part.away || part.suspected) continue;
    ++present;
    fastest = std::max(fastest, RateOf(part, 0));
  }
  if (present <= 1) return SIZE_MAX;
  if (present <= settings_.copies) return settings_.slots - settings_.slots / kReserve;
  const double unmeasured = fastest == 0 ? 1 : fastest;
  double sum = 0;
  for (const Part& part : parts_) {
    if (!part.away && !part.suspected) sum += RateOf(part, unmeasured);
  }
  // As all of them take a block of each.
  const size_t slots = (settings_.slots - std::min(kept, settings_.slots)) * settings_.copies;
  const double share = static_cast<double>(slots) * RateOf(parts_[number], unmeasured) / sum;
  return std::max({static_cast<size_t>(share), slots / present / kLeastOfEqual, kLeastBlocks});
}

void Dealer::WakeRefused() {
  for (Part& part : parts_) {
    if (part.refused && part.waker) part.waker();
  }
}

}  // namespace tapedeck::services::parts
