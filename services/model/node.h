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
      Report(&dataplane::RailDescription::name, "name"),
      Report(&dataplane::RailDescription::transport, "transport"),
      Report(&dataplane::RailDescription::address, "address"),
      Report(&dataplane::RailDescription::port, "port"),
      Report(&dataplane::RailDescription::device, "device"),
      Report(&dataplane::RailDescription::wire_limit_bytes_per_s, "wire_limit_bytes_per_s"),
      Report(&dataplane::RailDescription::tls, "tls"));
};

template <>
struct Fields<dataplane::topology::Place> {
  static constexpr auto kList =
      std::make_tuple(Report(&dataplane::topology::Place::pci_address, "pci_address"),
                      Report(&dataplane::topology::Place::numa_node, "numa_node"));
};

template <>
struct Fields<NodeRail> {
  static constexpr auto kList = std::make_tuple(Report(&NodeRail::rail, "rail", {.flat = true}),
                                                Report(&NodeRail::place, "place", {.flat = true}));
};

template <>
struct Fields<dataplane::topology::RailDistance> {
  static constexpr auto kList = std::make_tuple(
      Report(&dataplane::topology::RailDistance::rail, "rail"),
      Report(&dataplane::topology::RailDistance::distance, "distance", {.required = true}),
      Derive(+[](const dataplane::topology::RailDistance& to) { return Weight(to.distance); },
             {.name = "weight", .role = Role::kReported}));
};

template <>
struct Fields<MemoryKindInfo> {
  static constexpr auto kList = std::make_tuple(
      Report(&MemoryKindInfo::device, "device"),
      Report(&MemoryKindInfo::description, "description"), Report(&MemoryKindInfo::bytes, "bytes"),
      Report(&MemoryKindInfo::status, "status"),
      Report(&MemoryKindInfo::place, "place", {.flat = true}),
      Report(&MemoryKindInfo::distances, "distances"), Report(&MemoryKindInfo::rungs, "rungs"));
};

template <>
struct Fields<StoreKindInfo> {
  static constexpr auto kList = std::make_tuple(Report(&StoreKindInfo::name, "name"),
                                                Report(&StoreKindInfo::description, "description"));
};

template <>
struct Fields<NodeInfo> {
  static constexpr auto kList = std::make_tuple(
      Report(&NodeInfo::name, "name"), Report(&NodeInfo::role, "role", {.required = true}),
      Report(&NodeInfo::version, "version"),
      Report(&NodeInfo::protocol_version, "protocol_version"), Report(&NodeInfo::pid, "pid"),
      Report(&NodeInfo::sessions, "sessions"), Report(&NodeInfo::stages, "stages"),
      Report(&NodeInfo::rails, "rails"), Report(&NodeInfo::memory, "memory"),
      Report(&NodeInfo::stores, "stores"));
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
      Report(&NodeStats::sessions, "sessions"),
      Report(&NodeStats::sessions_opened, "sessions_opened"), Report(&NodeStats::blocks, "blocks"),
      Report(&NodeStats::bytes, "bytes"), Report(&NodeStats::counters, "counters", {.flat = true}),
      Report(&NodeStats::ring_bytes, "ring_bytes"), Report(&NodeStats::rails, "rails"));
};

}  // namespace model

}  // namespace tapedeck::services
