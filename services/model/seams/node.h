// What a node tells about itself.
#pragma once

#include "services/model/node.h"

namespace tapedeck::services {

// Any thread.
class NodeDescriber {
 public:
  virtual ~NodeDescriber() = default;
  virtual NodeInfo Describe() const = 0;
  virtual NodeStats Stats() const = 0;
};

}  // namespace tapedeck::services
