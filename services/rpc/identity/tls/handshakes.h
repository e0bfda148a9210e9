// The TLS handshakes of a node's port: so many at the same time, and a line in the log for each
// that fails, with the peer's address and why. gRPC says neither who failed nor lets anybody ask,
// so OpenSSL is asked: a connection that it makes while an Arrival is on the thread is that peer's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tapedeck::services::identity {

// A handshake that never ends takes some 100 KB until it is given up.
struct HandshakeLimits {
  size_t at_once = 1024;
  size_t of_one_host = 256;  // so that one host does not keep out the others
};

// Owned by the server; connections may outlive it. Any thread.
class Handshakes {
 public:
  struct Book;  // what the connections share

  explicit Handshakes(const HandshakeLimits& limits = {});

  // One connection ("10.0.0.7:4711") while gRPC is handed it. On one thread, one at a time.
  class Arrival {
   public:
    Arrival(const Handshakes& handshakes, std::string peer);
    Arrival(const Arrival&) = delete;
    Arrival& operator=(const Arrival&) = delete;
    ~Arrival();

    // False, which is logged: there are too many handshakes, of its host or of all.
    bool admitted() const { return admitted_; }

   private:
    const bool admitted_;
  };

  uint64_t failed() const;
  size_t under_way() const;

 private:
  const std::shared_ptr<Book> book_;
};

}  // namespace tapedeck::services::identity
