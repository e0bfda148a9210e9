// Serves a table of sockets: a thread of the CPU with TCP sockets on one side and the rings that it
// shares with kernels on the other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataplane/clock.h"
#include "dataplane/executor/event_loop.h"
#include "gpu_worker/sockets/socket_table.h"

namespace tapedeck::gpu_worker::sockets {

// Addresses that kernels may listen on or connect to: what a program was given, and nothing else.
// One address with some of its ports. A value.
struct Endpoints {
  uint32_t address = 0;     // IPv4, 127.0.0.1 is 0x7f000001
  uint16_t first_port = 0;  // 0: any, and the system may choose one to listen on
  uint16_t last_port = 0;

  // "10.0.0.1:9000", "10.0.0.1:9000-9099" or "10.0.0.1:*". To listen on, 0.0.0.0 is every address
  // of the machine, and allowed only where it is named. INVALID_ARGUMENT.
  static absl::StatusOr<Endpoints> Parse(absl::string_view text);

  bool Has(uint32_t of_address, uint32_t port) const;
};

// Whether one of the list has it.
bool AnyHas(const std::vector<Endpoints>& list, uint32_t address, uint32_t port);

// "127.0.0.1:9000".
std::string EndpointText(uint32_t address, uint32_t port);

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
