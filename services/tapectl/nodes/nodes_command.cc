#include <utility>

#include "absl/strings/str_cat.h"
#include "services/model/words/storage_list.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/node_client.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/program/lists.h"

namespace tapedeck::services::tapectl {
namespace {

std::string TextOf(const std::string& text) { return text.empty() ? "-" : text; }

std::string NodeText(const dataplane::topology::Place& place) {
  return place.numa_node.has_value() ? absl::StrCat(*place.numa_node) : "-";
}

Table PortsOf(const std::string& address, const NodeInfo& node) {
  Table table{
      .heads = {absl::StrCat("RAILS OF ", address), "ADDRESS", "DEVICE", "PCI", "NUMA", "TLS"},
      .optional = {"PCI", "NUMA", "DEVICE", "TLS"}};
  for (const auto& [rail, place] : node.rails) {
    table.rows.push_back({rail.name, absl::StrCat(rail.transport, ":", rail.address),
                          TextOf(rail.device), TextOf(place.pci_address), NodeText(place),
                          rail.tls ? "on" : "off"});
  }
  return table;
}

// From each kind of memory to each rail.
Table DistancesOf(const std::string& address, const NodeInfo& node) {
  Table table{.heads = {absl::StrCat("MEMORY OF ", address), "PCI", "NUMA"},
              .optional = {"PCI", "NUMA"}};
  for (const auto& [rail, place] : node.rails)
    table.heads.push_back(absl::StrCat("TO ", rail.name));
  for (const MemoryKindInfo& memory : node.memory) {
    Row row = {memory.device, TextOf(memory.place.pci_address), NodeText(memory.place)};
    for (const auto& to : memory.distances) row.emplace_back(model::NameOf(to.distance));
    row.resize(table.heads.size(), "-");
    table.rows.push_back(std::move(row));
  }
  return table;
}

// How each rail reaches the memory of a GPU, and why so.
Table RungsOf(const std::string& address, const NodeInfo& node) {
  Table table{.heads = {absl::StrCat("RUNGS OF ", address), "RAIL, DIRECTION, RUNG AND WHY"}};
  for (const MemoryKindInfo& memory : node.memory) {
    for (const std::string& rung : memory.rungs) table.rows.push_back({memory.device, rung});
  }
  return table;
}

// What a worker's jobs can name.
Table StagesOf(const std::string& address, const NodeInfo& node) {
  Table table{.heads = {absl::StrCat("STAGES OF ", address)}};
  for (const std::string& stage : node.stages) table.rows.push_back({stage});
  return table;
}

Table StoresOf(const std::string& address, const NodeInfo& node) {
  Table table{.heads = {absl::StrCat("STORES OF ", address), "WHAT"}};
  for (const StoreKindInfo& store : node.stores) {
    table.rows.push_back({store.name, store.description});
  }
  return table;
}

// One node's part of the tables: a row of the first one and tables of its own.
void AddTables(const AskedNode& node, std::vector<Table>& tables) {
  std::vector<Row>& rows = tables.front().rows;
  if (!node.info.ok()) {
    rows.push_back({node.address, "-", "unreachable", "-", "-"});
    tables.push_back({.heads = {absl::StrCat("NO ANSWER FROM ", node.address)},
                      .rows = {{std::string(node.info.status().message())}}});
    return;
  }
  const NodeInfo& info = *node.info;
  rows.push_back({node.address, model::LabelOf(info.role), info.name, info.version,
                  absl::StrCat(info.sessions)});
  tables.push_back(PortsOf(node.address, info));
  tables.push_back(DistancesOf(node.address, info));
  for (Table more : {RungsOf(node.address, info), StagesOf(node.address, info)}) {
    if (!more.rows.empty()) tables.push_back(std::move(more));
  }
  if (Table stores = StoresOf(node.address, info); !stores.rows.empty()) {
    tables.push_back(std::move(stores));
  }
}

}  // namespace

absl::Status ListNodes(Program& program, const ListOptions&) {
  // The first error is part of the JSON too.
  std::vector<AskedNode> nodes;
  std::vector<Table> tables = {{.heads = {"ADDRESS", "ROLE", "NAME", "VERSION", "SESSIONS"},
                                .optional = {"SESSIONS", "VERSION", "ROLE"}}};
  absl::Status first;
  std::vector<std::string> addresses = StoragesOf(program.storage);
  addresses.push_back(program.worker);
  for (const std::string& address : addresses) {
    nodes.push_back(
        {address, client::GetNode(client::MakeChannel(address, program.trace, program.credentials),
                                  program.call_timeout())});
    AddTables(nodes.back(), tables);
    first.Update(nodes.back().info.status());
  }
  program.failure_printed = true;
  program.Print(AnswerOf(nodes), tables);
  return first;
}

void AddNodesCommand(Command tapectl, Program& program) {
  AddList(tapectl.AddCommand("nodes", "Show the storage nodes and the worker"), program, "nodes",
          ListNodes);
}

}  // namespace tapedeck::services::tapectl
