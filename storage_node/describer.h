// What the storage node tells about itself.
#pragma once

#include <string>
#include <vector>

#include "dataplane/transport/transport.h"
#include "services/node.h"
#include "services/session/registry.h"

namespace tapedeck::storage_node {

// Any thread. What it refers to outlives it.
class Describer final : public services::NodeDescriber {
 public:
  Describer(std::string name, std::vector<dataplane::Transport*> rails,
            const services::session::Registry& registry)
      : name_(std::move(name)), rails_(std::move(rails)), registry_(registry) {}

  services::NodeInfo Describe() const override;
  services::NodeStats Stats() const override { return registry_.stats(); }

 private:
  const std::string name_;
  const std::vector<dataplane::Transport*> rails_;
  const services::session::Registry& registry_;
};

}  // namespace tapedeck::storage_node
