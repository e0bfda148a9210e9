// A transfer under way in an engine: the part that is left after completions that fell short.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "storage_node/engine/engine.h"

namespace tapedeck::storage_node::engine {

// The engine asks for all of rest() at offset(), hands the completion to Take, and so on until that
// is true. One thread at a time.
class UnderWay {
 public:
  explicit UnderWay(Transfer transfer) : transfer_(std::move(transfer)) {}

  bool write() const { return transfer_.write; }
  int fd() const { return transfer_.fd; }
  std::span<std::byte> rest() const { return transfer_.bytes.subspan(moved_); }
  uint64_t offset() const { return transfer_.offset + moved_; }

  // `result`: bytes moved or -errno. A success may be short (write(2), io_uring_enter(2)). True: it
  // has ended, and `done` was called.
  bool Take(int64_t result) {
    if (result == -EINTR || result == -EAGAIN) return false;
    if (result < 0) return End(static_cast<int>(-result));
    moved_ += static_cast<size_t>(result);
    if (rest().empty() || MetEnd()) return End(0);
    if (result == 0) return End(write() ? ENOSPC : 0);
    return false;
  }

 private:
  // A read that stopped between two multiples of kAlignment has met the end of the file, and could
  // not go on from there.
  bool MetEnd() const { return !write() && moved_ % kAlignment != 0; }
  bool End(int error) {
    transfer_.done(error, moved_);
    return true;
  }

  Transfer transfer_;
  size_t moved_ = 0;
};

}  // namespace tapedeck::storage_node::engine
