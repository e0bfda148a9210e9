// What is left after a power cut: starts the storage node on it, plays everything there is and
// holds it against what had been acknowledged.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/node/node.h"
#include "tests/lab/log_writes/ledger.h"
#include "tests/lab/log_writes/sources.h"

namespace tapedeck::lab {

struct SurvivorCounts {
  uint64_t promised = 0;  // blocks
  uint64_t lost = 0;      // of those
  // What is worse: bytes that were never recorded given as good, damage that recovery let pass, a
  // node that does not start, a closed recording that is another one, a deleted one that is back.
  uint64_t wrong = 0;
};

// One thread. `sources` outlives it. It remembers over all states which file each recording is of.
class Survivors {
 public:
  using Complain = std::function<void(const std::string&)>;
  Survivors(const Sources& sources, Complain complain)
      : sources_(sources), complain_(std::move(complain)) {}

  // Nobody else has `state_dir`; afterwards nobody has it.
  SurvivorCounts Look(const std::string& state_dir, const Ledger& ledger);

 private:
  struct Played {
    services::Recording recording;
    std::set<uint64_t> good;
  };

  absl::Status PlayAll(const std::string& state_dir);
  absl::Status Play(storage_node::node::StorageNode& node, const services::Recording& recording);
  void CheckBytes(const std::string& recording, const dataplane::Block& block);
  void Compare(const std::string& recording, const Promise& promise);
  void CompareClosed(const Played& played, const Promise& promise);
  void CheckFiles(const std::string& state_dir);
  void Wrong(const std::string& what) {
    ++counts_.wrong;
    complain_(what);
  }

  const Sources& sources_;
  const Complain complain_;
  std::map<std::string, size_t> source_of_;
  std::map<size_t, std::string> recording_of_;
  SurvivorCounts counts_;                 // of this look
  std::map<std::string, Played> played_;  // of this look, by name
};

}  // namespace tapedeck::lab
