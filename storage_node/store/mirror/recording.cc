#include "storage_node/store/mirror/recording.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/block/shared_block.h"
#include "storage_node/disk/errors.h"
#include "storage_node/engine/engine.h"

namespace tapedeck::storage_node::store::mirror {
namespace {

// Both callbacks of one operation: the last to be called calls `done` with the first error.
std::array<Done, kCopies> Joins(Done done) {
  struct State {
    Done done;
    absl::Status status;
    uint32_t left = kCopies;
  };
  auto state = std::make_shared<State>(State{.done = std::move(done), .status = {}});
  const auto join = [state](const absl::Status& status) {
    state->status.Update(status);
    if (--state->left == 0) state->done(state->status);
  };
  return {join, join};
}

// Both members are full, or soon: that is no reason to go on with one.
bool IsOfOne(const absl::Status& status) {
  return !status.ok() && !absl::IsResourceExhausted(status);
}

}  // namespace

MirroredRecording::MirroredRecording(std::shared_ptr<Pair> pair, Parts parts, Purpose purpose,
                                     dataplane::Executor& executor)
    : pair_(std::move(pair)),
      purpose_(purpose),
      executor_(executor),
      mailbox_(std::make_shared<Mailbox>(executor)) {
  for (uint32_t m = 0; m < kCopies; ++m) {
    Side& side = sides_[m];
    side.part = std::move(parts[m]);
    side.left = side.part.files == nullptr;
    if (side.part.absent != nullptr) side.mark = Mark::kThere;
    if (side.left) continue;
    side.part.files->OnLost([this, m](const absl::Status& why) { LeaveAlone(m, why); });
  }
}

void MirroredRecording::OnBoth(absl::FunctionRef<void(uint32_t, Done)> start, Done done) {
  auto joins = Joins(std::move(done));
  for (uint32_t m = 0; m < kCopies; ++m) {
    OnOne(
        m, [&](Done judged) { start(m, std::move(judged)); }, std::move(joins[m]));
  }
}

void MirroredRecording::OnOne(uint32_t member, absl::FunctionRef<void(Done)> start, Done done) {
  if (sides_[member].left) return Omit(member, std::move(done));
  start(Judged(member, std::move(done)));
}

Done MirroredRecording::Judged(uint32_t member, Done done) {
  ++sides_[member].under_way;
  return [this, member, done = std::move(done)](const absl::Status& status) mutable {
    --sides_[member].under_way;
    Release(member);
    if (!IsOfOne(status)) return done(status);
    LeaveAlone(member, status);
    Omit(member, std::move(done));
  };
}

void MirroredRecording::LeaveAlone(uint32_t member, const absl::Status& why) {
  Side& side = sides_[member];
  if (side.left) return;
  side.left = true;
  side.part.why = why;
  if (purpose_ == Purpose::kWrite) Omit(member, [](const absl::Status&) {});
  Release(member);
  if (sides_[OtherOf(member)].left && lost_) Answer(std::exchange(lost_, nullptr), why);
}

// Not while it is called back by what it destroys.
void MirroredRecording::Release(uint32_t member) {
  Side& side = sides_[member];
  if (!side.left || side.under_way > 0 || side.part.files == nullptr || side.releasing) return;
  side.releasing = true;
  executor_.Post(lifetime_.Guard([this, member] {
    sides_[member].part.files = nullptr;
    sides_[member].part.store = nullptr;
  }));
}

void MirroredRecording::Omit(uint32_t member, Done done) {
  Side& side = sides_[member];
  switch (side.mark) {
    case Mark::kThere:
      return Answer(std::move(done), absl::OkStatus());
    case Mark::kFailed:
      return Answer(std::move(done), side.failure);
    case Mark::kAsked:
      return side.waiting.push_back(std::move(done));
    case Mark::kNone:
      break;
  }
  side.mark = Mark::kAsked;
  side.waiting.push_back(std::move(done));
  pair_->LeaveLater(member, side.part.why,
                    [this, member, mailbox = mailbox_](absl::StatusOr<Absent> absent) {
                      mailbox->Post([this, member, absent = std::move(absent)]() mutable {
                        OnMarked(member, std::move(absent));
                      });
                    });
}

void MirroredRecording::OnMarked(uint32_t member, absl::StatusOr<Absent> absent) {
  Side& side = sides_[member];
  side.mark = absent.ok() ? Mark::kThere : Mark::kFailed;
  side.failure = absent.status();
  if (absent.ok()) side.part.absent = *std::move(absent);
  for (Done& done : std::exchange(side.waiting, {})) Answer(std::move(done), side.failure);
}

void MirroredRecording::WriteBlock(format::Place place, dataplane::Block block, BlockDone done) {
  engine::ZeroPadding(block);  // which members may write with it: then none changes the slot
  auto shared = std::make_shared<dataplane::SharedBlock>(std::move(block));
  const auto start = [&](uint32_t m, Done judged) {
    sides_[m].part.files->WriteBlock(
        place, shared->Lend(),
        [judged = std::move(judged)](const absl::Status& status, dataplane::Block loan) mutable {
          loan.Reset();
          judged(status);
        });
  };
  OnBoth(start, [shared, done = std::move(done)](const absl::Status& status) mutable {
    dataplane::Block block = shared->TakeBack();
    if (status.ok()) block.Reset();
    done(status, std::move(block));
  });
}

std::vector<uint32_t> MirroredRecording::Readable() const {
  std::vector<uint32_t> members;
  const uint32_t whole = pair_->whole();
  for (const uint32_t m : {whole, OtherOf(whole)}) {
    if (!sides_[m].left) members.push_back(m);
  }
  return members;
}

uint32_t MirroredRecording::block_copies() const {
  return std::max<uint32_t>(1, static_cast<uint32_t>(Readable().size()));
}

bool MirroredRecording::ReadBlockCopy(uint32_t copy, format::Place place, uint32_t bytes,
                                      dataplane::SlotPool& ring, BlockRead done) {
  const std::vector<uint32_t> members = Readable();
  if (members.empty()) {
    Answer(std::move(done), absl::StatusOr<dataplane::Block>(sides_[0].part.why));
    return true;
  }
  const uint32_t m = members[std::min<size_t>(copy, members.size() - 1)];
  const bool started = sides_[m].part.files->ReadBlock(
      place, bytes, ring,
      [this, m, done = std::move(done)](absl::StatusOr<dataplane::Block> block) mutable {
        --sides_[m].under_way;
        Release(m);
        done(std::move(block));
      });
  if (started) ++sides_[m].under_way;
  return started;
}

void MirroredRecording::MendBlockCopy(uint32_t copy, format::Place place, dataplane::Block block,
                                      BlockDone done) {
  const std::vector<uint32_t> members = Readable();
  if (copy >= members.size()) {
    executor_.Post(lifetime_.Guard([done = std::move(done), block = std::move(block)]() mutable {
      done(absl::UnavailableError("the other copy is not there"), std::move(block));
    }));
    return;
  }
  const uint32_t m = members[copy];
  ++sides_[m].under_way;
  sides_[m].part.files->WriteBlock(
      place, std::move(block),
      [this, m, done = std::move(done)](const absl::Status& status, dataplane::Block back) mutable {
        --sides_[m].under_way;
        Release(m);
        done(status, std::move(back));
      });
}

void MirroredRecording::Flush(Done done) {
  OnBoth([this](uint32_t m, Done judged) { sides_[m].part.files->Flush(std::move(judged)); },
         std::move(done));
}

void MirroredRecording::Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) {
  OnBoth(
      [&](uint32_t m, Done judged) {
        sides_[m].part.files->Trim(data_bytes, index_bytes, std::move(judged));
      },
      std::move(done));
}

