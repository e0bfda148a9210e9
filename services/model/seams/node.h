// What a node tells about itself, in plain values; meanings as in tapedeck/v1/node.proto.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/topology/distance.h"
#include "dataplane/topology/topology.h"
#include "dataplane/transfer/counters.h"
#include "dataplane/transport/transport.h"
#include "services/base/node_role.h"
#include "services/base/version.h"
#include "services/model/rail_progress.h"
#include "services/model/words/names.h"
#include "services/model/words/stage_time.h"

namespace tapedeck::services {

template <>
struct model::EnumNames<NodeRole> {
  using enum NodeRole;
  static constexpr absl::string_view kWhat = "role of a node";
  static constexpr std::pair<NodeRole, absl::string_view> kTable[] = {{kStorage, "STORAGE"},
                                                                      {kWorker, "WORKER"}};
};

// A rail and where its port sits.
struct NodeRail {
  dataplane::RailDescription rail;
  dataplane::topology::Place place;
};

struct MemoryKindInfo {
  std::string device;
  std::string description;
  uint64_t bytes = 0;
  std::string status;
  dataplane::topology::Place place;
  std::vector<dataplane::topology::RailDistance> distances;  // to every rail of the node
  std::vector<std::string> rungs;
};

struct StoreKindInfo {
  std::string name;
  std::string description;
};

struct NodeInfo {
  std::string name;
  NodeRole role = NodeRole::kStorage;
  std::string version;  // of the program
  uint32_t protocol_version = kProtocolVersion;
  int64_t pid = 0;
  std::vector<NodeRail> rails;
  std::vector<MemoryKindInfo> memory;
  uint32_t sessions = 0;
  std::vector<std::string> stages;  // of a worker: "source synth"
  std::vector<StoreKindInfo> stores;
};

struct NodeStats {
  uint32_t sessions = 0;
  uint64_t sessions_opened = 0;
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  dataplane::Counters counters;
  model::StageTimes stage_times;  // of this end, without rails
  uint64_t ring_bytes = 0;
  std::vector<model::RailProgress> rails;
};

// Any thread.
class NodeDescriber {
 public:
  virtual ~NodeDescriber() = default;
  virtual NodeInfo Describe() const = 0;
  virtual NodeStats Stats() const = 0;
};

}  // namespace tapedeck::services
