#include "tests/gpu_worker/pump.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker {

using dataplane::Block;
using dataplane::Flow;

dataplane::Waker Signal::waker() {
  return [state = state_] {
    absl::MutexLock lock(&state->mutex);
    state->set = true;
  };
}

bool Signal::Wait() {
  absl::MutexLock lock(&state_->mutex);
  const bool woken =
      dataplane::AwaitFor(state_->mutex, absl::Condition(&state_->set), absl::Seconds(10));
  state_->set = false;
  return woken;
}

namespace {

// The next block, or an empty one at the end.
absl::StatusOr<Block> PullOne(dataplane::Source& source, Signal& signal) {
  while (true) {
    Block block;
    TD_ASSIGN_OR_RETURN(const Flow flow, source.Pull(&block));
    if (flow == Flow::kEnd) return Block();
    if (flow == Flow::kMoved) return block;
    if (!signal.Wait()) return absl::DeadlineExceededError("Pull: no waker came");
  }
}

absl::Status PushGroup(std::vector<Block>& group, dataplane::Sink& sink) {
  std::reverse(group.begin(), group.end());
  for (Block& block : group) {
    if (const auto flow = sink.Push(&block); !flow.ok()) return flow.status();
  }
  group.clear();
  return absl::OkStatus();
}

absl::Status FinishAll(dataplane::Sink& sink, Signal& signal) {
  while (true) {
    TD_ASSIGN_OR_RETURN(const Flow flow, sink.Finish(absl::OkStatus()));
    if (flow == Flow::kEnd) return absl::OkStatus();
    if (!signal.Wait()) return absl::DeadlineExceededError("Finish: no waker came");
  }
}

absl::Status PumpBlocks(dataplane::Source& source, dataplane::Sink& sink, Signal& signal,
                        const PumpOptions& options) {
  std::vector<Block> group;
  while (true) {
    TD_ASSIGN_OR_RETURN(Block block, PullOne(source, signal));
    if (block.empty()) return PushGroup(group, sink);
    if (options.crc_of(block) != block.header().crc32c) {
      return absl::DataLossError(absl::StrCat("CRC of block ", block.header().sequence));
    }
    if (!options.look(block)) continue;
    group.push_back(std::move(block));
    if (group.size() >= options.reverse) TD_RETURN_IF_ERROR(PushGroup(group, sink));
  }
}

}  // namespace

absl::Status Pump(dataplane::Source& source, dataplane::Sink& sink, const PumpOptions& options) {
  Signal from_source;
  Signal from_sink;
  source.SetWaker(from_source.waker());
  sink.SetWaker(from_sink.waker());
  TD_RETURN_IF_ERROR(PumpBlocks(source, sink, from_source, options));
  return FinishAll(sink, from_sink);
}

absl::StatusOr<std::vector<Pulled>> PullAll(dataplane::Source& source) {
  Signal signal;
  source.SetWaker(signal.waker());
  std::vector<Pulled> out;
  while (true) {
    TD_ASSIGN_OR_RETURN(const Block block, PullOne(source, signal));
    if (block.empty()) break;
    const auto payload = block.payload();
    out.push_back({block.header(),
                   std::string(reinterpret_cast<const char*>(payload.data()), payload.size())});
  }
  return out;
}

}  // namespace tapedeck::gpu_worker
