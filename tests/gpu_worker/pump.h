// What tests need of a session: something that waits for wakers and moves blocks.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "dataplane/block/sink.h"
#include "dataplane/block/source.h"
#include "dataplane/crc/crc32c.h"

namespace tapedeck::gpu_worker {

// A waker to wait for. Any thread; its wakers may outlive it.
class Signal {
 public:
  dataplane::Waker waker();
  // False if nobody woke within ten seconds.
  bool Wait();

 private:
  struct State {
    absl::Mutex mutex;
    bool set ABSL_GUARDED_BY(mutex) = false;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

struct PumpOptions {
  // Pushes groups of this many blocks, last one first.
  size_t reverse = 1;
  // Looks at (and may damage) each block; false drops it.
  std::function<bool(dataplane::Block&)> look = [](dataplane::Block&) { return true; };
  // Of a payload, wherever it lies.
  std::function<uint32_t(const dataplane::Block&)> crc_of = [](const dataplane::Block& block) {
    return dataplane::Crc32c(block.payload());
  };
};

// Moves everything, checking each block's CRC on the way, and finishes. DEADLINE_EXCEEDED if either
// end stalls.
absl::Status Pump(dataplane::Source& source, dataplane::Sink& sink,
                  const PumpOptions& options = {});

// Pulls everything into memory: header and payload of each block.
struct Pulled {
  dataplane::BlockHeader header;
  std::string payload;
};
absl::StatusOr<std::vector<Pulled>> PullAll(dataplane::Source& source);

}  // namespace tapedeck::gpu_worker
