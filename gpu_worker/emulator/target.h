// Where the emulator sends to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/fd.h"
#include "gpu_worker/packets/datagrams.h"

namespace tapedeck::gpu_worker::emulator {

// One thread.
class Target {
 public:
  enum class Transport { kUdp, kTcp };

  // UNAVAILABLE says what is in the way. Waits for the connection at most as long as the kernel
  // does.
  static absl::StatusOr<Target> Connect(Transport transport, const std::string& address);

  // Sends the packets, in order. By UDP they may be lost, or nobody be there; by TCP it waits while
  // the receiver is slower, ten seconds at most without any progress: DEADLINE_EXCEEDED.
  absl::Status Send(std::span<const std::span<const std::byte>> packets);

  // Datagrams for which nobody was there.
  uint64_t refused() const { return datagrams_.has_value() ? datagrams_->refused() : 0; }

 private:
  explicit Target(packets::Datagrams datagrams) : datagrams_(std::move(datagrams)) {}
  explicit Target(dataplane::Fd socket) : socket_(std::move(socket)) {}

  absl::Status SendBytes(std::span<const std::byte> bytes);

  std::optional<packets::Datagrams> datagrams_;
  dataplane::Fd socket_;  // of a stream
};

}  // namespace tapedeck::gpu_worker::emulator
