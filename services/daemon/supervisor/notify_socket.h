// Messages to systemd as sd_notify(3) defines them: lines of NAME=VALUE, one datagram each, to a
// Unix socket. That is all of the protocol, and stable; libsystemd for it would add four libraries
// to both programs.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::supervisor {

// Any thread.
class NotifySocket {
 public:
  // `address` is a path or @NAME, as ReadSettings has checked it.
  static absl::StatusOr<std::unique_ptr<NotifySocket>> Create(std::string address);
  ~NotifySocket();

  // Waits a second at most, where the supervisor does not read. Errors start with the call.
  absl::Status Send(absl::string_view message);

 private:
  NotifySocket(int fd, std::string address) : fd_(fd), address_(std::move(address)) {}

  const int fd_;
  const std::string address_;
};

}  // namespace tapedeck::services::supervisor
