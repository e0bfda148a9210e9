#include "services/rpc/convert/node.h"

#include "dataplane/status_macros.h"
#include "services/rpc/convert/session.h"
#include "services/rpc/convert/values/counters.h"
#include "services/rpc/convert/values/fields.h"

namespace tapedeck::services::convert {
namespace {

using dataplane::topology::Place;
using dataplane::topology::RailDistance;

// Of a v1::Rail or v1::MemoryKindInfo.
template <typename Wire>
void SetPlace(const Place& place, Wire& out) {
  out.set_pci_address(place.pci_address);
  if (place.numa_node.has_value()) out.set_numa_node(*place.numa_node);
}

template <typename Wire>
Place PlaceOf(const Wire& wire) {
  Place place{.pci_address = wire.pci_address()};
  if (wire.has_numa_node()) place.numa_node = wire.numa_node();
  return place;
}

v1::Rail ToProto(const NodeRail& node_rail) {
  const dataplane::RailDescription& rail = node_rail.rail;
  v1::Rail out;
  out.set_name(rail.name);
  out.set_transport(rail.transport);
  out.set_address(rail.address);
  out.set_port(rail.port);
  out.set_device(rail.device);
  out.set_wire_limit_bytes_per_s(rail.wire_limit_bytes_per_s);
  out.set_tls(rail.tls);
  SetPlace(node_rail.place, out);
  return out;
}

NodeRail FromProto(const v1::Rail& rail) {
  return {.rail = {.name = rail.name(),
                   .transport = rail.transport(),
                   .address = rail.address(),
                   .port = static_cast<uint16_t>(rail.port()),
                   .device = rail.device(),
                   .tls = rail.tls(),
                   .wire_limit_bytes_per_s = rail.wire_limit_bytes_per_s()},
          .place = PlaceOf(rail)};
}

v1::MemoryKindInfo ToProto(const MemoryKindInfo& memory) {
  v1::MemoryKindInfo out;
  out.set_device(memory.device);
  out.set_description(memory.description);
  out.set_bytes(memory.bytes);
  out.set_status(memory.status);
  SetPlace(memory.place, out);
  for (const RailDistance& to : memory.distances) {
    v1::RailDistance& wire = *out.add_distances();
    wire.set_rail(to.rail);
    wire.set_distance(static_cast<v1::Distance>(to.distance));
    wire.set_weight(dataplane::topology::Weight(to.distance));
  }
  for (const std::string& rung : memory.rungs) out.add_rungs(rung);
  return out;
}

absl::StatusOr<MemoryKindInfo> FromProto(const v1::MemoryKindInfo& memory) {
  MemoryKindInfo out{.device = memory.device(),
                     .description = memory.description(),
                     .bytes = memory.bytes(),
                     .status = memory.status(),
                     .place = PlaceOf(memory),
                     .rungs = {memory.rungs().begin(), memory.rungs().end()}};
  for (const v1::RailDistance& wire : memory.distances()) {
    RailDistance& to = out.distances.emplace_back();
    to.rail = wire.rail();
    TD_ASSIGN_OR_RETURN(to.distance, FromEnum<dataplane::topology::Distance>(
                                         wire.distance(), 4, "node.memory.distances"));
  }
  return out;
}

}  // namespace

v1::Node ToProto(const NodeInfo& node) {
  v1::Node out;
  out.set_name(node.name);
  out.set_role(static_cast<v1::NodeRole>(node.role));
  out.set_version(node.version);
  out.set_protocol_version(node.protocol_version);
  out.set_pid(node.pid);
  for (const auto& rail : node.rails) *out.add_rails() = ToProto(rail);
  for (const MemoryKindInfo& memory : node.memory) *out.add_memory() = ToProto(memory);
  out.set_sessions(node.sessions);
  for (const std::string& stage : node.stages) out.add_stages(stage);
  for (const StoreKindInfo& store : node.stores) {
    v1::StoreKindInfo& wire = *out.add_stores();
    wire.set_name(store.name);
    wire.set_description(store.description);
  }
  return out;
}

absl::StatusOr<NodeInfo> FromProto(const v1::Node& node) {
  NodeInfo out{.name = node.name(),
               .version = node.version(),
               .protocol_version = node.protocol_version(),
               .pid = node.pid(),
               .sessions = node.sessions(),
               .stages = {node.stages().begin(), node.stages().end()}};
  TD_ASSIGN_OR_RETURN(out.role, FromEnum<NodeRole>(node.role(), 2, "node.role"));
  for (const v1::Rail& rail : node.rails()) out.rails.push_back(FromProto(rail));
  for (const v1::MemoryKindInfo& memory : node.memory()) {
    TD_ASSIGN_OR_RETURN(out.memory.emplace_back(), FromProto(memory));
  }
  for (const v1::StoreKindInfo& store : node.stores()) {
    out.stores.push_back({.name = store.name(), .description = store.description()});
  }
  return out;
}

v1::WatchStatsResponse ToProto(const NodeStats& stats) {
  v1::WatchStatsResponse out;
  out.set_sessions(stats.sessions);
  out.set_sessions_opened(stats.sessions_opened);
  out.set_blocks(stats.blocks);
  out.set_bytes(stats.bytes);
  *out.mutable_counters() = convert::ToProto(stats.counters);
  out.set_ring_bytes(stats.ring_bytes);
  for (const auto& rail : stats.rails) *out.add_rails() = convert::ToProto(rail);
  return out;
}

NodeStats FromProto(const v1::WatchStatsResponse& response) {
  NodeStats out{.sessions = response.sessions(),
                .sessions_opened = response.sessions_opened(),
                .blocks = response.blocks(),
                .bytes = response.bytes(),
                .counters = convert::FromProto(response.counters()),
                .ring_bytes = response.ring_bytes()};
  for (const v1::RailProgress& rail : response.rails()) {
    out.rails.push_back(convert::FromProto(rail));
  }
  return out;
}

}  // namespace tapedeck::services::convert
