#include "dataplane/ladder/probe.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/ladder/probe_pair.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::ladder {
namespace {

constexpr size_t kSmallBytes = 4096;
// Whole blocks moved: the first warms up address translation, and the fastest counts.
constexpr int kBlocks = 3;
// For what is under way when a probe ends.
constexpr int64_t kCloseDeadlineNs = 2 * kSecondNs;

// Bytes that differ from move to move, so that none is right by having been there before.
std::vector<std::byte> Pattern(uint64_t move, size_t size) {
  std::vector<std::byte> bytes(size);
  uint64_t state = move;
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX
    byte = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

std::vector<std::byte> Inverted(std::vector<std::byte> bytes) {
  for (std::byte& byte : bytes) byte = ~byte;
  return bytes;
}

absl::Status Compare(std::span<const std::byte> sent, std::span<const std::byte> got) {
  const auto [at, found] = std::ranges::mismatch(sent, got);
  if (at == sent.end()) return absl::OkStatus();
  return absl::DataLossError(absl::StrFormat("byte %d arrived as 0x%02x, it was sent as 0x%02x",
                                             at - sent.begin(), static_cast<int>(*found),
                                             static_cast<int>(*at)));
}

// Of a step; shared with it.
struct Outcome {
  absl::Mutex mutex;
  absl::Status status ABSL_GUARDED_BY(mutex);
  bool there ABSL_GUARDED_BY(mutex) = false;
};

// One probe, on the thread that waits.
class Prober {
 public:
  Prober(Transport& rail, Direction direction, const ProbeMemory& memory)
      : rail_(rail), direction_(direction), memory_(memory) {}

  ProbeResult Run() {
    absl::StatusOr<std::shared_ptr<ProbePair>> pair = ProbePair::Create(rail_, direction_, memory_);
    if (!pair.ok()) return {.status = pair.status()};
    pair_ = *std::move(pair);
    deadline_ns_ = NowNs() + kProbeDeadlineNs;
    absl::Status status = MoveAll();
    deadline_ns_ = NowNs() + kCloseDeadlineNs;
    status.Update(Step([](ProbePair& p, ProbePair::Done done) { p.Close(std::move(done)); }));
    if (!status.ok()) return {.status = std::move(status)};
    return {.bytes_per_s = bytes_per_s_};
  }

 private:
  absl::Status MoveAll() {
    const absl::Status met =
        Step([deadline_ns = deadline_ns_](ProbePair& pair, ProbePair::Done done) {
          pair.Connect(deadline_ns, std::move(done));
        });
    if (!met.ok()) return Prefixed("a loopback over the rail's own port failed: ", met);
    const size_t block = memory_.window.bytes.size();
    TD_RETURN_IF_ERROR(Move(0, std::min(kSmallBytes, block)));
    for (int i = 1; i <= kBlocks; ++i) {
      if (const absl::Status status = Move(i, block); !status.ok()) {
        return Prefixed("4 KiB arrived, a whole block did not: ", status);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Move(uint64_t move, size_t bytes) {
    const std::vector<std::byte> sent = Pattern(move, bytes);
    const std::vector<std::byte> stale = Inverted(sent);
    const std::span<std::byte> host = pair_->host().first(bytes);
    const bool record = direction_ == Direction::kRecord;
    std::ranges::copy(record ? stale : sent, host.begin());
    TD_RETURN_IF_ERROR(memory_.write(record ? sent : stale));
    TD_RETURN_IF_ERROR(Step(
        [bytes](ProbePair& pair, ProbePair::Done done) { pair.Move(bytes, std::move(done)); }));
    std::vector<std::byte> got(bytes);
    if (record) {
      std::ranges::copy(host, got.begin());
    } else {
      TD_RETURN_IF_ERROR(memory_.read(got));
    }
    const int64_t ns = std::max<int64_t>(pair_->move_ns(), 1);
    bytes_per_s_ = std::max(bytes_per_s_, bytes * kSecondNs / static_cast<uint64_t>(ns));
    const absl::Status same = Compare(sent, got);
    return same.ok() ? same : Prefixed(absl::StrCat(bytes, " bytes: "), same);
  }

  // Runs `step` on the poller and waits for it.
  template <typename F>
  absl::Status Step(F step) {
    const auto outcome = std::make_shared<Outcome>();
    rail_.poller().Post([pair = pair_, outcome, step] {
      step(*pair, [outcome](absl::Status status) {
        absl::MutexLock lock(&outcome->mutex);
        outcome->status = std::move(status);
        outcome->there = true;
      });
    });
    const absl::Duration rest = absl::Nanoseconds(std::max<int64_t>(deadline_ns_ - NowNs(), 0));
    absl::MutexLock lock(&outcome->mutex);
    if (AwaitFor(outcome->mutex, absl::Condition(&outcome->there), rest)) {
      return outcome->status;
    }
    return absl::DeadlineExceededError(absl::StrCat("rail ", rail_.rail().name,
                                                    " has not moved the probe's data in ",
                                                    kProbeDeadlineNs / kSecondNs, " s"));
  }

  int64_t NowNs() const { return rail_.poller().clock().NowNs(); }

  Transport& rail_;
  const Direction direction_;
  const ProbeMemory& memory_;
  std::shared_ptr<ProbePair> pair_;
  int64_t deadline_ns_ = 0;
  uint64_t bytes_per_s_ = 0;
};

}  // namespace

ProbeResult Probe(Transport& rail, Direction direction, const ProbeMemory& memory) {
  return Prober(rail, direction, memory).Run();
}

}  // namespace tapedeck::dataplane::ladder
