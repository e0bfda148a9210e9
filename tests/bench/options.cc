#include "tests/bench/options.h"

#include <CLI/CLI.hpp>
#include <map>

namespace tapedeck::bench {
namespace {

using dataplane::TransferOp;
using services::session::Direction;

void AddCommon(CLI::App& command, Options& options) {
  command
      .add_option("--rails", options.rails,
                  "Addresses, one for each rail: over TCP, or KIND:ADDRESS")
      ->delimiter(',');
  command.add_option("--block-bytes", options.block_bytes, "Bytes per block")
      ->transform(CLI::AsSizeValue(false));
  command.add_flag("--json", options.json,
                   "Kept for scripts: the result is always one line of JSON");
}

void AddMembers(CLI::App& command, Options& options) {
  std::map<std::string, services::StoreKind> kinds;
  for (const auto& [kind, name] : services::kStoreNames) kinds.emplace(name, kind);
  command.add_option("--store", options.store, "Kind of store")
      ->transform(CLI::CheckedTransformer(kinds));
  command.add_option("--member", options.members, "Empty directory; repeat for more");
}

CLI::App* AddTransfer(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "transfer", "Record to and play from a LUN: memory, unless it has members");
  AddCommon(*command, options);
  AddMembers(*command, options);
  command->add_option("--seconds", options.seconds, "Time to move blocks, both ways together");
  command->add_option("--lun-bytes", options.lun_bytes, "Size of the LUN")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--slots", options.slots, "Slots of the ring");
  return command;
}

CLI::App* AddSession(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("session", "Time from opening a session to its first block");
  AddCommon(*command, options);
  command->add_option("--sessions", options.sessions, "How many");
  return command;
}

CLI::App* AddRails(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("rails", "The rails and the session alone: nothing is stored");
  AddCommon(*command, options);
  command->add_option("--op", options.op, "Transfer op")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, TransferOp>{{"READ", TransferOp::kRead},
                                                                    {"WRITE", TransferOp::kWrite},
                                                                    {"SEND", TransferOp::kSend}},
                                  CLI::ignore_case));
  command->add_option("--direction", options.direction, "Towards the node or from it")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Direction>{
          {"record", Direction::kRecord}, {"play", Direction::kPlayback}}));
  command->add_option("--blocks", options.blocks, "How many to move");
  command->add_option("--slots", options.slots, "Slots of the ring at each end");
  command->add_option("--crc", options.crc, "Make and check CRC32C: on or off")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, bool>{{"on", true}, {"off", false}}));
  command->add_option("--connections-per-rail", options.connections, "As of the worker");
  command->add_option("--hold", options.hold_s,
                      "Seconds a recording stays open, its blocks included");
  command->add_option("--node", options.node, "HOST:PORT of a null node; else one is started");
  return command;
}

CLI::App* AddCrc(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("crc", "CRC32C of blocks in memory, on one core");
  command->add_option("--block-bytes", options.block_bytes, "Bytes per block")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--blocks", options.blocks, "How many");
  return command;
}

CLI::App* AddStore(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("store", "A store alone: no network");
  AddMembers(*command, options);
  command->add_option("--block-bytes", options.block_bytes, "Bytes per block")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--blocks", options.blocks, "How many to write, then read");
  command->add_option("--slots", options.slots, "Slots of the ring, and of the sender");
  command->add_flag("--prewritten", options.prewritten,
                    "The LUN keeps a file of this length per member that was written before");
  command->add_option("--commit", options.commit, "What the sender waits for")
      ->transform(CLI::CheckedTransformer(std::map<std::string, dataplane::CommitLevel>{
          {"received", dataplane::CommitLevel::kReceived},
          {"written", dataplane::CommitLevel::kWritten},
          {"durable", dataplane::CommitLevel::kDurable}}));
  return command;
}

CLI::App* AddSharing(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("sharing", "8 recordings and 2 playbacks of a LUN, and a follower");
  AddMembers(*command, options);
  command->add_option("--seconds", options.seconds, "Of each measurement");
  command->add_option("--follow-memory", options.follow_bytes, "As of the storage node")
      ->transform(CLI::AsSizeValue(false));
  return command;
}

CLI::App* AddRestart(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "restart", "Start of a storage node: 1,000 recordings, one of 1 TiB left open");
  command->add_option("--directory", options.directory, "Empty; on a file system with sparse files")
      ->required();
  return command;
}

CLI::App* AddNullNode(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("null-node", "Serves `rails` until it is told to stop");
  command->add_option("--listen", options.listen, "HOST:PORT")->required();
  command->add_option("--rail", options.rail_specs, "NAME=KIND:ADDRESS, once for each")->required();
  return command;
}

}  // namespace

std::optional<Options> ParseOptions(int argc, char** argv, int* exit_status) {
  Options options;
  CLI::App app("Measures Tapedeck on this machine; tests/bench compares it with its peers.",
               "tapedeck-bench");
  app.require_subcommand(1);
  const std::map<CLI::App*, Command> commands = {{AddTransfer(app, options), Command::kTransfer},
                                                 {AddSession(app, options), Command::kSession},
                                                 {AddRails(app, options), Command::kRails},
                                                 {AddCrc(app, options), Command::kCrc},
                                                 {AddStore(app, options), Command::kStore},
                                                 {AddSharing(app, options), Command::kSharing},
                                                 {AddRestart(app, options), Command::kRestart},
                                                 {AddNullNode(app, options), Command::kNullNode}};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_status = app.exit(error);
    return std::nullopt;
  }
  options.command = commands.at(app.get_subcommands().front());
  return options;
}

}  // namespace tapedeck::bench
