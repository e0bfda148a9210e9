// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace tapedeck::dataplane {

// Any thread, one at a time.
class Fd {
 public:
  Fd() = default;
  // Negative: none.
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.Release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      if (fd_ >= 0) close(fd_);
      fd_ = other.Release();
    }
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }

  int get() const { return fd_; }
  // Somebody else closes it.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace tapedeck::dataplane
