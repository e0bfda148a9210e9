// The command line of tapedeck-bench.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/transport/transport.h"
#include "services/model/seams/catalog.h"
#include "services/rpc/identity/tls/tls_files.h"
#include "services/session/protocol/messages.h"
#include "tests/bench/checks.h"

namespace tapedeck::bench {

enum class Command {
  kTransfer,
  kSession,
  kRails,
  kBare,
  kCrc,
  kStore,
  kSharing,
  kRestart,
  kCalls,
  kNullNode
};

struct Options {
  Command command = Command::kTransfer;
  std::vector<std::string> rails = {"127.0.0.1", "127.0.0.2"};  // ADDRESS or KIND:ADDRESS
  double seconds = 4;
  uint64_t block_bytes = 1 << 20;
  uint64_t lun_bytes = 2ull << 30;
  uint32_t slots = 128;
  int sessions = 50;
  int callers = 2;
  services::identity::TlsFiles tls;  // of the bench and of its node; none: plain text
  bool json = false;                 // the result always is
  dataplane::TransferOp op = dataplane::TransferOp::kRead;
  services::session::Direction direction = services::session::Direction::kRecord;
  uint64_t blocks = 500;
  Checks crc = Checks::kEach;
  uint64_t from_bytes = 0;  // of the bare streams; 0: memory that stays in a cache
  uint64_t into_bytes = 0;  // the same
  bool flight = true;       // the recorder of steps, at both ends
  bool rail_tls = false;    // of both ends
  std::string admin;        // of the node's admin port: HOST:PORT; none if empty
  std::string store = "direct";
  std::vector<std::string> members;  // directories, or what the kind of store has for them
  std::string ceph_conf;
  std::string directory;  // of the restart
  dataplane::CommitLevel commit = dataplane::CommitLevel::kDurable;
  uint32_t connections = 1;
  uint64_t follow_bytes = 1 << 30;      // of followers
  bool prewritten = false;              // data files
  double hold_s = 0;                    // keep the session open after its blocks
  std::string node;                     // HOST:PORT of a null node that runs already
  std::string listen;                   // of the null node
  std::vector<std::string> rail_specs;  // of the null node: NAME=KIND:ADDRESS
};

// Nothing if the program shall end now, with `*exit_status`.
std::optional<Options> ParseOptions(int argc, char** argv, int* exit_status);

}  // namespace tapedeck::bench
