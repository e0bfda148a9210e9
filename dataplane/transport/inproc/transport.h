// The transport of one process: for tests, the simulator, and as the shortest reading of the seam.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/transport/inproc/fabric.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane::inproc {

// A rail whose connections live on `pollers`.
std::unique_ptr<Transport> Create(const std::string& rail, std::vector<Executor*> pollers,
                                  std::shared_ptr<Fabric> fabric);

inline std::unique_ptr<Transport> Create(const std::string& rail, Executor& poller,
                                         std::shared_ptr<Fabric> fabric) {
  return Create(rail, std::vector<Executor*>{&poller}, std::move(fabric));
}

}  // namespace tapedeck::dataplane::inproc
