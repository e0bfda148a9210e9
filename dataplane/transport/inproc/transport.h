// The transport of one process: for tests, the simulator, and as the shortest reading of the seam.
#pragma once

#include <memory>

#include "dataplane/transport/inproc/fabric.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane::inproc {

// A rail whose connections live on `poller`.
std::unique_ptr<Transport> Create(const std::string& rail, Executor& poller,
                                  std::shared_ptr<Fabric> fabric);

}  // namespace tapedeck::dataplane::inproc