void MirroredRecording::WriteIndex(uint32_t copy, uint64_t offset, Bytes bytes, Done done) {
  const uint64_t end = offset + bytes.size();
  Done noted = [this, copy, offset, end,
                done = std::move(done)](const absl::Status& status) mutable {
    if (status.ok() && !sides_[copy].left) NoteIndex(copy, offset, end);
    done(status);
  };
  OnOne(
      copy,
      [&](Done judged) {
        sides_[copy].part.files->WriteIndex(0, offset, std::move(bytes), std::move(judged));
      },
      std::move(noted));
}

void MirroredRecording::NoteIndex(uint32_t member, uint64_t begin, uint64_t end) {
  std::map<uint64_t, uint64_t>& index = sides_[member].index;
  auto it = index.upper_bound(begin);
  if (it != index.begin() && std::prev(it)->second >= begin) --it;
  while (it != index.end() && it->first <= end) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
    it = index.erase(it);
  }
  index.emplace(begin, end);
}

bool MirroredRecording::HasIndex(uint32_t member, uint64_t begin, uint64_t end) const {
  const std::map<uint64_t, uint64_t>& index = sides_[member].index;
  const auto it = index.upper_bound(begin);
  return it != index.begin() && std::prev(it)->second >= end;
}

bool MirroredRecording::Believed(uint32_t member, bool written) const {
  return !sides_[member].left && (written || !pair_->behind(member));
}

