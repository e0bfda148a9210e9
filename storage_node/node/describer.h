// What the storage node tells about itself.
#pragma once

#include <string>

#include "services/daemon/placement.h"
#include "services/model/seams/node.h"
#include "services/session/serving/registry.h"

namespace tapedeck::storage_node::node {

// Any thread. What it refers to outlives it.
class Describer final : public services::NodeDescriber {
 public:
  Describer(std::string name, const services::Placement& placement,
            const services::session::Registry& registry)
      : name_(std::move(name)), placement_(placement), registry_(registry) {}

  services::NodeInfo Describe() const override;
  services::NodeStats Stats() const override { return registry_.stats(); }

 private:
  const std::string name_;
  const services::Placement& placement_;
  const services::session::Registry& registry_;
};

}  // namespace tapedeck::storage_node::node
