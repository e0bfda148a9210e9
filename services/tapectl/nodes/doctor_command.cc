#include <iterator>
#include <utility>

#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/node_client.h"
#include "services/tapectl/nodes/doctor_answer.h"
#include "services/tapectl/program/commands.h"

namespace tapedeck::services::tapectl {
namespace {

// The quickest of them counts: enough that one of them meets no busy thread.
constexpr int kClockReadings = 8;
// What a node takes at most, and the way.
constexpr absl::Duration kLongest = absl::Seconds(75);

struct DoctorOptions {
  bool measure = false;
};

absl::Duration PatienceOf(const Program& program) {
  return program.timeout.empty() ? kLongest : program.call_timeout();
}

std::vector<doctor::PeerRail> PeersOf(const NodeInfo& node) {
  std::vector<doctor::PeerRail> peers;
  for (const auto& [rail, place] : node.rails) {
    peers.push_back({rail.name, rail.transport, rail.address, rail.port});
  }
  return peers;
}

// One node, and what it says of the peers' rails. An error is a finding.
Examined Examine(const Program& program, const std::string& role, const std::string& address,
                 const doctor::Request& request) {
  Examined out{.address = address, .report = {.role = role}};
  const client::Channel channel = client::MakeChannel(address, {}, program.credentials);
  const auto failed = [&](const absl::Status& error) {
    out.findings.push_back(doctor::FoundError(error, "NODE_UNREACHABLE", address));
    out.findings.back().node = role;
    return out;
  };
  const auto info = client::GetNode(channel, PatienceOf(program));
  if (!info.ok()) return failed(info.status());
  out.rails = PeersOf(*info);
  out.report.protocol_version = info->protocol_version;
  auto diagnosis = client::Diagnose(channel, request, PatienceOf(program));
  if (!diagnosis.ok()) return failed(diagnosis.status());
  out.report.rails = std::move(diagnosis->rails);
  out.findings = std::move(diagnosis->findings);
  for (doctor::Finding& finding : out.findings) finding.node = role;
  const auto trips = client::ReadClock(channel, kClockReadings, PatienceOf(program));
  if (!trips.ok()) return failed(trips.status());
  out.report.clock = doctor::pair::OffsetOf(*trips);
  return out;
}

absl::Status Doctor(Program& program, const DoctorOptions& options) {
  std::vector<Examined> nodes;
  nodes.push_back(Examine(program, "storage", program.storage, {.measure = options.measure}));
  // The worker connects to the storage node's rails: so it is asked whether it can.
  nodes.push_back(Examine(program, "worker", program.worker,
                          {.measure = options.measure, .peers = nodes.front().rails}));
  DoctorAnswer answer{.nodes = std::move(nodes)};
  const doctor::pair::NodeReport& storage = answer.nodes.front().report;
  const doctor::pair::NodeReport& worker = answer.nodes.back().report;
  for (Examined& node : answer.nodes) {
    std::ranges::move(node.findings, std::back_inserter(answer.findings));
  }
  // Of a node that did not answer nothing is known.
  if (storage.clock.has_value() && worker.clock.has_value()) {
    std::ranges::move(doctor::pair::CheckPair(storage, worker),
                      std::back_inserter(answer.findings));
  }
  answer.clock = doctor::pair::OffsetBetween(storage, worker);
  doctor::SortByWorst(answer.findings);
  program.Print(AnswerOf(answer), TablesOf(answer));
  program.exit_status = ExitStatusOf(answer);
  return absl::OkStatus();
}

}  // namespace

void AddDoctorCommand(Command tapectl, Program& program) {
  const auto options = std::make_shared<DoctorOptions>();
  const Command doctor =
      tapectl.AddCommand("doctor",
                         "Check the storage node, the worker and the network between them; exit "
                         "status 0: nothing or notes, 10: warnings, 11: errors");
  doctor.AddFlag(
      "--measure", options->measure,
      "Also measure each disk by up to 2 s of writing and reading, which slows other work on it");
  SetRun<DoctorOptions>(doctor, program, "doctor", options, Doctor);
}

}  // namespace tapedeck::services::tapectl
