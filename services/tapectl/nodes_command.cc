#include "absl/strings/str_cat.h"
#include "services/client/channel.h"
#include "services/client/node_client.h"
#include "services/tapectl/commands.h"
#include "services/tapectl/failure.h"

namespace tapedeck::services::tapectl {
namespace {

std::string RailsOf(const NodeInfo& node) {
  std::string out;
  for (const auto& rail : node.rails) {
    absl::StrAppend(&out, out.empty() ? "" : " ", rail.name, "=", rail.transport, ":",
                    rail.address);
  }
  return out.empty() ? "-" : out;
}

std::string MemoryOf(const NodeInfo& node) {
  std::string out;
  for (const MemoryKindInfo& memory : node.memory) {
    absl::StrAppend(&out, out.empty() ? "" : " ", memory.device);
  }
  return out.empty() ? "-" : out;
}

// One node's part of the answer. The error is part of the JSON too.
absl::Status Ask(const Program& program, const std::string& address, Json& nodes,
                 std::vector<Row>& rows) {
  const absl::StatusOr<NodeInfo> node =
      client::GetNode(client::MakeChannel(address), program.call_timeout());
  if (node.ok()) {
    Json object = {{"address", address}};
    object.update(ToJson(*node));
    nodes.push_back(std::move(object));
    rows.push_back({address, node->role == NodeRole::kStorage ? "storage" : "worker", node->name,
                    node->version, absl::StrCat(node->sessions), RailsOf(*node), MemoryOf(*node)});
    return absl::OkStatus();
  }
  nodes.push_back({{"address", address}, {"error", ToJson(node.status())}});
  rows.push_back({address, "-", "unreachable", "-", "-", "-", "-"});
  return node.status();
}

absl::Status Nodes(Program& program) {
  Json object = {{"nodes", Json::array()}};
  std::vector<Row> rows;
  absl::Status first;
  for (const std::string& address : {program.storage, program.worker}) {
    first.Update(Ask(program, address, object["nodes"], rows));
  }
  if (!first.ok()) object["error"] = ToJson(first);
  program.failure_printed = true;
  program.Print(object, {"ADDRESS", "ROLE", "NAME", "VERSION", "SESSIONS", "RAILS", "MEMORY"},
                rows);
  return first;
}

}  // namespace

void AddNodesCommand(CLI::App& app, Program& program) {
  app.add_subcommand("nodes", "Show the storage node and the worker")->callback([&program] {
    program.what = "nodes";
    program.run = Nodes;
  });
}

}  // namespace tapedeck::services::tapectl
