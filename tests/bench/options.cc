#include "tests/bench/options.h"

#include <utility>

#include "services/base/command_line/command_line.h"
#include "services/model/words/names.h"
#include "services/observe/flight/trace.h"
#include "services/rpc/identity/tls/settings.h"

namespace tapedeck::bench {
namespace {

namespace command_line = services::command_line;

// By its word in any case.
template <typename Enum>
void AddWord(command_line::Command command, const std::string& name, Enum& target,
             const std::string& help) {
  command.AddParsed(name, target, services::model::EnumNamed<Enum>, help);
}

void AddCommon(command_line::Command command, Options& options) {
  command.AddOption("--rails", options.rails, "Address of each rail, over TCP, or KIND:ADDRESS")
      .SeparatedBy(',');
  command.AddOption("--block-bytes", options.block_bytes, "Bytes per block").InBytes();
  command.AddFlag("--json", options.json,
                  "Accepted for scripts; the result is always one line of JSON");
  services::identity::AddTlsOptions(command, options.tls,
                                    services::identity::Environment::kIgnored);
}

void AddConnections(command_line::Command command, Options& options) {
  command.AddOption("--connections-per-rail", options.connections,
                    "Connections per rail, as for the worker");
}

void AddCrcChoice(command_line::Command command, Options& options) {
  command.AddChoice(
      "--crc", options.crc,
      {{"on", Checks::kEach}, {"off", Checks::kNone}, {"once", Checks::kOnce}},
      "Make and check CRC32C: on, off, or once (made once for each slot, and checked)");
}

void AddMembers(command_line::Command command, Options& options) {
  command.AddOption("--store", options.store, "Kind of store");
  command.AddOption("--member", options.members,
                    "Empty directory, or as the kind of store needs; repeat it for more");
}

command_line::Command AddTransfer(command_line::Command bench, Options& options) {
  const command_line::Command command =
      bench.AddCommand("transfer", "Record to and play from a LUN, in memory by default");
  AddCommon(command, options);
  AddConnections(command, options);
  AddMembers(command, options);
  command.AddOption("--seconds", options.seconds, "Time to move blocks, both ways together");
  command
      .AddChoice("--flight-recorder", options.flight, {{"on", true}, {"off", false}},
                 services::flight::kSwitchHelp)
      .FromEnvironment(services::flight::kSwitchVariable);
  command.AddChoice("--rail-tls", options.rail_tls, {{"on", true}, {"off", false}},
                    "Encrypt TCP rails, as for both nodes");
  command.AddOption("--admin", options.admin, "HOST:PORT of /metrics, as for the node");
  command.AddOption("--lun-bytes", options.lun_bytes, "Size of the LUN").InBytes();
  command.AddOption("--slots", options.slots, "Slots of the ring");
  return command;
}

command_line::Command AddSession(command_line::Command bench, Options& options) {
  const command_line::Command command =
      bench.AddCommand("session", "Measure the time from opening a session to its first block");
  AddCommon(command, options);
  command.AddOption("--sessions", options.sessions, "How many");
  return command;
}

command_line::Command AddRails(command_line::Command bench, Options& options) {
  const command_line::Command command =
      bench.AddCommand("rails", "Measure rails and session alone, without storage");
  AddCommon(command, options);
  AddWord(command, "--op", options.op, "Transfer op: READ, WRITE or SEND");
  AddWord(command, "--direction", options.direction, "RECORD (towards the node) or PLAYBACK");
  command.AddOption("--blocks", options.blocks, "How many to move");
  command.AddOption("--slots", options.slots, "Slots of the ring at each end");
  AddCrcChoice(command, options);
  AddConnections(command, options);
  command.AddOption("--hold", options.hold_s,
                    "Seconds that a recording stays open, transfer included");
  command.AddOption("--node", options.node, "HOST:PORT of a null node; default: start one");
  return command;
}

command_line::Command AddBare(command_line::Command bench, Options& options) {
  const command_line::Command command = bench.AddCommand(
      "bare", "Measure bare TCP for comparison: sendmsg to recvmsg, two threads per connection");
  AddCommon(command, options);
  AddConnections(command, options);
  AddCrcChoice(command, options);
  command.AddOption("--seconds", options.seconds, "Time to move blocks");
  command
      .AddOption("--from-bytes", options.from_bytes,
                 "Memory to send from, over all connections; default: what stays in a cache")
      .InBytes();
  command
      .AddOption("--into-bytes", options.into_bytes,
                 "Memory to receive into, over all connections; default: what stays in a cache")
      .InBytes();
  return command;
}

command_line::Command AddCrc(command_line::Command bench, Options& options) {
  const command_line::Command command =
      bench.AddCommand("crc", "Measure CRC32C of blocks in memory, on one core");
  command.AddOption("--block-bytes", options.block_bytes, "Bytes per block").InBytes();
  command.AddOption("--blocks", options.blocks, "How many");
  return command;
}

command_line::Command AddStore(command_line::Command bench, Options& options) {
  const command_line::Command command =
      bench.AddCommand("store", "Measure a store alone, without network");
  AddMembers(command, options);
  command.AddOption("--ceph-conf", options.ceph_conf,
                    "ceph.conf, as for the node, for a store of kind rados");
  command.AddOption("--block-bytes", options.block_bytes, "Bytes per block").InBytes();
  command.AddOption("--blocks", options.blocks, "How many to write, then read");
  command.AddOption("--slots", options.slots, "Slots of the ring, and of the sender");
  command.AddFlag("--prewritten", options.prewritten,
                  "Let the LUN keep one prewritten file of this length per member");
  AddWord(command, "--commit", options.commit,
          "Commit level that the sender waits for: received, written or durable");
  return command;
}

command_line::Command AddSharing(command_line::Command bench, Options& options) {
  const command_line::Command command =
      bench.AddCommand("sharing", "Measure 8 recordings, 2 playbacks and a follower of one LUN");
  AddMembers(command, options);
  command.AddOption("--seconds", options.seconds, "Seconds of each measurement");
  command
      .AddOption("--follow-memory", options.follow_bytes,
                 "Memory for followers, as for the storage node")
      .InBytes();
  return command;
}

command_line::Command AddRestart(command_line::Command bench, Options& options) {
  const command_line::Command command = bench.AddCommand(
      "restart",
      "Measure the start of a storage node with 1,000 recordings, one of 1 TiB left open");
  command
      .AddOption("--directory", options.directory,
                 "Empty directory on a file system with sparse files")
      .Required();
  return command;
}

command_line::Command AddCalls(command_line::Command bench, Options& options) {
  const command_line::Command command =
      bench.AddCommand("calls", "Measure the calls per second that a storage node answers");
  AddCommon(command, options);
  command.AddOption("--callers", options.callers, "Connections, each with one call at a time");
  command.AddOption("--seconds", options.seconds, "Time to call");
  return command;
}

command_line::Command AddNullNode(command_line::Command bench, Options& options) {
  const command_line::Command command =
      bench.AddCommand("null-node", "Serve `rails` until stopped");
  command.AddOption("--listen", options.listen, "HOST:PORT").Required();
  command.AddOption("--rail", options.rail_specs, "NAME=KIND:ADDRESS; repeat it for each")
      .Required();
  return command;
}

}  // namespace

std::optional<Options> ParseOptions(int argc, char** argv, int* exit_status) {
  Options options;
  command_line::CommandLine line(
      {.name = "tapedeck-bench",
       .purpose = "Measures Tapedeck on this machine; tests/bench compares it with its peers.",
       .usage_error = std::nullopt});
  const command_line::Command bench = line.program();
  const std::pair<command_line::Command, Command> commands[] = {
      {AddTransfer(bench, options), Command::kTransfer},
      {AddSession(bench, options), Command::kSession},
      {AddRails(bench, options), Command::kRails},
      {AddBare(bench, options), Command::kBare},
      {AddCrc(bench, options), Command::kCrc},
      {AddStore(bench, options), Command::kStore},
      {AddSharing(bench, options), Command::kSharing},
      {AddRestart(bench, options), Command::kRestart},
      {AddCalls(bench, options), Command::kCalls},
      {AddNullNode(bench, options), Command::kNullNode}};
  for (const auto& [command, meaning] : commands) {
    command.WhenGiven([&options, meaning = meaning] { options.command = meaning; });
  }
  if (const std::optional<int> ended = line.Parse(argc, argv); ended.has_value()) {
    *exit_status = *ended;
    return std::nullopt;
  }
  return options;
}

}  // namespace tapedeck::bench