absl::Status MirroredRecording::NotBelieved(uint32_t member) const {
  const Side& side = sides_[member];
  return disk::StoreIo(
      pair_->name(member), "read",
      side.left
          ? absl::StrCat("member ", pair_->name(member), ": ", side.part.why.message())
          : absl::StrCat("the copy of member ", pair_->name(member), " is behind, and not used"),
      absl::StatusCode::kDataLoss);
}

bool MirroredRecording::HasNothing(uint32_t member) const {
  return sides_[member].left && absl::IsNotFound(sides_[member].part.why);
}

void MirroredRecording::ReadIndexOf(uint32_t member, uint64_t offset, size_t bytes,
                                    BytesRead done) {
  ++sides_[member].under_way;
  sides_[member].part.files->ReadIndex(
      0, offset, bytes, [this, member, done = std::move(done)](absl::StatusOr<Bytes> read) mutable {
        --sides_[member].under_way;
        Release(member);
        done(std::move(read));
      });
}

// Of a copy that is behind what lies beyond the end of the believed one counts: that has lost it.
void MirroredRecording::ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, BytesRead done) {
  const uint32_t other = OtherOf(copy);
  if (Believed(copy, HasIndex(copy, offset, offset + bytes)) ||
      (!sides_[copy].left && HasNothing(other))) {
    return ReadIndexOf(copy, offset, bytes, std::move(done));
  }
  if (sides_[copy].left || sides_[other].left) {
    return Answer(std::move(done), absl::StatusOr<Bytes>(NotBelieved(copy)));
  }
  auto beyond = [this, copy, offset, bytes,
                 done = std::move(done)](const absl::StatusOr<Bytes>& theirs) mutable {
    const size_t end = theirs.ok() ? theirs->size() : 0;
    const bool lost = end < bytes && (theirs.ok() || absl::IsDataLoss(theirs.status()));
    if (!lost || sides_[copy].left) return done(NotBelieved(copy));
    ReadIndexOf(copy, offset, bytes,
                [this, copy, end, done = std::move(done)](absl::StatusOr<Bytes> read) mutable {
                  if (read.ok() && read->size() <= end) return done(NotBelieved(copy));
                  if (read.ok()) std::fill_n(read->begin(), end, std::byte{0});
                  done(std::move(read));
                });
  };
  ReadIndexOf(other, offset, bytes, std::move(beyond));
}

void MirroredRecording::WriteManifest(std::string text, Done done) {
  const auto start = [&](uint32_t m, Done judged) {
    sides_[m].part.files->WriteManifest(
        text, [this, m, judged = std::move(judged)](const absl::Status& status) mutable {
          sides_[m].has_manifest = sides_[m].has_manifest || status.ok();
          judged(status);
        });
  };
  OnBoth(start, std::move(done));
}

void MirroredRecording::ReadManifestOf(uint32_t member, TextRead done) {
  ++sides_[member].under_way;
  sides_[member].part.files->ReadManifest(
      0, [this, member, done = std::move(done)](absl::StatusOr<std::string> read) mutable {
        --sides_[member].under_way;
        Release(member);
        done(std::move(read));
      });
}

// That of a copy that is behind counts where the believed one has lost its own.
void MirroredRecording::ReadManifest(uint32_t copy, TextRead done) {
  const uint32_t other = OtherOf(copy);
  if (Believed(copy, sides_[copy].has_manifest) || (!sides_[copy].left && HasNothing(other))) {
    return ReadManifestOf(copy, std::move(done));
  }
  if (sides_[copy].left || sides_[other].left) {
    return Answer(std::move(done), absl::StatusOr<std::string>(NotBelieved(copy)));
  }
  ReadManifestOf(other, [this, copy, done = std::move(done)](
                            const absl::StatusOr<std::string>& theirs) mutable {
    if (!absl::IsNotFound(theirs.status()) || sides_[copy].left) return done(NotBelieved(copy));
    ReadManifestOf(copy, std::move(done));
  });
}

}  // namespace tapedeck::storage_node::store::mirror
