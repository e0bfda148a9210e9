// A stream of the host, for decks whose device it is: what is launched runs in its order on a
// thread of its own, as kernels do on a GPU's stream.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "tapedeck/slot.h"
#include "tapedeck/status.h"

namespace tapedeck {

// Any thread.
class HostStream {
 public:
  static Result<HostStream> Create();
  // What has not begun is not done.
  ~HostStream();
  HostStream(HostStream&&) noexcept;
  HostStream& operator=(HostStream&&) noexcept;

  // For Recorder and Player.
  Stream handle() const;
  // LIMIT_REACHED: 65536 steps wait already.
  Status Launch(std::function<void()> work);
  // DEADLINE_EXCEEDED.
  Status Synchronize(std::chrono::nanoseconds timeout);

 private:
  struct Parts;
  explicit HostStream(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace tapedeck
