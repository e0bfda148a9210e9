// What a node keeps, without the node: for what its services do to each other.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>

#include "storage_node/node/node.h"

namespace tapedeck::storage_node {

inline std::unique_ptr<node::NodeContents> MakeNodeContents(const std::string& state_dir) {
  auto catalog = catalog::Catalog::Open(state_dir + "/catalog.sqlite");
  EXPECT_TRUE(catalog.ok()) << catalog.status();
  return std::make_unique<node::NodeContents>(
      luns::LunsSettings{.state_dir = state_dir,
                         .clock = std::make_shared<dataplane::SystemClock>(),
                         .random = std::mt19937_64(1)},
      *std::move(catalog));
}

}  // namespace tapedeck::storage_node
