// The transport between two processes of one machine: payloads are copied from one's memory to the
// other's, GPU to GPU where both work on one, and a TCP connection carries the frames.
//
// Only between memory that its owner shares (memory/share.h) and by copies that the program brings.
// The transfer ops read and write copy; what is sent goes over the TCP connection.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/transport/list.h"

namespace tapedeck::dataplane::ipc {

// UNIMPLEMENTED where the program brings no copies; the errors of tcp::Create.
absl::StatusOr<std::unique_ptr<Transport>> Create(const RailSpec& spec, const Pollers& pollers);

}  // namespace tapedeck::dataplane::ipc
