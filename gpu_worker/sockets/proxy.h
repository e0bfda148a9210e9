// Serves a table of sockets: a thread of the CPU with TCP sockets on one side and the rings that it
// shares with kernels on the other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/clock.h"
#include "dataplane/executor/event_loop.h"
#include "gpu_worker/sockets/endpoints.h"
#include "gpu_worker/sockets/socket_table.h"

namespace tapedeck::gpu_worker::sockets {

struct ProxySettings {
  std::vector<Endpoints> bind;   // what kernels may listen on; empty: nothing
  std::vector<Endpoints> reach;  // what they may connect to; empty: nothing

  // How long what was sent may take to go out after a gclose that does not wait for it.
  int64_t linger_ns = 5 * dataplane::kSecondNs;

  // No store of a GPU wakes a thread that sleeps. So the proxy looks at the table without a pause
  // while something happens and for `spin_ns` after; then it naps between two looks for an eighth
  // of how long it has been quiet, `nap_ns` at most, which is how long a kernel may wait for the
  // first answer. What comes from the network wakes it.
  int64_t spin_ns = 200 * dataplane::kMicrosecondNs;
  int64_t nap_ns = dataplane::kMillisecondNs;
};

// Since the start, but for the first two.
struct ProxyCounts {
  uint32_t connections = 0;  // that there are
  uint32_t listeners = 0;    // that there are
  uint64_t connected = 0;
  uint64_t accepted = 0;
  uint64_t refused = 0;    // addresses that the settings do not have
  uint64_t broken = 0;     // sockets whose kernel broke the protocol
  uint64_t in_bytes = 0;   // of connections that are gone: from the network
  uint64_t out_bytes = 0;  // the same, to it
};

class ProxyService;

// Any thread, but not a session's: it starts and ends a thread, and counts() waits for it.
class Proxy {
 public:
  // The table outlives it. RESOURCE_EXHAUSTED without a thread or descriptor for it;
  // FAILED_PRECONDITION for a table that has, or had, a proxy.
  static absl::StatusOr<std::unique_ptr<Proxy>> Create(const SocketTable& table,
                                                       ProxySettings settings);

  // All connections end with a reset, and every kernel that waits is told ENETDOWN.
  ~Proxy();

  ProxyCounts counts();

 private:
  Proxy(std::unique_ptr<dataplane::EventLoop> loop, std::unique_ptr<ProxyService> service);

  std::unique_ptr<dataplane::EventLoop> loop_;
  std::unique_ptr<ProxyService> service_;  // on the loop
};

}  // namespace tapedeck::gpu_worker::sockets
