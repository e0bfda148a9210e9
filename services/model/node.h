// What a node tells about itself, in plain values; meanings as in tapedeck/v1/node.proto.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dataplane/topology/distance.h"
#include "dataplane/topology/topology.h"
#include "dataplane/transfer/counters.h"
#include "dataplane/transport/transport.h"
#include "services/base/node_role.h"
#include "services/base/version.h"
#include "services/model/rail_progress.h"
#include "services/model/words/field.h"
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

template <>
struct model::EnumNames<dataplane::topology::Distance> {
  using enum dataplane::topology::Distance;
  static constexpr absl::string_view kWhat = "distance";
  static constexpr std::pair<dataplane::topology::Distance, absl::string_view> kTable[] = {
      {kSwitch, "SWITCH"}, {kNode, "NODE"}, {kSystem, "SYSTEM"}, {kUnknown, "UNKNOWN"}};
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

namespace model {

template <>
struct Fields<dataplane::RailDescription> {
  static constexpr auto kList = std::make_tuple(
      Describe(&dataplane::RailDescription::name, {.name = "name", .role = Role::kReported}),
      Describe(&dataplane::RailDescription::transport,
               {.name = "transport", .role = Role::kReported}),
      Describe(&dataplane::RailDescription::address, {.name = "address", .role = Role::kReported}),
      Describe(&dataplane::RailDescription::port, {.name = "port", .role = Role::kReported}),
      Describe(&dataplane::RailDescription::device, {.name = "device", .role = Role::kReported}),
      Describe(&dataplane::RailDescription::wire_limit_bytes_per_s,
               {.name = "wire_limit_bytes_per_s", .role = Role::kReported}),
      Describe(&dataplane::RailDescription::tls, {.name = "tls", .role = Role::kReported}));
};

template <>
struct Fields<dataplane::topology::Place> {
  static constexpr auto kList =
      std::make_tuple(Describe(&dataplane::topology::Place::pci_address,
                               {.name = "pci_address", .role = Role::kReported}),
                      Describe(&dataplane::topology::Place::numa_node,
                               {.name = "numa_node", .role = Role::kReported}));
};

template <>
struct Fields<NodeRail> {
  static constexpr auto kList = std::make_tuple(
      Describe(&NodeRail::rail, {.name = "rail", .role = Role::kReported, .flat = true}),
      Describe(&NodeRail::place, {.name = "place", .role = Role::kReported, .flat = true}));
};

template <>
struct Fields<dataplane::topology::RailDistance> {
  static constexpr auto kList = std::make_tuple(
      Describe(&dataplane::topology::RailDistance::rail, {.name = "rail", .role = Role::kReported}),
      Describe(&dataplane::topology::RailDistance::distance,
               {.name = "distance", .role = Role::kReported, .required = true}),
      Derive(+[](const dataplane::topology::RailDistance& to) { return Weight(to.distance); },
             {.name = "weight", .role = Role::kReported}));
};

template <>
struct Fields<MemoryKindInfo> {
  static constexpr auto kList = std::make_tuple(
      Describe(&MemoryKindInfo::device, {.name = "device", .role = Role::kReported}),
      Describe(&MemoryKindInfo::description, {.name = "description", .role = Role::kReported}),
      Describe(&MemoryKindInfo::bytes, {.name = "bytes", .role = Role::kReported}),
      Describe(&MemoryKindInfo::status, {.name = "status", .role = Role::kReported}),
      Describe(&MemoryKindInfo::place, {.name = "place", .role = Role::kReported, .flat = true}),
      Describe(&MemoryKindInfo::distances, {.name = "distances", .role = Role::kReported}),
      Describe(&MemoryKindInfo::rungs, {.name = "rungs", .role = Role::kReported}));
};

template <>
struct Fields<StoreKindInfo> {
  static constexpr auto kList = std::make_tuple(
      Describe(&StoreKindInfo::name, {.name = "name", .role = Role::kReported}),
      Describe(&StoreKindInfo::description, {.name = "description", .role = Role::kReported}));
};

template <>
struct Fields<NodeInfo> {
  static constexpr auto kList = std::make_tuple(
      Describe(&NodeInfo::name, {.name = "name", .role = Role::kReported}),
      Describe(&NodeInfo::role, {.name = "role", .role = Role::kReported, .required = true}),
      Describe(&NodeInfo::version, {.name = "version", .role = Role::kReported}),
      Describe(&NodeInfo::protocol_version, {.name = "protocol_version", .role = Role::kReported}),
      Describe(&NodeInfo::pid, {.name = "pid", .role = Role::kReported}),
      Describe(&NodeInfo::sessions, {.name = "sessions", .role = Role::kReported}),
      Describe(&NodeInfo::stages, {.name = "stages", .role = Role::kReported}),
      Describe(&NodeInfo::rails, {.name = "rails", .role = Role::kReported}),
      Describe(&NodeInfo::memory, {.name = "memory", .role = Role::kReported}),
      Describe(&NodeInfo::stores, {.name = "stores", .role = Role::kReported}));
};

}  // namespace model

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

namespace model {

template <>
struct Fields<NodeStats> {
  static constexpr auto kList = std::make_tuple(
      Describe(&NodeStats::sessions, {.name = "sessions", .role = Role::kReported}),
      Describe(&NodeStats::sessions_opened, {.name = "sessions_opened", .role = Role::kReported}),
      Describe(&NodeStats::blocks, {.name = "blocks", .role = Role::kReported}),
      Describe(&NodeStats::bytes, {.name = "bytes", .role = Role::kReported}),
      Describe(&NodeStats::counters, {.name = "counters", .role = Role::kReported}),
      Describe(&NodeStats::ring_bytes, {.name = "ring_bytes", .role = Role::kReported}),
      Describe(&NodeStats::rails, {.name = "rails", .role = Role::kReported}));
};

}  // namespace model

}  // namespace tapedeck::services
