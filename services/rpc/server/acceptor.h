// Takes connections for a server that is handed them. gRPC's own way takes none any more, for good,
// once the process has had no descriptor left, and anybody who reaches the port can bring that
// about. Here the last descriptors are kept for disks and rails, and who comes then is turned away.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/fd.h"
#include "services/base/addresses/listen_address.h"

namespace tapedeck::services::server {

struct AcceptorLimits {
  // A connection whose descriptor has a higher number is turned away; as the lowest free one is
  // taken, so many are in use then. Too few, and a lab's clients do not all find room.
  int most_descriptors = 8192;
  // Of the descriptors that the process may have, connections leave this part free.
  int kept_free_percent = 25;
};

// Owned by the server. Any thread; one of its own accepts.
class Acceptor {
 public:
  // Called on that thread with a socket that does not block, and where it comes from
  // ("10.0.0.7:4711"); it must not wait. False: it is turned away, which was logged.
  using Take = std::function<bool(dataplane::Fd socket, const std::string& peer)>;

  // UNAVAILABLE names the address and why it cannot be used.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Create(ReservedPort port, Take take,
                                                          const AcceptorLimits& limits = {});
  ~Acceptor() { Stop(); }

  int port() const { return port_; }

  // Nobody is let in any more, and nobody is listened to.
  void Stop();

  // Connections that were turned away since the start.
  uint64_t turned_away() const { return turned_away_; }

 private:
  Acceptor(std::vector<dataplane::Fd> sockets, dataplane::Fd stop, Take take,
           const AcceptorLimits& limits);

  void Run();
  // Until nobody waits. False: there is no descriptor for whoever does.
  bool AcceptAll(const dataplane::Fd& socket);
  // Whether it was time to stop.
  bool Wait(int timeout_ms, bool for_connections) const;
  int MostDescriptors() const;

  const std::vector<dataplane::Fd> listening_;
  const dataplane::Fd stop_;
  const Take take_;
  const AcceptorLimits limits_;
  const int port_;
  std::atomic<uint64_t> turned_away_ = 0;
  std::thread thread_;
};

}  // namespace tapedeck::services::server
