// The credits of one connection's control messages. An end sends only into receives that the peer
// has posted, so no message ever waits at the peer's port. Each message says how many receives the
// writer has posted again. On the rail's poller.
#pragma once

#include <cstdint>

#include "dataplane/transport/verbs/port/limits.h"

namespace tapedeck::dataplane::verbs {

class Credits {
 public:
  // Whether one more may be sent: a frame, or what may use the reserve (word of credits, farewell).
  bool MaySendFrame() const { return under_way() + kReservedReceives < kControlReceives; }
  bool MaySendWord() const { return under_way() < kControlReceives; }
  void Sent() { ++sent_; }

  // The peer says that it has posted `reposted` receives again. False if that cannot be.
  bool Heard(uint32_t reposted) {
    // Modulo 2^32: an old or an impossible count lies far ahead of what is under way.
    if (reposted - peer_reposted_ > under_way()) return false;
    peer_reposted_ = reposted;
    return true;
  }

  // This end has posted one receive again, after the message in it was consumed.
  void Reposted() { ++reposted_; }

  // What every message carries.
  uint32_t Tell() {
    told_ = reposted_;
    return told_;
  }

  // The peer has used up half of what it knows of: it must hear of more even where no frame goes.
  bool MustTell() const { return reposted_ - told_ >= kControlReceives / 2; }

 private:
  uint32_t under_way() const { return sent_ - peer_reposted_; }

  uint32_t sent_ = 0;
  uint32_t peer_reposted_ = 0;
  uint32_t reposted_ = 0;
  uint32_t told_ = 0;
};

}  // namespace tapedeck::dataplane::verbs
